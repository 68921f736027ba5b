//! Prints what happens to the assistant: every event for programs, only failures for people.

use dormouse_contracts::{Author, Seq};
use dormouse_engine::{Activity, Event, SelfNoteKind, WakeCause};
use dormouse_host::Tail;
use tokio::{select, sync::watch};

use super::memory_notices::MemoryNotices;
use crate::{describe, exit::Report, grammar::counted, item::Item, screen::Screen};

/// Who reads the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Addressee {
    /// A program: every event is printed as it is.
    Program,
    /// People: a sentence says what keeps the assistant from answering.
    People {
        /// The assistant's name.
        name: String,
        /// Who serves its model, and where.
        server: String,
        /// The command that clears an emergency stop after the program has ended.
        clear: String,
    },
}

/// Prints events until there are no more, or until the one that `last` names. A slow reader does not delay the
/// assistant.
pub(super) async fn print_events(
    mut events: Tail,
    addressee: Addressee,
    mut memory: MemoryNotices,
    screen: Screen,
    mut last: watch::Receiver<Option<Seq>>,
) {
    let mut before = Before::default();
    loop {
        let position = events.position();
        let next = select! {
            biased;
            _last = reached(&mut last, position) => return,
            next = events.next() => next,
        };
        let recorded = match next {
            Ok(Some(recorded)) => recorded,
            Ok(None) => return,
            Err(error) => {
                let text = format!("Nothing more is shown of the log: {}.", Report(&error));
                return screen.show(Item::Notice { text }).await;
            }
        };
        match &addressee {
            Addressee::Program => screen.show(Item::Event((&recorded).into())).await,
            people => {
                if let Some(text) = failure_notice(&recorded.event, &mut before, people) {
                    screen.show(Item::Notice { text }).await;
                }
            }
        }
        if let Some(text) = memory.after(&recorded.event).await {
            screen.show(Item::Notice { text }).await;
        }
    }
}

/// Waits until `position` is the last event to print, or one after it.
async fn reached(last: &mut watch::Receiver<Option<Seq>>, position: Seq) {
    let is_last = |last: &Option<Seq>| last.is_some_and(|last| last <= position);
    if last.wait_for(is_last).await.is_err() {
        std::future::pending().await
    }
}

/// What has to be remembered of earlier events.
#[derive(Debug, Default)]
struct Before {
    /// How the model failed in the tick under way.
    failed: Option<String>,
    /// The notice about a world that cannot be reached. The same notice is not repeated until the world is back.
    unreached: Option<String>,
}

/// The notice for people about an event. A failure is printed at the end of its tick, when its consequence is known.
fn failure_notice(event: &Event, before: &mut Before, addressee: &Addressee) -> Option<String> {
    let Addressee::People {
        name,
        server,
        clear,
    } = addressee
    else {
        return None;
    };
    match event {
        // The model is asked again at once, with a shorter prompt.
        Event::ModelFailed(it) if it.context_limit.is_some() => None,
        Event::ModelFailed(it) => {
            let attempts = counted(it.attempts, "attempt", "attempts");
            let reason = it.reason.as_ref().map(|reason| format!(": {reason}"));
            let pause = describe::paused(it).map(|pause| {
                let pause = describe::pause(&pause);
                format!(" It is not called again {pause}; /retry calls it at once.")
            });
            before.failed = Some(format!(
                "{name}'s model gave no answer: {}{} ({server}; {attempts}).{}",
                it.kind,
                reason.unwrap_or_default(),
                pause.unwrap_or_default()
            ));
            None
        }
        Event::ParseFailed(it) => Some(format!(
            "The reply of {name}'s model could not be read. The model is called again with this note: {}",
            it.note
        )),
        Event::TickEnded(ended) => {
            let what = before.failed.take()?;
            ended
                .resume_at
                .map(|_| format!("{what} The message is kept."))
        }
        Event::Unanswered(it) => {
            let what = before.failed.take().map(|what| format!("{what} "));
            let regret = if it.calls.is_empty() {
                "the sender hears nothing"
            } else {
                "the sender is informed"
            };
            Some(format!(
                "{}{name} has no answer to the message of {} (event {}): {}; {regret}.",
                what.unwrap_or_default(),
                it.from,
                it.trigger,
                describe::unanswered(it.cause)
            ))
        }
        Event::WorldFailed(it) => {
            let what = describe::world_failure(it.reason.as_deref());
            let text = format!(
                "{name} waits: {what}. {name} does what it was about to do when the world is back."
            );
            let said = before.unreached.replace(text.clone());
            (said.as_ref() != Some(&text)).then_some(text)
        }
        Event::EffectSettled(_) => {
            before.unreached.take()?;
            Some(format!("The world is back, and {name} goes on."))
        }
        Event::ApprovalRequested(it) => Some(format!(
            "{name} wants to do what a person has to confirm: {}. `/approvals` lists it.",
            it.tool
        )),
        Event::EmergencyStopTriggered(it) => Some(format!(
            "{name} is stopped: {}. Messages are kept; /clear lets it go on (when this program has ended, `{clear}`).",
            describe::stop_reason(&it.cause, it.reason.as_deref())
        )),
        // If an operator lets it sleep or wakes it, the command itself reports that.
        Event::FellAsleep(it) if !matches!(it.author, Author::Operator(_)) => Some(format!(
            "{name} falls asleep. Somebody who talks to it wakes it."
        )),
        Event::WokeUp(it) if !matches!(it.cause, WakeCause::Operator(_)) => {
            Some(format!("{name} wakes."))
        }
        Event::SelfNoted(it)
            if it.kind == SelfNoteKind::Guideline && matches!(it.author, Author::Tool(_)) =>
        {
            // The words are not printed, because they may come from what somebody said in private.
            let id = it.id;
            Some(format!(
                "{name} set itself guideline {id}. `dormouse note list` shows it, and `dormouse note drop {id}` takes it back."
            ))
        }
        _ => None,
    }
}

