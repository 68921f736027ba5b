//! Says what an earlier answer was based on: the message, the calls, and their results.

use std::collections::HashSet;

use dormouse_contracts::{EarlierTurn, TurnCall, TurnContext, TurnTrigger};

use crate::{
    done::Outcome,
    english::{
        said::Topic,
        why::{ACTS, CAUSING, EMPTY, JOINING, KNOWING, LEADING, OPENING, PLAIN, REASONS, SAYING},
    },
    event::PendingEvent,
    intent::{Intent, recognise},
    memories,
    phrasing::{Voice, plain, quote, tame},
    turn::said,
    words::{Word, words},
};

/// Whether these words ask for the reason of something that the listener said or did.
pub(crate) fn asks_why(words: &[Word]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    asks_for_the_cause(&texts) || asks_for_the_basis(&texts)
}

/// "why did you go", "how come you said that", "I do not see why you are so sure", "what made you say that".
fn asks_for_the_cause(texts: &[&str]) -> bool {
    let why = texts.iter().position(|word| *word == "why");
    let how_come = texts.windows(2).position(|pair| pair == ["how", "come"]);
    let what = (texts.first() == Some(&"what")).then_some(0);
    let behind = |at: usize| texts.get(at..).unwrap_or_default();
    let is_plain = |rest: &[&str]| {
        rest.iter()
            .all(|word| PLAIN.contains(word) || SAYING.contains(word))
    };
    // "I know why you did it" tells, and asks nothing.
    let knows = texts.starts_with(&["i", "know"]) || texts.starts_with(&["i", "see"]);
    let why = why.filter(|_| !knows);
    let asked = why.map(|at| at + 1).or(how_come.map(|at| at + 2));
    if let Some(at) = asked {
        let lead = texts.get(..at - 1).unwrap_or_default();
        if !lead
            .iter()
            .all(|word| LEADING.contains(word) || word == &"how")
        {
            return false;
        }
        let rest = behind(at);
        return match rest {
            ["did" | "have" | "had" | "were", "you", ..] => true,
            ["do" | "would" | "are", "you", verb, ..] => SAYING.contains(verb),
            ["you", ..] => true,
            // "Why not?", "And why is that?"
            _ => rest.len() <= 4 && at <= 3 && is_plain(rest),
        };
    }
    what.is_some_and(|_| match texts {
        [_, verb, "you", ..] => CAUSING.contains(verb),
        _ => false,
    })
}

/// "On what basis?", "How did you come to that?", "Who told you about the fair?"
fn asks_for_the_basis(texts: &[&str]) -> bool {
    let known = |word: &str, from: &[&str]| {
        let goes_with = KNOWING.iter().find(|(asks, _)| from.contains(asks));
        goes_with.is_some_and(|(_, words)| words.contains(&word))
    };
    // What a question is about follows the words that ask: "how do you know that the shop is shut".
    let ends =
        (1..=texts.len()).filter(|end| texts.get(*end).is_none_or(|word| JOINING.contains(word)));
    ends.filter_map(|end| texts.get(..end)).any(|head| {
        let of_you = head.iter().any(|word| ["you", "your"].contains(word));
        let gives_reason = head.iter().any(|word| REASONS.contains(word));
        let knows = head.iter().any(|word| known(word, head))
            && (of_you || head.iter().any(|word| ["said", "says"].contains(word)))
            && !["what", "i"].iter().any(|word| head.contains(word));
        let is_plain = head.iter().all(|word| {
            PLAIN.contains(word)
                || SAYING.contains(word)
                || REASONS.contains(word)
                || KNOWING.iter().any(|(_, words)| words.contains(word))
        });
        let is_whole = head.len() == texts.len();
        let opens = |first: &&str| OPENING.contains(first) || REASONS.contains(first);
        let is_opened = head.first().is_some_and(opens);
        // "Have you any proof that he took it?" But "the reason that Bob left" is only a part of a sentence.
        is_plain && ((gives_reason && is_opened && (is_whole || of_you)) || knows)
    })
}

/// The earlier turn that a question is about: the latest of those that share most of its words.
fn meant<'a>(
    question: &str,
    context: &'a TurnContext,
    voice: &Voice<'_>,
) -> Option<(usize, &'a EarlierTurn)> {
    let asked = subject(question, voice);
    let explained = context
        .earlier
        .iter()
        .filter(|turn| explanation(turn, voice).is_some());
    // Of equal ones, the last is taken.
    explained
        .map(|turn| (asked.intersection(&words_of(turn)).count(), turn))
        .max_by_key(|(shared, _)| *shared)
}

