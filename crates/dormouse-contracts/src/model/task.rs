//! What a request outside of a turn asks for, as data.

use serde::{Deserialize, Serialize};

use crate::{time::Timestamp, trust::Trust};

/// The subject of a request outside of a turn as data, for a rule-based model, which does not read the messages.
///
/// It repeats the content of the messages, and is never sent to a server. Each variant says which form of reply is asked
/// for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Task {
    /// The facts in these lines: a JSON array of `{"text", "kind", "about": […], "from": [ids], "reason"}`.
    Extraction {
        /// What was heard, seen or noted.
        lines: Vec<TaskLine>,
    },
    /// What to do with facts that are similar to known records: a JSON array of `{"fact", "action", "record",
    /// "reason"}`, where the action is `add`, `link`, `supersede` or `ignore`.
    Judgement {
        /// The facts, each with the records that it may repeat or replace.
        facts: Vec<DoubtfulFact>,
    },
    /// The lasting traits of one person or thing: a JSON object with `communication_style`, `interests`, `temperament` and
    /// `preferences`.
    Traits {
        /// The name of the person or thing that the notes are about.
        name: String,
        /// The notes.
        notes: Vec<String>,
    },
    /// A summary in plain text, shorter than the lines.
    Summary {
        /// What was said and done, in order.
        lines: Vec<TaskLine>,
    },
    /// The importance of each line from 1 to 10: a JSON array of `{"id", "score", "reason"}`.
    Scoring {
        /// What happened.
        lines: Vec<TaskLine>,
    },
    /// How these lines change what the assistant thinks of somebody: a JSON object with `favorability`, a change from -0.2 to
    /// 0.2, and `reason`.
    Relationship {
        /// The name of the person, as it is written in the lines.
        name: String,
        /// What was said, by the person and by others.
        lines: Vec<TaskLine>,
    },
    /// How hard a task is from 1 to 5: a JSON object with `difficulty` and `reason`.
    Difficulty {
        /// The task.
        text: String,
    },
    /// Questions about the world that these lines raise: a JSON array of texts.
    Questions {
        /// What happened.
        lines: Vec<TaskLine>,
    },
    /// What can be concluded from these lines: a JSON array of `{"insight", "from": [ids]}`.
    Reflection {
        /// What happened.
        lines: Vec<TaskLine>,
    },
}

/// One line that somebody said, or that was noted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskLine {
    /// Its id in the request.
    pub id: String,
    /// The name of who said it, if it is known.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// When.
    pub at: Timestamp,
    /// How far it is believed.
    pub trust: Trust,
}

/// A new fact, and the known records that it may repeat or replace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoubtfulFact {
    /// Its id in the request.
    pub id: String,
    /// What it says.
    pub text: String,
    /// The records, the most similar first: the id of each and what it says.
    pub records: Vec<(String, String)>,
}
