//! The turns that a task and its result call for.

use dormouse_contracts::{AssistantId, AssistantTask, Audience, Seq, TaskReport, Timestamp, Trust};
use dormouse_text::{beginning, escape_template_tokens, one_line};

use super::{GivenTask, TakenTask};
use crate::{
    config::Privacy,
    event::{DelegatedWords, TaskOutcome},
    execution::Insulation,
    state::trigger::{Occasion, OccasionKind},
};

/// The maximum number of characters of a task that are repeated with its result.
const TASK_SHOWN: usize = 500;

fn shown(text: &str) -> String {
    one_line(&escape_template_tokens(text))
}

/// Who may learn the words of another assistant here: where everything may be told to everybody, nobody knows who perceived them.
fn audience(words: &DelegatedWords, privacy: Privacy) -> Option<Audience> {
    let none = (privacy == Privacy::Kept).then(Audience::nobody);
    words.audience.clone().or(none)
}

/// The task as data, for a program that reads no prompt.
fn data(other: Option<&AssistantId>, task: &str, report: Option<TaskReport>) -> AssistantTask {
    AssistantTask {
        other: other.cloned(),
        task: shown(task),
        report,
    }
}

/// Who may learn something that is made from both.
fn of_both(one: Option<Audience>, other: Option<Audience>) -> Option<Audience> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(&other)),
        (one, other) => one.or(other),
    }
}

impl TakenTask {
    /// The turn that the task calls for.
    pub(super) fn occasion(&self, privacy: Privacy) -> Occasion {
        let task = &self.task;
        let from = self.from().map_or_else(String::new, ToString::to_string);
        let how = match task.insulation {
            Insulation::None => {
                "You work closely with that assistant; what it knows about this is below."
            }
            Insulation::Orchestrator => {
                "You are asked as a specialist. You are told nothing but the task, and need nothing else."
            }
            Insulation::Delegate => "Use your own expertise, and do it in your own way.",
        };
        let summary = match task.summarize {
            true => " The result has to be a summary of a few sentences.",
            false => "",
        };
        let text = format!(
            "(The assistant {from} gives you a task. {how} When it is done, or if it cannot be done, call answer_task: what you \
             say otherwise does not reach that assistant. It waits until {}.{summary} The task: {})",
            task.expires_at,
            shown(&task.task.text),
        );
        let briefing = task.briefing.as_ref();
        let audience = of_both(
            audience(&task.task, privacy),
            briefing.and_then(|briefing| audience(briefing, privacy)),
        );
        occasion(
            (self.seq, self.at),
            OccasionKind::DelegatedTask,
            (text, data(self.from(), &task.task.text, None)),
            (task.task.trust, audience),
        )
    }
}

impl GivenTask {
    /// The turn that the end of the task calls for.
    pub(super) fn result_occasion(
        &self,
        event: (Seq, Timestamp),
        outcome: &TaskOutcome,
        privacy: Privacy,
    ) -> Occasion {
        let given = &self.delegated.task.task;
        let task = shown(beginning(&given.text, TASK_SHOWN));
        let who = match &self.delegate {
            Some(delegate) => format!("the assistant {delegate}"),
            None => "another assistant".to_owned(),
        };
        let (text, of_result) = match outcome {
            TaskOutcome::Done(result) => {
                let text = format!(
                    "(The task that you gave to {who} is done. Go on with what you needed it for; nobody else has heard of \
                     the result yet. The task: {task} The result: {})",
                    shown(&result.text)
                );
                (text, (result.trust, audience(result, privacy)))
            }
            TaskOutcome::Failed(failure) => {
                let text = format!(
                    "(The task that you gave to {who} was not done: {failure} [{}]. Go on without it; nobody else has \
                     heard of this yet. The task: {task})",
                    failure.code()
                );
                (text, (Trust::FULL, None))
            }
        };
        let (trust, of_result) = of_result;
        let audience = of_both(audience(given, privacy), of_result);
        let trust = trust.lowest(given.trust);
        let report = match outcome {
            TaskOutcome::Done(words) => TaskReport::Done(shown(&words.text)),
            TaskOutcome::Failed(failure) => TaskReport::NotDone(failure.to_string()),
        };
        let data = data(
            self.delegate.as_ref(),
            beginning(&given.text, TASK_SHOWN),
            Some(report),
        );
        occasion(
            event,
            OccasionKind::DelegatedResult,
            (text, data),
            (trust, audience),
        )
    }
}

fn occasion(
    (seq, at): (Seq, Timestamp),
    kind: OccasionKind,
    (text, task): (String, AssistantTask),
    (trust, audience): (Trust, Option<Audience>),
) -> Occasion {
    Occasion {
        seq,
        at,
        kind,
        // No tokenizer makes more tokens than bytes.
        tokens: u32::try_from(text.len()).unwrap_or(u32::MAX),
        text,
        trust,
        audience,
        promise: None,
        goal: None,
        task: Some(Box::new(task)),
        name: String::new(),
    }
}
