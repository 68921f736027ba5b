//! Telling what happens to the assistant: every event to a program, and trouble alone to people.

use std::sync::Arc;

use dormouse_engine::{Event, Recorded};
use tokio::sync::mpsc;

use crate::{describe, dialects::Learning, grammar::counted, item::Item, screen::Screen};

/// Whom events are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// A program, which is told all of them as they are.
    Program,
    /// People, who are told in a sentence what keeps the assistant from answering.
    People {
        /// The assistant's name.
        name: String,
        /// Who serves its model, and where.
        server: String,
        /// How to let it go on after an emergency stop, when the program has ended.
        clear: String,
    },
}

/// Tells events until there are no more.
pub(super) async fn tell(
    mut events: mpsc::Receiver<Arc<Recorded>>,
    audience: Audience,
    mut learning: Option<Learning>,
    screen: Screen,
) {
    let mut failed = None;
    notices(learning.as_mut().map(Learning::begun), &screen).await;
    while let Some(recorded) = events.recv().await {
        match &audience {
            Audience::Program => screen.show(Item::Event((&*recorded).into())).await,
            people => {
                if let Some(text) = trouble(&recorded.event, &mut failed, people) {
                    screen.show(Item::Notice { text }).await;
                }
            }
        }
        if let (Some(learning), Event::Replied(replied)) = (&mut learning, &recorded.event) {
            notices(Some(learning.heard(replied, recorded.at)), &screen).await;
        }
    }
    notices(learning.as_mut().map(Learning::ended), &screen).await;
}

/// What was learnt, or could not be kept, is told to everybody.
async fn notices(texts: Option<Vec<String>>, screen: &Screen) {
    for text in texts.into_iter().flatten() {
        screen.show(Item::Notice { text }).await;
    }
}

/// What people are told about an event. A failure is told when its tick is over, when it is known what comes of it.
fn trouble(event: &Event, failed: &mut Option<String>, audience: &Audience) -> Option<String> {
    let Audience::People {
        name,
        server,
        clear,
    } = audience
    else {
        return None;
    };
    match event {
        // It is asked again at once, with a shorter prompt.
        Event::ModelFailed(it) if it.narrowed.is_some() => None,
        Event::ModelFailed(it) => {
            let attempts = counted(it.attempts, "attempt", "attempts");
            let reason = it.reason.as_ref().map(|reason| format!(": {reason}"));
            *failed = Some(format!(
                "{name}'s model gave no answer: {}{} ({server}; {attempts}).",
                it.kind,
                reason.unwrap_or_default()
            ));
            None
        }
        Event::TickEnded(ended) => {
            let what = failed.take()?;
            Some(match ended.resume_at {
                Some(_) => format!("{what} The message is kept."),
                None => format!("{what} The message is given up."),
            })
        }
        Event::EmergencyStopTriggered(it) => Some(format!(
            "{name} is stopped: {}. Messages are kept; /clear lets it go on (when this program has ended, `{clear}`).",
            describe::stop_cause(&it.cause)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{ModelErrorKind, Timestamp};
    use dormouse_engine::{
        EmergencyStopTriggered, ModelFailed, Narrowed, StopCause, StopReason, TickEnded,
    };

    use super::*;

    fn people() -> Audience {
        Audience::People {
            name: "Dormouse".to_owned(),
            server: "local at http://127.0.0.1:1/v1".to_owned(),
            clear: "dormouse emergency clear --data tea".to_owned(),
        }
    }

    fn told(events: &[Event]) -> Vec<String> {
        let mut failed = None;
        let people = people();
        events
            .iter()
            .filter_map(|event| trouble(event, &mut failed, &people))
            .collect()
    }

    fn failed_tick(resume_at: Option<Timestamp>) -> [Event; 2] {
        [
            Event::ModelFailed(ModelFailed {
                kind: ModelErrorKind::Unavailable,
                attempts: 4,
                duration_ms: 1.5,
                reason: None,
                narrowed: None,
            }),
            Event::TickEnded(TickEnded {
                reason: StopReason::LlmError,
                resume_at,
            }),
        ]
    }

    #[test]
    fn a_prompt_that_is_made_shorter_is_no_trouble() {
        let events = [
            Event::ModelFailed(ModelFailed {
                kind: ModelErrorKind::ContextExceeded,
                attempts: 1,
                duration_ms: 1.5,
                reason: None,
                narrowed: Some(Narrowed {
                    tokens: 900,
                    reply: None,
                    window: 4_096,
                }),
            }),
            Event::TickEnded(TickEnded {
                reason: StopReason::TerminalTool,
                resume_at: None,
            }),
        ];
        assert_eq!(told(&events), Vec::<String>::new());
    }

    #[test]
    fn a_failed_tick_is_one_line_with_reason_and_server() {
        assert_eq!(
            told(&failed_tick(Some(Timestamp::EPOCH))),
            [
                "Dormouse's model gave no answer: the provider is unavailable (local at http://127.0.0.1:1/v1; 4 \
                 attempts). The message is kept."
            ]
        );
        assert!(told(&failed_tick(None))[0].ends_with("The message is given up."));
        let mut events = failed_tick(None);
        if let Event::ModelFailed(failed) = &mut events[0] {
            failed.reason = Some("the server could not be reached".to_owned());
        }
        assert!(
            told(&events)[0].contains("is unavailable: the server could not be reached (local")
        );
    }

    #[test]
    fn a_stop_is_one_line_with_cause_and_way_out_and_a_good_tick_is_none() {
        let stop = Event::EmergencyStopTriggered(EmergencyStopTriggered {
            cause: StopCause::ConsecutiveErrors(5),
        });
        assert_eq!(
            told(&[stop]),
            [
                "Dormouse is stopped: 5 errors in a row. Messages are kept; /clear lets it go on (when this program \
                 has ended, `dormouse emergency clear --data tea`)."
            ]
        );
        let ended = Event::TickEnded(TickEnded {
            reason: StopReason::TerminalTool,
            resume_at: None,
        });
        assert!(told(&[ended]).is_empty());
    }
}
