//! Tasks of assistants that concern a person.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, EffectKey, EntityId, Seq, Sources, StoredEvent};
use dormouse_engine::{DelegatedTask, DelegatedWords, Event, TaskOutcome};
use serde_json::{Value, json};

use super::{Kept, Talk, is_party};

/// The words of a task in an event.
pub(super) struct TaskWords {
    key: EffectKey,
    /// The task that it is a part of.
    part_of: Option<EffectKey>,
    /// Whether it was made of what the person said, as far as this log knows.
    is_theirs: bool,
    text: String,
    audience: Option<Audience>,
    row: Value,
}

/// The words of a task that an event has. `said` are the messages of the person; `is_answer` says that one of them is being answered.
pub(super) fn words(
    stored: &StoredEvent,
    event: &Event,
    said: &BTreeSet<Seq>,
    is_answer: bool,
) -> Vec<TaskWords> {
    let row = |words: &DelegatedWords, key: &EffectKey, what: &str| TaskWords {
        key: key.clone(),
        part_of: None,
        is_theirs: false,
        text: words.text.clone(),
        audience: words.audience.clone(),
        row: json!({
            "event": stored.seq,
            "at": stored.at.to_string(),
            "task": key,
            "what": what,
            "text": words.text,
            "trust": words.trust,
        }),
    };
    let of_task = |task: &DelegatedTask, what: &str| {
        let briefing = task.briefing.iter();
        let briefing = briefing.map(|words| row(words, &task.key, "briefing"));
        let task = row(&task.task, &task.key, what);
        [task].into_iter().chain(briefing).collect::<Vec<_>>()
    };
    let of_result = |outcome: &TaskOutcome, key: &EffectKey, what: &str| match outcome {
        TaskOutcome::Done(words) => vec![row(words, key, what)],
        TaskOutcome::Failed(_) => Vec::new(),
    };
    let is_made_of_theirs = |sources: &Sources| {
        let mut sources = sources.as_slice().iter();
        is_answer || sources.any(|source| said.contains(&source.seq()))
    };
    match event {
        Event::TaskDelegated(it) => {
            let mut all = of_task(&it.task, "given");
            for words in &mut all {
                words.part_of.clone_from(&it.part_of);
                words.is_theirs = is_made_of_theirs(&it.sources);
            }
            all
        }
        Event::TaskReceived(it) => of_task(&it.task, "received"),
        Event::TaskAnswered(it) => {
            let mut all = of_result(&it.outcome, &it.key, "answered");
            for words in &mut all {
                words.is_theirs = is_made_of_theirs(&it.sources);
            }
            all
        }
        Event::DelegationEnded(it) => of_result(&it.outcome, &it.key, "result"),
        _ => Vec::new(),
    }
}

/// Which tasks were made of what the person said, in all logs of the folder.
pub(super) struct Tasks {
    /// In lower case.
    names: BTreeSet<String>,
    keys: BTreeSet<EffectKey>,
    /// The tasks that are parts of others, with those.
    parts: Vec<(EffectKey, EffectKey)>,
}

impl Tasks {
    pub(super) fn of(names: &BTreeSet<String>) -> Self {
        Self {
            names: (names.iter().filter(|name| !name.is_empty()))
                .map(|name| name.to_lowercase())
                .collect(),
            keys: BTreeSet::new(),
            parts: Vec::new(),
        }
    }

    /// Finds out from one log which tasks concern the person.
    pub(super) fn learn(&mut self, talk: &Talk) {
        for words in &talk.tasks {
            if words.is_theirs {
                self.keys.insert(words.key.clone());
            }
            let part = words
                .part_of
                .clone()
                .map(|above| (words.key.clone(), above));
            self.parts.extend(part);
        }
    }

    /// Keeps the words of tasks that concern the person or name them, once all logs were read.
    pub(super) fn keep(&mut self, talk: Talk, ids: &BTreeSet<EntityId>, kept: &mut Kept) {
        loop {
            let theirs = self.parts.iter();
            let theirs = theirs.filter(|(_, above)| self.keys.contains(above));
            let more: Vec<_> = theirs.map(|(part, _)| part.clone()).collect();
            let before = self.keys.len();
            self.keys.extend(more);
            if self.keys.len() == before {
                break;
            }
        }
        for words in talk.tasks {
            if !self.keys.contains(&words.key) && !self.is_named_in(&words.text) {
                continue;
            }
            let audience = words.audience.as_ref();
            match audience.is_none_or(|audience| is_party(ids, audience)) {
                true => kept.tasks.push(words.row),
                false => kept.withheld += 1,
            }
        }
    }

    /// Whether a text has a name of the person, as whole words.
    fn is_named_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let mut found = self.names.iter().flat_map(|name| {
            let found = text.match_indices(name.as_str());
            found.map(|(at, name)| (at, at + name.len()))
        });
        found.any(|(begin, end)| {
            let before = text.get(..begin).and_then(|text| text.chars().next_back());
            let after = text.get(end..).and_then(|text| text.chars().next());
            !is_word(before) && !is_word(after)
        })
    }
}
