//! What is taken, for people and as JSON.

use std::{collections::BTreeMap, path::PathBuf};

use dormouse_contracts::AssistantId;
use dormouse_engine::{Selected, Selection};
use serde::Serialize;

use super::{Forget, Plans, prepare::Found};
use crate::{
    command::{CommandError, Printing, say},
    grammar::counted,
};

/// Before or after it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

/// What is taken, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    r#type: &'static str,
    is_done: bool,
    selected: Option<Selected>,
    assistants: Vec<OfAssistant>,
    /// Files that lose words.
    rewritten: Vec<PathBuf>,
    /// Files that are removed.
    removed: Vec<PathBuf>,
    /// Files of others that hold forgotten words, and stay.
    unknown: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct OfAssistant {
    assistant: AssistantId,
    events: u64,
    taken: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    examples: BTreeMap<String, Vec<String>>,
}

impl Summary {
    pub(super) fn of(plans: &Plans, found: &Found, command: &Forget) -> Self {
        let taken = plans.iter().filter(|(_, plan)| plan.events() > 0);
        let assistants = taken.map(|(key, plan)| OfAssistant {
            assistant: key.clone(),
            events: plan.events(),
            taken: plan.counts().clone(),
            examples: match command.verbose {
                true => plan.examples().clone(),
                false => BTreeMap::new(),
            },
        });
        let names = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let names = paths.iter().filter_map(|path| path.file_name());
            names.map(PathBuf::from).collect()
        };
        let mut rewritten: Vec<PathBuf> = Vec::new();
        let is_log_changed = plans.values().any(|plan| plan.events() > 0);
        rewritten.extend(is_log_changed.then(|| "log.redb".into()));
        rewritten.extend(found.world.then(|| "world.redb".into()));
        rewritten.extend(found.others.history.is_some().then(|| "history.txt".into()));
        let selection = plans
            .values()
            .next()
            .map(|plan| plan.selection().selected());
        Self {
            r#type: "forget",
            is_done: false,
            selected: selection,
            assistants: assistants.collect(),
            rewritten,
            removed: [&found.others.recordings, &found.others.old_copies]
                .into_iter()
                .flat_map(|paths| names(paths))
                .collect(),
            unknown: names(&found.others.unknown),
        }
    }

    pub(super) fn print(&self, printing: Printing, moment: Moment) -> Result<(), CommandError> {
        if printing == Printing::Json {
            let line = SummaryLine {
                is_done: moment == Moment::After,
                summary: self,
            };
            return printing.print(&line.to_value()?, String::new);
        }
        if moment == Moment::After {
            let events: u64 = self.assistants.iter().map(|of| of.events).sum();
            let events = counted(events, "event has", "events have");
            return say(&format!(
                "forgotten: {events} lost words; the files were written anew, and the memory was made again"
            ));
        }
        for of in &self.assistants {
            let events = counted(of.events, "event loses", "events lose");
            say(&format!("{}: {events} words", of.assistant))?;
            for (what, count) in &of.taken {
                say(&format!("  {count} {what}"))?;
                for example in of.examples.get(what).into_iter().flatten() {
                    say(&format!("    {example}"))?;
                }
            }
        }
        let list = |paths: &[PathBuf]| {
            let names: Vec<_> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            names.join(", ")
        };
        say(&format!(
            "written anew: {}, and what follows from it",
            list(&self.rewritten)
        ))?;
        if !self.removed.is_empty() {
            say(&format!("removed: {}", list(&self.removed)))?;
        }
        if !self.unknown.is_empty() {
            say(&format!(
                "not files of this program, and left as they are although they hold some of the words: {}",
                list(&self.unknown)
            ))?;
        }
        Ok(())
    }
}

/// A summary at a moment.
struct SummaryLine<'s> {
    is_done: bool,
    summary: &'s Summary,
}

impl SummaryLine<'_> {
    fn to_value(&self) -> Result<serde_json::Value, CommandError> {
        let mut value = serde_json::to_value(self.summary)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("is_done".to_owned(), self.is_done.into());
        }
        Ok(value)
    }
}

/// What was selected, for an error.
pub(super) fn what(selection: &Selection, command: &Forget) -> String {
    match selection {
        Selection::Person(_) => {
            let who = command.person.as_deref().unwrap_or_default();
            format!("{who} any more")
        }
        Selection::Record(record) => format!("record {record}"),
        Selection::Text(_) => "this text".to_owned(),
        Selection::Secrets => "any secret".to_owned(),
        Selection::Unreferred { .. } => "what nothing refers to".to_owned(),
        _ => "this span of time".to_owned(),
    }
}
