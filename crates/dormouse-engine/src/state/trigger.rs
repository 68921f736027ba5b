//! What calls for a turn.

use dormouse_contracts::{
    AssistantTask, Audience, DueAction, EntityId, Seq, SourceKind, Timestamp, Trust, TurnTrigger,
};
use serde::{Deserialize, Serialize};

use super::{heard::Heard, promise::Promise};
use crate::event::{GoalId, GoalNote};

/// What calls for a turn: it waits for one, or is being dealt with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trigger {
    /// Somebody said something, and waits for an answer.
    Message(Box<Heard>),
    /// Something became due that nobody said, so nobody waits for an answer.
    Occasion(Occasion),
}

/// Something that became due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occasion {
    /// Its place in the log.
    pub seq: Seq,
    /// When it became due.
    pub at: Timestamp,
    /// What kind of thing it is.
    pub kind: OccasionKind,
    /// What it is, as the model sees it.
    pub text: String,
    /// How far it is believed.
    pub trust: Trust,
    /// How many tokens the text takes, at most.
    pub tokens: u32,
    /// What was promised, if it is that.
    #[serde(default)]
    pub promise: Option<Box<Promise>>,
    /// The goal that is due, if it is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Box<DueGoal>>,
    /// The task of assistants that is to be done or is over, if it is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<AssistantTask>>,
    /// The name of whom it is for; empty if it is for nobody.
    #[serde(default)]
    pub name: String,
    /// Who perceived what it is about, other than the assistant. Absent if that is not recorded, and anybody may learn what
    /// is done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// A goal whose moment has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DueGoal {
    /// Its number.
    pub id: GoalId,
    /// What is to be reached.
    pub description: GoalNote,
}

/// The kinds of things that become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OccasionKind {
    /// Enough has happened to think about it.
    Reflection,
    /// A goal is due.
    GoalDue,
    /// Somebody allowed or refused an act.
    ApprovalAnswered,
    /// A moment came at which the assistant wanted to wake.
    Wake,
    /// Another assistant delegated a task.
    DelegatedTask,
    /// The moment came for something that the assistant meant to do for somebody.
    Promise,
    /// A task that was given to another assistant is over.
    DelegatedResult,
    /// The work of a night is done, and the assistant thinks in its sleep.
    Sleep,
}

impl Occasion {
    /// One that the assistant thinks about by itself. Nobody hears what comes of it.
    pub(super) fn for_itself(seq: Seq, at: Timestamp, kind: OccasionKind, text: String) -> Self {
        Self {
            seq,
            at,
            kind,
            // No tokenizer makes more tokens than bytes.
            tokens: u32::try_from(text.len()).unwrap_or(u32::MAX),
            text,
            trust: Trust::FULL,
            promise: None,
            goal: None,
            task: None,
            name: String::new(),
            audience: None,
        }
    }
}

impl Trigger {
    /// Its place in the log.
    #[must_use]
    pub fn seq(&self) -> Seq {
        match self {
            Self::Message(heard) => heard.seq,
            Self::Occasion(occasion) => occasion.seq,
        }
    }

