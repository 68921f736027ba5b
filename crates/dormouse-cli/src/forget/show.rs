//! Shows what is removed, for people and as JSON.

use std::{collections::BTreeMap, path::PathBuf};

use dormouse_contracts::{AssistantId, Origin};
use dormouse_engine::{ForgetPlan, Person, Selected, Selection};
use serde::Serialize;

use super::{Forget, Plans, prepare::FoundFiles};
use crate::{
    command::{CommandError, Printing, remark, say},
    grammar::counted,
};

/// Before or after it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

/// What is removed, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    r#type: &'static str,
    is_done: bool,
    selected: Option<Selected>,
    /// How many lines have only this name and no id, and are removed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    named_only: BTreeMap<String, u64>,
    /// The same, but these lines stay, because other people have the name, too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unclear: BTreeMap<String, u64>,
    assistants: Vec<OfAssistant>,
    /// The messages that the record was made from. They stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_from: Vec<Origin>,
    /// Files that lose words.
    rewritten: Vec<PathBuf>,
    /// Files that are removed.
    removed: Vec<PathBuf>,
    /// Files of other programs that contain forgotten words. They stay.
    unknown: Vec<PathBuf>,
    /// The assistants whose vectors stay on their server: their memory, which knows the names of its collections, is
    /// missing or damaged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vectors_left: Vec<AssistantId>,
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
    pub(super) fn of(plans: &Plans, found: &FoundFiles, command: &Forget) -> Self {
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
        let mut rewritten: Vec<PathBuf> = Vec::new();
        let is_log_changed = plans.values().any(|plan| plan.events() > 0);
        rewritten.extend(is_log_changed.then(|| "log.redb".into()));
        rewritten.extend(found.worlds.iter().map(|world| world.name().into()));
        rewritten.extend(names(found.others.shortened.iter().map(|(path, _)| path)));
        let selection = asked(plans);
        let person = match selection {
            Some(Selection::Person(person)) => person.clone(),
            _ => Person::default(),
        };
        Self {
            r#type: "forget",
            is_done: false,
            selected: selection.map(Selection::selected),
            named_only: person.named,
            unclear: person.unclear,
            assistants: assistants.collect(),
            made_from: Vec::new(),
            rewritten,
            removed: names(found.others.removed()),
            unknown: names(&found.others.unknown),
            vectors_left: Vec::new(),
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
        self.print_vectors();
        if moment == Moment::After {
            self.print_unclear();
            let events: u64 = self.assistants.iter().map(|of| of.events).sum();
            if events == 0 {
                return say("forgotten; it was in no log, so no log has an event about it");
            }
            let events = counted(events, "event has", "events have");
            say(&format!(
                "forgotten: {events} lost words; the files were rewritten, and the memory was rebuilt"
            ))?;
            return self.print_messages();
        }
        for of in &self.assistants {
            let events = counted(of.events, "event loses", "events lose");
            say(&format!("{}: {events} words", of.assistant))?;
            for (what, count) in &of.taken {
                say(&format!("  {}", counted(*count, one_of(what), what)))?;
                let examples = of.examples.get(what).map(Vec::as_slice);
                let examples = examples.unwrap_or_default();
                for example in examples {
                    say(&format!("    {example}"))?;
                }
                let more = count.saturating_sub(examples.len() as u64);
                if more > 0 && !examples.is_empty() {
                    say(&format!("    and {more} more"))?;
                }
            }
        }
        for (name, count) in &self.named_only {
            let lines = counted(*count, "line has", "lines have");
            say(&format!(
                "{lines} only the name {name:?} and no id: nobody else has this name, so they count as the person's"
            ))?;
        }
        self.print_unclear();
        self.print_messages()?;
        let list = |paths: &[PathBuf]| {
            let names: Vec<_> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            names.join(", ")
        };
        let follows = match self.assistants.is_empty() {
            true => "",
            false => ", and what follows from it",
        };
        if !self.rewritten.is_empty() {
            say(&format!(
                "written again: {}{follows}",
                list(&self.rewritten)
            ))?;
        }
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

impl Summary {
    /// The same, of a record that was made from these messages.
    pub(super) fn made_from(self, messages: Vec<Origin>) -> Self {
        Self {
            made_from: messages,
            ..self
        }
    }

    /// The same, with these assistants' vectors left on their server.
    pub(super) fn vectors_left(self, of: Vec<AssistantId>) -> Self {
        Self {
            vectors_left: of,
            ..self
        }
    }

    /// Says which vectors stay.
    fn print_vectors(&self) {
        for key in &self.vectors_left {
            remark(&format!(
                "the memory of {key} is missing or damaged. Only it has the names of its collections on the server of `vectors`, so these stay: remove the collections with `_{key}_` in their names"
            ));
        }
    }

    /// Says which messages may contain the same words, and how to remove them.
    fn print_messages(&self) -> Result<(), CommandError> {
        for message in &self.made_from {
            say(&format!(
                "it was made from message #{message}, which stays; `dormouse forget --record {message}` removes \
                that, too"
            ))?;
        }
        if let (Some(Selected::Record { record, .. }), [_, _, ..]) =
            (&self.selected, self.made_from.as_slice())
        {
            say(&format!(
                "`dormouse forget --record {record} --with-messages` removes all of these"
            ))?;
        }
        Ok(())
    }

    /// Says which lines stay because several people have their name.
    pub(super) fn print_unclear(&self) {
        for (name, count) in &self.unclear {
            let lines = counted(*count, "line has", "lines have");
            remark(&format!(
                "{lines} only the name {name:?} and no id, and other people have this or a similar name: these lines stay. --record N removes one of them, --named all"
            ));
        }
    }
}

/// The selection that the user asked for. Other logs only lose what tasks carried there.
pub(super) fn asked(plans: &Plans) -> Option<&Selection> {
    let mut selections = plans.values().map(ForgetPlan::selection);
    selections.find(|selection| **selection != Selection::Carried)
}

/// The singular of a kind that a plan counts.
fn one_of(what: &str) -> &str {
    match what {
        "messages" => "message",
        "replies of models" => "reply of a model",
        "results of tools" => "result of a tool",
        "acts of the assistant" => "act of the assistant",
        "notes and facts" => "note or fact",
        "what is known of people" => "thing known of people",
        "recollections" => "recollection",
        "copies" => "copy",
        "other events" => "other event",
        other => other,
    }
}

/// The names of files of the folder.
fn names<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    let names = paths.into_iter().filter_map(|path| path.file_name());
    names.map(PathBuf::from).collect()
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
        Selection::Person(_) => command.person.clone().unwrap_or_default(),
        Selection::Record(record) | Selection::WithMessages { record, .. } => {
            format!("record {record}")
        }
        Selection::Text(_) => "this text".to_owned(),
        Selection::Secrets => "secrets".to_owned(),
        Selection::Unreferred { .. } => "what nothing refers to".to_owned(),
        _ => "this span of time".to_owned(),
    }
}
