//! The words of tasks of assistants, which are in two logs under one key.

use std::collections::HashSet;

use dormouse_contracts::{EffectKey, Origin, Seq, Sources};

use crate::event::{DelegatedTask, Event, TaskOutcome};

/// A part of a task that has words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Task,
    Briefing,
    Result,
}

/// Words of a task in an event.
pub(super) struct TaskWords<'e> {
    key: &'e EffectKey,
    part: Part,
    /// Where they are.
    pub(super) origin: Origin,
    /// Empty if the task was not done.
    pub(super) text: &'e str,
    /// Their sources in this log.
    pub(super) sources: Sources,
    /// Whether they were made in the turn in which the event is.
    pub(super) is_own: bool,
}

impl<'e> TaskWords<'e> {
    fn new(key: &'e EffectKey, part: Part, origin: Origin, text: &'e str) -> Self {
        Self {
            key,
            part,
            origin,
            text,
            sources: Sources::default(),
            is_own: false,
        }
    }

    fn of_task(seq: Seq, task: &'e DelegatedTask) -> Self {
        Self::new(&task.key, Part::Task, Origin::event(seq), &task.task.text)
    }

    fn of_briefing(seq: Seq, task: &'e DelegatedTask) -> Option<Self> {
        let text = &task.briefing.as_ref()?.text;
        let origin = DelegatedTask::briefing_in(seq);
        Some(Self::new(&task.key, Part::Briefing, origin, text))
    }

    fn of_result(seq: Seq, key: &'e EffectKey, outcome: &'e TaskOutcome) -> Self {
        let text = match outcome {
            TaskOutcome::Done(words) => &*words.text,
            TaskOutcome::Failed(_) => "",
        };
        Self::new(key, Part::Result, Origin::event(seq), text)
    }

    /// Made in this log, of these sources.
    fn made_of(self, sources: &Sources) -> Self {
        Self {
            sources: sources.clone(),
            is_own: true,
            ..self
        }
    }
}

/// The words of a task that an event has. Words that are removed together with others come after them.
pub(super) fn task_words(seq: Seq, event: &Event) -> Vec<TaskWords<'_>> {
    match event {
        Event::TaskDelegated(it) => {
            let task = TaskWords::of_task(seq, &it.task).made_of(&it.sources);
            let briefing = TaskWords::of_briefing(seq, &it.task);
            let briefing = briefing.map(|words| words.made_of(&it.briefing_sources));
            [task].into_iter().chain(briefing).collect()
        }
        Event::TaskReceived(it) => {
            let task = TaskWords::of_task(seq, &it.task);
            let briefing = TaskWords::of_briefing(seq, &it.task);
            [task].into_iter().chain(briefing).collect()
        }
        Event::TaskAnswered(it) => {
            vec![TaskWords::of_result(seq, &it.key, &it.outcome).made_of(&it.sources)]
        }
        Event::DelegationEnded(it) => vec![TaskWords::of_result(seq, &it.key, &it.outcome)],
        _ => Vec::new(),
    }
}

/// The tasks whose words are taken, in all logs.
#[derive(Debug, Default)]
pub(super) struct TakenTasks {
    parts: HashSet<(EffectKey, Part)>,
}

impl TakenTasks {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether the same words are taken, or the task that they belong to.
    pub(super) fn has(&self, words: &TaskWords<'_>) -> bool {
        let mut parts = [words.part, Part::Task].into_iter();
        parts.any(|part| self.parts.contains(&(words.key.clone(), part)))
    }

    pub(super) fn take(&mut self, words: &TaskWords<'_>) {
        self.parts.insert((words.key.clone(), words.part));
    }
}