/// The notice when the log can no longer be written, and when it can be written again.
pub(super) fn log_stall(activity: &Activity, name: &str, was_stalled: bool) -> Option<String> {
    match (activity, was_stalled) {
        (Activity::Stalled { cause }, false) => Some(format!(
            "{name} waits until its log can be written: {cause}. Messages are kept, and {name} goes on by itself then."
        )),
        (Activity::Stalled { .. }, true) | (_, false) => None,
        (_, true) => Some(format!("The log can be written again, and {name} goes on.")),
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{CallId, EffectKey, ModelErrorKind, Outcome, Seq, Timestamp};
    use dormouse_engine::{
        Call, ContextLimit, EffectSettled, EmergencyStopTriggered, ModelFailed, StopCause,
        StopReason, TickEnded, Unanswered, UnansweredCause, WorldFailed,
    };

    use super::*;

    fn people() -> Addressee {
        Addressee::People {
            name: "Dormouse".to_owned(),
            server: "local at http://127.0.0.1:1/v1".to_owned(),
            clear: "dormouse emergency clear --data tea".to_owned(),
        }
    }

    fn notices_of(events: &[Event]) -> Vec<String> {
        let mut before = Before::default();
        let people = people();
        events
            .iter()
            .filter_map(|event| failure_notice(event, &mut before, &people))
            .collect()
    }

    fn failed_tick(resume_at: Option<Timestamp>) -> [Event; 2] {
        [
            Event::ModelFailed(ModelFailed {
                kind: ModelErrorKind::Unavailable,
                attempts: 4,
                duration_ms: 1.5,
                reason: None,
                service: None,
                paused_until: None,
                context_limit: None,
            }),
            Event::TickEnded(TickEnded::new(StopReason::LlmError, resume_at)),
        ]
    }

    #[test]
    fn a_shortened_prompt_is_not_reported() {
        let events = [
            Event::ModelFailed(ModelFailed {
                kind: ModelErrorKind::ContextExceeded,
                attempts: 1,
                duration_ms: 1.5,
                reason: None,
                service: None,
                paused_until: None,
                context_limit: Some(ContextLimit {
                    tokens: 900,
                    reply: None,
                    window: 4_096,
                }),
            }),
            Event::TickEnded(TickEnded::new(StopReason::TerminalTool, None)),
        ];
        assert_eq!(notices_of(&events), Vec::<String>::new());
    }

    #[test]
    fn a_failed_tick_is_one_line_with_reason_and_server() {
        assert_eq!(
            notices_of(&failed_tick(Some(Timestamp::EPOCH))),
            [
                "Dormouse's model gave no answer: the provider is unavailable (local at http://127.0.0.1:1/v1; 4 \
                 attempts). The message is kept."
            ]
        );
        let mut events = failed_tick(Some(Timestamp::EPOCH));
        if let Event::ModelFailed(failed) = &mut events[0] {
            failed.reason = Some("the server could not be reached".to_owned());
        }
        assert!(
            notices_of(&events)[0]
                .contains("is unavailable: the server could not be reached (local")
        );
    }

    #[test]
    fn a_message_without_an_answer_is_one_line_with_sender_place_and_cause() {
        let unanswered = |calls| {
            Event::Unanswered(Unanswered {
                trigger: Seq(7),
                from: "Alice".to_owned(),
                cause: UnansweredCause::NoMoreSteps,
                calls,
                tokens: 1,
            })
        };
        let call = Call {
            id: CallId::try_new("call_1_0").unwrap(),
            name: "say".to_owned(),
            arguments: "{}".to_owned(),
            continues: false,
        };
        let why = "Dormouse has no answer to the message of Alice (event 7): the model used up its steps without \
                   giving an answer";
        assert_eq!(
            notices_of(&[unanswered(vec![call]), unanswered(Vec::new())]),
            [
                format!("{why}; the sender is informed."),
                format!("{why}; the sender hears nothing.")
            ]
        );
    }

    #[test]
    fn a_world_out_of_reach_is_one_line_with_the_cause_and_one_when_it_is_back() {
        let failed = |reason: &str| {
            Event::WorldFailed(WorldFailed {
                silent: false,
                call: CallId::try_new("call_1_0").unwrap(),
                reason: Some(reason.to_owned()),
            })
        };
        let settled = || {
            Event::EffectSettled(EffectSettled {
                key: EffectKey::try_new("dormouse/1/1").unwrap(),
                outcome: Outcome::Unknown,
                content: "{}".to_owned(),
                tokens: 1,
            })
        };
        let full = "No space left on device";
        let events = [failed(full), failed(full), settled(), settled()];
        assert_eq!(
            notices_of(&events),
            [
                "Dormouse waits: the world could not be reached: No space left on device. Dormouse does what it was \
                 about to do when the world is back.",
                "The world is back, and Dormouse goes on."
            ]
        );
    }

    #[test]
    fn a_stop_is_one_line_with_cause_and_remedy_and_a_good_tick_prints_nothing() {
        let stop = Event::EmergencyStopTriggered(EmergencyStopTriggered {
            cause: StopCause::ConsecutiveErrors(5),
            reason: None,
        });
        assert_eq!(
            notices_of(&[stop]),
            [
                "Dormouse is stopped: 5 errors in a row. Messages are kept; /clear lets it go on (when this program \
                 has ended, `dormouse emergency clear --data tea`)."
            ]
        );
        let ended = Event::TickEnded(TickEnded::new(StopReason::TerminalTool, None));
        assert!(notices_of(&[ended]).is_empty());
    }
}
