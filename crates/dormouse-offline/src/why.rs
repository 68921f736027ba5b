//! Says what an earlier answer was based on: the message, the calls, and their results.

use dormouse_contracts::{EarlierTurn, TurnCall, TurnContext, TurnTrigger};

use crate::{
    done::Outcome,
    english::said::Topic,
    event::PendingEvent,
    intent::{Intent, recognise},
    memories,
    phrasing::{Voice, plain, quote, tame},
    turn::said,
};

/// Explains the last words of the assistant. Earlier explanations are skipped.
pub(crate) fn explain(context: &TurnContext, voice: &Voice<'_>) -> String {
    let earlier = context.earlier.iter().rev();
    let mut explained = earlier.filter_map(|turn| explanation(turn, voice));
    explained
        .next()
        .unwrap_or_else(|| voice.say(Topic::NoReason, ""))
}

fn explanation(turn: &EarlierTurn, voice: &Voice<'_>) -> Option<String> {
    let calls = || turn.steps.iter().flat_map(|step| &step.calls);
    let has_text = turn.steps.iter().any(|step| !step.text.trim().is_empty());
    if calls().find_map(said).is_none() && !has_text {
        return None;
    }
    match &turn.trigger {
        TurnTrigger::Due(due) => Some(format!(
            "Because {} had asked me to: it was due at {}.",
            plain(&due.name),
            due.due_at
        )),
        TurnTrigger::Message(message) => {
            let event = PendingEvent::from(&**message);
            let intent = recognise(&event.words, &[&voice.character.name]);
            if intent == Intent::Why {
                return None;
            }
            let who = match plain(&event.name) {
                name if name == voice.name => "you".to_owned(),
                name => name,
            };
            let reason = reason(&intent, calls());
            Some(format!(
                "Because {who} said {}. {reason}",
                quote(&event.words)
            ))
        }
        _ => None,
    }
}

/// What the answer was made from, beyond the message.
fn reason<'a>(intent: &Intent, calls: impl Iterator<Item = &'a TurnCall>) -> String {
    let mut made = calls.filter(|call| said(call).is_none() && call.tool != "noop");
    let Some(call) = made.next() else {
        return match intent {
            Intent::Unknown => "I found no rule for that.".to_owned(),
            _ => "I went by that alone.".to_owned(),
        };
    };
    let outcome = Outcome::of(call);
    match (call.tool.as_str(), intent, outcome) {
        ("recall_memories", Intent::Ask(question), Outcome::Success(result)) => {
            match memories::basis(question, &result) {
                Some(basis) => format!("I looked in my memory: {basis}"),
                None => "I looked in my memory, and found nothing that I could tell.".to_owned(),
            }
        }
        ("store_memory", _, Outcome::Success(result)) => {
            let trust = result.get("trust").and_then(serde_json::Value::as_f64);
            let trust = trust.map(|trust| format!(", with trust {trust:.2}"));
            format!("I stored it{}.", trust.unwrap_or_default())
        }
        ("add_pending_action", _, Outcome::Success(_)) => "I noted it as a promise.".to_owned(),
        ("inspect_location", _, Outcome::Success(_)) => "I looked around first.".to_owned(),
        ("move", _, Outcome::Success(_)) => "I went there first.".to_owned(),
        (tool, _, Outcome::Failure(reason)) => {
            format!("I tried {}, and it failed: {}", tame(tool), quote(&reason))
        }
        (tool, _, Outcome::Unknown) => {
            format!(
                "I tried {}, and do not know whether it happened.",
                tame(tool)
            )
        }
        (tool, _, Outcome::Success(_)) => format!("I used {} first.", tame(tool)),
    }
}