/// The words of a question that say what it is about.
fn subject(question: &str, voice: &Voice<'_>) -> HashSet<String> {
    // In their full spelling, so that "don't" leaves no word behind.
    let question: Vec<String> = words(question).into_iter().map(|word| word.text).collect();
    let mut asked = memories::content_words(&question.join(" "));
    let own = memories::content_words(&voice.character.name);
    let empty = [EMPTY, SAYING, REASONS, PLAIN, CAUSING].concat();
    let empty = memories::content_words(&empty.join(" "));
    asked.retain(|word| !empty.contains(word) && !own.contains(word));
    asked
}

/// What was heard and said in a turn.
fn words_of(turn: &EarlierTurn) -> HashSet<String> {
    let heard = match &turn.trigger {
        TurnTrigger::Message(message) => message.words.as_claimed().to_owned(),
        TurnTrigger::Due(due) => format!("remind reminded {}", due.description),
        _ => String::new(),
    };
    let calls = turn.steps.iter().flat_map(|step| &step.calls);
    // A call is named by its verb: "move", "store".
    let all = calls.flat_map(|call| [said(call).unwrap_or_default(), call.tool.replace('_', " ")]);
    let said: Vec<String> = all.chain([heard]).collect();
    memories::content_words(&said.join(" "))
}

/// Whether nothing that was said lately is about the subject of this question. Then only the memory can answer it.
pub(crate) fn is_about_something_else(
    question: &str,
    context: &TurnContext,
    voice: &Voice<'_>,
) -> bool {
    let acts = memories::content_words(&ACTS.join(" "));
    let names_a_subject = subject(question, voice)
        .iter()
        .any(|word| !acts.contains(word));
    let shared = meant(question, context, voice).map_or(0, |(shared, _)| shared);
    names_a_subject && shared == 0
}

/// Explains the words of the assistant that the question is about. Earlier explanations are skipped.
pub(crate) fn explain(question: &str, context: &TurnContext, voice: &Voice<'_>) -> String {
    let explained = meant(question, context, voice).and_then(|(_, turn)| explanation(turn, voice));
    explained.unwrap_or_else(|| voice.say(Topic::NoReason, ""))
}

fn explanation(turn: &EarlierTurn, voice: &Voice<'_>) -> Option<String> {
    let calls = || turn.steps.iter().flat_map(|step| &step.calls);
    let has_text = turn.steps.iter().any(|step| !step.text.trim().is_empty());
    if calls().find_map(said).is_none() && !has_text {
        return None;
    }
    match &turn.trigger {
        TurnTrigger::Due(due) => Some(format!(
            "Because I had promised it to {}, and it was due at {}: {}",
            who(&due.name, voice),
            due.due_at,
            quote(&due.description),
        )),
        TurnTrigger::Message(message) => {
            let event = PendingEvent::from(&**message);
            let intent = recognise(&event.words, &[&voice.character.name]);
            if matches!(intent, Intent::Why(_)) {
                return None;
            }
            let who = who(&event.name, voice);
            let reason = reason(&intent, calls());
            Some(format!(
                "Because {who} said {}. {reason}",
                quote(&event.words)
            ))
        }
        _ => None,
    }
}

/// A person, as they are named to the one who asks.
fn who(name: &str, voice: &Voice<'_>) -> String {
    match plain(name) {
        name if name == voice.name => "you".to_owned(),
        name => name,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_for_a_reason_is_known_by_its_structure() {
        for question in [
            "On what basis?",
            "How did you come to that?",
            "What led you to say that?",
            "Your source?",
            "What are you basing this on?",
            "I don't get why you said that",
            "Why did you remind me?",
            "why did you say that the kettle is blue?",
            "who told you about the kettle?",
            "How do you know that the kettle is blue?",
            "why?",
            "and why is that?",
            "why are you telling me this",
            "Do you have any proof of that?",
            "how did you figure that out?",
            "Why should I believe that?",
            "tell me why",
            "Can you prove it?",
        ] {
            assert!(asks_why(&words(question)), "{question}");
        }
        for question in [
            "why did Bob leave?",
            "why is the kettle blue?",
            "why don't you go to the garden?",
            "why do you like tea?",
            "what is the source of the river?",
            "what is the reason for the fair?",
            "what do you know about the mill?",
            "what can you tell me about the ferry?",
            "how do you know Bob?",
            "how did you get here?",
            "how do you work?",
            "where did you come from?",
            "who told Bob about the fair?",
            "what made Bob leave?",
            "I will tell you why Bob left",
            "The reason is the rain.",
            "reason, and more",
            "Bob asked why you left",
            "Carol told me why you said it",
            "The reason you said that is clear",
            "No evidence for that",
            "I know why you did it",
            "nobody knows why",
            "who is there?",
        ] {
            assert!(!asks_why(&words(question)), "{question}");
        }
    }
}