    /// Since when it waits.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        match self {
            Self::Message(heard) => heard.heard_at,
            Self::Occasion(occasion) => occasion.at,
        }
    }

    /// The message, if somebody waits for an answer.
    #[must_use]
    pub fn message(&self) -> Option<&Heard> {
        match self {
            Self::Message(heard) => Some(heard),
            Self::Occasion(_) => None,
        }
    }

    /// The same for a model that reads no prompt, if there is data about it.
    pub(crate) fn as_data(&self) -> Option<TurnTrigger> {
        match self {
            Self::Message(heard) => Some(heard.perception.clone().into()),
            Self::Occasion(occasion) => {
                if let Some(task) = &occasion.task {
                    return Some(TurnTrigger::Task((**task).clone()));
                }
                let promise = occasion.promise.as_ref()?;
                Some(TurnTrigger::Due(DueAction {
                    entity: promise.entity.clone(),
                    name: occasion.name.clone(),
                    description: promise.description.clone(),
                    due_at: occasion.at,
                }))
            }
        }
    }

    /// What was promised to somebody, if its moment has come.
    pub(crate) fn promise(&self) -> Option<(&str, &Promise)> {
        match self {
            Self::Message(_) => None,
            Self::Occasion(occasion) => Some((&occasion.name, occasion.promise.as_ref()?)),
        }
    }

    /// Whether it is time to look back over the journal.
    pub(crate) fn is_reflection(&self) -> bool {
        matches!(self, Self::Occasion(occasion) if occasion.kind == OccasionKind::Reflection)
    }

    /// Whether it is for a turn in the sleep of the assistant.
    pub(crate) fn is_sleep(&self) -> bool {
        matches!(self, Self::Occasion(occasion) if occasion.kind == OccasionKind::Sleep)
    }

    /// Whether nobody hears what is thought about it, and nobody learns what comes of it.
    pub(crate) fn is_unheard(&self) -> bool {
        self.is_reflection() || self.is_sleep()
    }

    /// The goal whose moment has come.
    pub(crate) fn goal(&self) -> Option<&DueGoal> {
        match self {
            Self::Message(_) => None,
            Self::Occasion(occasion) => occasion.goal.as_deref(),
        }
    }

    /// Whose message it is, or whom it is for.
    pub(crate) fn entity(&self) -> Option<&EntityId> {
        match self {
            Self::Message(heard) => heard.perception.attested.sender.id(),
            Self::Occasion(_) => self.promise().map(|(_, promise)| &promise.entity),
        }
    }

    /// What was said, or what became due.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Message(heard) => heard.perception.words.as_claimed(),
            Self::Occasion(occasion) => match (&occasion.promise, &occasion.goal) {
                (Some(promise), _) => &promise.description,
                (None, Some(goal)) => &goal.description.text,
                (None, None) => &occasion.text,
            },
        }
    }

    /// How many tokens it takes as it is shown.
    pub(crate) fn tokens(&self) -> u32 {
        match self {
            Self::Message(heard) => heard.tokens,
            Self::Occasion(occasion) => occasion.tokens,
        }
    }

    /// How far it is believed.
    pub(crate) fn trust(&self) -> Trust {
        match self {
            Self::Message(heard) => heard.trust,
            Self::Occasion(occasion) => occasion.trust,
        }
    }

    /// Who is known to have perceived it, other than the assistant.
    pub(crate) fn known_to(&self) -> Audience {
        match (self.message(), self.promise()) {
            (Some(heard), _) => heard.known_to(),
            (None, Some((_, promise))) => promise.audience.clone(),
            (None, None) => self.audience().cloned().unwrap_or(Audience::nobody()),
        }
    }

    /// Who hears what is said about it: the one whom it was promised; those who know the goal; anybody, if nobody waits for an
    /// answer.
    pub(crate) fn answer_reaches(&self) -> Audience {
        match (self.message(), self.promise()) {
            (Some(heard), _) => heard.perception.attested.answer_reaches(),
            (None, Some((_, promise))) => Audience::from_iter([promise.entity.clone()]),
            (None, None) => self.audience().cloned().unwrap_or(Audience::Public),
        }
    }

    /// Who perceived what became due, if that is recorded of it itself.
    fn audience(&self) -> Option<&Audience> {
        match self {
            Self::Message(_) => None,
            Self::Occasion(occasion) => match &occasion.goal {
                Some(goal) => Some(&goal.description.audience),
                None => occasion.audience.as_ref(),
            },
        }
    }

    /// Whether what is said about it is only for those who perceived it: for one other alone, or for those who know the goal.
    pub(crate) fn is_for_one(&self) -> bool {
        let is_private = |heard: &Heard| {
            let source = &heard.perception.attested.source;
            matches!(source, SourceKind::Whisper | SourceKind::Page)
        };
        let is_kept = |audience: &Audience| *audience != Audience::Public;
        self.message().is_some_and(is_private)
            || self.promise().is_some()
            || self.goal().is_some()
            || self.audience().is_some_and(is_kept)
    }

    /// The person who waits, if there is one.
    pub(crate) fn person(&self) -> Option<&str> {
        self.message().map(Heard::person)
    }
}
