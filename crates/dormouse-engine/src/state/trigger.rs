//! The triggers of turns.

use dormouse_contracts::{
    AssistantTask, Audience, DueAction, EntityId, Purpose, Seq, SourceKind, Timestamp, Trust,
    TurnTrigger,
};
use serde::{Deserialize, Serialize};

use super::{heard::Heard, promise::Promise};
use crate::event::{GoalId, GoalNote};

/// The trigger of a turn, before and during that turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trigger {
    /// Somebody said something, and waits for an answer.
    Message(Box<Heard>),
    /// Something other than a message became due, so nobody waits for an answer.
    Occasion(Occasion),
}

/// Something that became due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occasion {
    /// Its place in the log.
    pub seq: Seq,
    /// When it became due.
    pub at: Timestamp,
    /// The kind of occasion.
    pub kind: OccasionKind,
    /// The text that the model is shown.
    pub text: String,
    /// Its trust.
    pub trust: Trust,
    /// How many tokens the text takes, at most.
    pub tokens: u32,
    /// The promise, for an occasion of that kind.
    #[serde(default)]
    pub promise: Option<Box<Promise>>,
    /// The due goal, for an occasion of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Box<DueGoal>>,
    /// The delegated task or its result, for an occasion of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<AssistantTask>>,
    /// The name of the person it is for; empty if it is for nobody.
    #[serde(default)]
    pub name: String,
    /// Who perceived its subject, other than the assistant. If absent, it was not recorded, and everybody may learn
    /// what is done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// A due goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DueGoal {
    /// Its number.
    pub id: GoalId,
    /// What is to be achieved.
    pub description: GoalNote,
}

/// The kinds of occasions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OccasionKind {
    /// Enough has happened for a reflection.
    Reflection,
    /// A goal is due.
    GoalDue,
    /// Somebody allowed or refused an act.
    ApprovalAnswered,
    /// The moment came at which the assistant asked to wake.
    Wake,
    /// Another assistant delegated a task.
    DelegatedTask,
    /// A promise to somebody is due.
    Promise,
    /// A task that was given to another assistant is over.
    DelegatedResult,
    /// The work of a night is done, and the assistant has a turn in its sleep.
    Sleep,
}

impl Occasion {
    /// An occasion that concerns only the assistant. Nobody hears the result.
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

    /// The trigger as data, for a program that reads no prompt; `None` if the trigger has no such form.
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
                    movement: promise.met.as_ref().and_then(|met| met.movement.clone()),
                }))
            }
        }
    }

    /// The name and the promise, for a due promise.
    pub(crate) fn promise(&self) -> Option<(&str, &Promise)> {
        match self {
            Self::Message(_) => None,
            Self::Occasion(occasion) => Some((&occasion.name, occasion.promise.as_ref()?)),
        }
    }

    /// Whether this is a reflection on the journal.
    pub(crate) fn is_reflection(&self) -> bool {
        matches!(self, Self::Occasion(occasion) if occasion.kind == OccasionKind::Reflection)
    }

    /// Whether it is for a turn in the sleep of the assistant.
    pub(crate) fn is_sleep(&self) -> bool {
        matches!(self, Self::Occasion(occasion) if occasion.kind == OccasionKind::Sleep)
    }

    /// Whether nobody hears what the assistant says in its turn, and nobody learns the result.
    pub(crate) fn is_unheard(&self) -> bool {
        self.is_reflection() || self.is_sleep()
    }

    /// The goal, for a due goal.
    pub(crate) fn goal(&self) -> Option<&DueGoal> {
        match self {
            Self::Message(_) => None,
            Self::Occasion(occasion) => occasion.goal.as_deref(),
        }
    }

    /// The sender of the message, or the entity that the occasion is for.
    pub(crate) fn entity(&self) -> Option<&EntityId> {
        match self {
            Self::Message(heard) => heard.perception.attested.sender.id(),
            Self::Occasion(_) => self.promise().map(|(_, promise)| &promise.entity),
        }
    }

    /// The words of the message, or the text of the occasion.
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

    /// How many tokens it takes in a prompt.
    pub(crate) fn tokens(&self) -> u32 {
        match self {
            Self::Message(heard) => heard.tokens,
            Self::Occasion(occasion) => occasion.tokens,
        }
    }

    /// Its trust.
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

    /// Who hears the answer: the person who was promised it, those who know the goal, or everybody if nobody waits for
    /// an answer.
    pub(crate) fn answer_reaches(&self) -> Audience {
        match (self.message(), self.promise()) {
            (Some(heard), _) => heard.perception.attested.answer_reaches(),
            (None, Some((_, promise))) => Audience::from_iter([promise.entity.clone()]),
            (None, None) => self.audience().cloned().unwrap_or(Audience::Public),
        }
    }

    /// Who perceived the occasion's subject, if the occasion itself records that.
    fn audience(&self) -> Option<&Audience> {
        match self {
            Self::Message(_) => None,
            Self::Occasion(occasion) => match &occasion.goal {
                Some(goal) => Some(&goal.description.audience),
                None => occasion.audience.as_ref(),
            },
        }
    }

    /// Whether the answer is only for those who perceived the trigger: for one other person alone, or for those who
    /// know the goal.
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

    /// What the requests of its turn are for: an answer, or something that nobody waits for.
    pub(crate) fn purpose(&self) -> Purpose {
        let Self::Occasion(occasion) = self else {
            return Purpose::Answer;
        };
        match occasion.kind {
            OccasionKind::Reflection
            | OccasionKind::GoalDue
            | OccasionKind::Wake
            | OccasionKind::Sleep => Purpose::Heartbeat,
            OccasionKind::ApprovalAnswered
            | OccasionKind::DelegatedTask
            | OccasionKind::Promise
            | OccasionKind::DelegatedResult => Purpose::Answer,
        }
    }

    /// The person who waits, if there is one.
    pub(crate) fn person(&self) -> Option<&str> {
        self.message().map(Heard::person)
    }
}
