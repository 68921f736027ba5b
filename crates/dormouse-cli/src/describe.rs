//! Events and states of an assistant in words, each on one line.

use dormouse_contracts::{ModelName, Outcome, ProviderId, Purpose, StoredEvent};
use dormouse_engine::{Activity, Event, State, Status, StopCause, StopReason, Verdict};
use dormouse_providers::Switch;

use crate::{grammar::counted, item::source_name};

/// That another model answers than before, in a sentence.
pub(crate) fn switch(switch: &Switch) -> String {
    let of = |(provider, model): &(ProviderId, ModelName)| match provider.as_str() == model.as_str()
    {
        true => provider.to_string(),
        false => format!("{provider}:{model}"),
    };
    let (from, to, cause) = (of(&switch.from), of(&switch.to), switch.cause);
    let what = match switch.purpose {
        Purpose::Answer => String::new(),
        other => format!(" ({other})"),
    };
    if switch.is_return() {
        format!("{to} {cause} and thinks again in place of {from}{what}.")
    } else {
        format!("{to} thinks in place of {from}, which {cause}{what}.")
    }
}

#[cfg(test)]
mod tests;

/// How much of a text is told.
const EXCERPT: usize = 160;

/// An event in words. One that this program cannot read is told as it stands.
pub(crate) fn event(stored: &StoredEvent) -> String {
    let what = match Event::decode(stored) {
        Ok(event) => decoded(&event),
        Err(error) => format!(
            "{error}: {}",
            excerpt(&String::from_utf8_lossy(&stored.payload))
        ),
    };
    format!(
        "{:>6}  {}  {:<24} {what}",
        stored.seq, stored.at, stored.kind
    )
}

fn decoded(event: &Event) -> String {
    match event {
        Event::Perceived(it) => {
            let attested = &it.perception.attested;
            format!(
                "{} by rule {}, trust {}: {} from {}: {}",
                it.classification.verdict,
                it.classification.rule,
                it.trust,
                source_name(&attested.source),
                attested.sender.name(),
                excerpt(it.perception.words.as_claimed())
            )
        }
        Event::TickStarted(it) => format!("tick {} on event {}", it.tick, it.trigger),
        Event::Replied(it) => {
            let calls: Vec<_> = it.calls.iter().map(|call| call.name.as_str()).collect();
            let said = if calls.is_empty() {
                "text".to_owned()
            } else {
                calls.join(", ")
            };
            format!(
                "{} in {:.0} ms, prompt of {} tokens: {said}",
                it.model, it.duration_ms, it.prompt_tokens
            )
        }
        Event::Misread(it) => excerpt(&it.note),
        Event::ModelFailed(it) => {
            let narrowed = it.narrowed.map(|narrowed| {
                let tokens = narrowed.tokens;
                format!(": tried again with at most {tokens} tokens")
            });
            let reason = it.reason.as_ref().map(|reason| format!(": {reason}"));
            format!(
                "{}{} after {} in {:.0} ms{}",
                it.kind,
                reason.unwrap_or_default(),
                counted(it.attempts, "attempt", "attempts"),
                it.duration_ms,
                narrowed.unwrap_or_default()
            )
        }
        Event::ToolAnswered(it) => {
            format!(
                "{} {}: {}",
                it.tool,
                ending(it.verdict),
                excerpt(&it.content)
            )
        }
        Event::Remembered(it) => format!(
            "from {}, trust {}: {}",
            it.from,
            it.trust,
            excerpt(&it.text)
        ),
        Event::Recollected(it) => match it.failure {
            Some(failure) => format!("nothing: {}", failure.told()),
            None => counted(it.items.len() as u64, "memory", "memories"),
        },
        Event::EntityChanged(it) => excerpt(&serde_json::to_string(&it.change).unwrap_or_default()),
        Event::EffectIntended(it) => {
            let arguments = serde_json::to_string(&it.arguments).unwrap_or_default();
            format!("{} {}", it.tool, excerpt(&arguments))
        }
        Event::EffectSettled(it) => match &it.outcome {
            Outcome::Done(_) => "done".to_owned(),
            Outcome::Rejected(rejection) => format!("rejected: {}", excerpt(&rejection.reason)),
            Outcome::Unknown => "unknown whether it happened".to_owned(),
        },
        Event::TickEnded(it) => match it.resume_at {
            Some(at) => format!("{}; goes on at {at}", it.reason.code()),
            None if it.reason == StopReason::LlmError => format!(
                "{}; the message is given up, the provider refused every prompt with it",
                it.reason.code()
            ),
            None => it.reason.code().to_owned(),
        },
        Event::EmergencyStopTriggered(it) => stop_cause(&it.cause),
        Event::EmergencyStopCleared(it) => format!("by {}", it.cleared_by),
    }
}

/// Why an assistant was stopped.
pub(crate) fn stop_cause(cause: &StopCause) -> String {
    match cause {
        StopCause::ConsecutiveErrors(count) => {
            format!("{} in a row", counted(*count, "error", "errors"))
        }
        StopCause::EndlessTurn(ticks) => format!(
            "one message took {} without coming to an end",
            counted(*ticks, "tick", "ticks")
        ),
        StopCause::FailureRate(tool) => format!("the tool {tool} failed in most of its last calls"),
        StopCause::Credentials => {
            "the provider refused the credentials: check the key, then clear the stop".to_owned()
        }
        _ => "a reason this version does not know".to_owned(),
    }
}

/// What an assistant is doing, in a word or two.
pub(crate) fn activity(activity: &Activity) -> String {
    match activity {
        Activity::Idle => "awake".to_owned(),
        Activity::Thinking => "thinking".to_owned(),
        Activity::Acting => "acting".to_owned(),
        Activity::Waiting(at) => format!("waiting until {at}"),
        Activity::Stalled => "waiting for the disk".to_owned(),
        Activity::Disabled => "switched off".to_owned(),
        Activity::Stopped(_) => "stopped".to_owned(),
        _ => "busy".to_owned(),
    }
}

/// How many messages wait for an answer, the one being worked on included.
pub(crate) fn waiting(state: &State) -> usize {
    state.inbox.len() + usize::from(state.turn.is_some())
}

/// The status on one line. `given_up` is how many messages were given up lately.
pub(crate) fn status(status: &Status, given_up: usize) -> String {
    let mut doing = activity(&status.activity);
    if let Activity::Stopped(cause) = &status.activity {
        doing = format!("stopped ({})", stop_cause(cause));
    }
    let mut text = format!(
        "{doing}; {} of {} tokens in its last prompt; {} waiting; {}; {}; {} answered and {} failed, {} tokens in and \
         {} out",
        status.prompt_tokens,
        status.max_context_tokens,
        status.waiting,
        counted(status.seq.0, "event", "events"),
        counted(status.memories, "memory", "memories"),
        counted(status.spent.replies, "model call", "model calls"),
        status.spent.failures,
        status.spent.prompt_tokens,
        status.spent.completion_tokens,
    );
    if given_up > 0 {
        let messages = counted(given_up as u64, "message", "messages");
        text += &format!("; {messages} given up, the provider refused every prompt with them");
    }
    text
}

fn ending(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "succeeded",
        Verdict::Failure => "failed",
        Verdict::Skipped => "was skipped",
    }
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => line.get(..end).unwrap_or_default().to_owned() + "…",
        None => line,
    }
}
