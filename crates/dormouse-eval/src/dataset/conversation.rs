//! Conversations, and questions with known evidence.

use std::collections::BTreeSet;

use dormouse_contracts::Timestamp;

/// A published format of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// LoCoMo: conversations of two people, divided into sessions. Evidence names turns.
    Locomo,
    /// LongMemEval: chats with an assistant. Evidence names sessions.
    LongMemEval,
}

impl Format {
    /// The name that a user writes.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Locomo => "locomo",
            Self::LongMemEval => "longmemeval",
        }
    }
}

/// What a question looks for, and what is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Single turns.
    Turn,
    /// Whole sessions, each with the rank of its best turn.
    Session,
}

impl Grain {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }
}

/// A file of conversations.
#[derive(Debug)]
pub(crate) struct Dataset {
    pub(crate) format: Format,
    pub(crate) grain: Grain,
    pub(crate) conversations: Vec<Conversation>,
    /// The number of sessions without a readable date. Each is dated one day after the session before it.
    pub(crate) undated_sessions: usize,
}

/// One conversation. Each conversation gets a memory of its own.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) name: String,
    /// The sessions' names.
    pub(crate) sessions: Vec<String>,
    /// The turns of all sessions, in order.
    pub(crate) turns: Vec<Turn>,
    pub(crate) questions: Vec<Question>,
}

/// One turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) id: String,
    /// The turn's session, as an index into [`Conversation::sessions`].
    pub(crate) session: usize,
    pub(crate) speaker: Option<String>,
    /// What was said, with the caption of a picture that was shown.
    pub(crate) text: String,
    /// Where it was said. Sessions of one thread differ only in their time.
    pub(crate) thread: String,
    pub(crate) at: Timestamp,
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) category: Category,
    /// The places of the evidence: turns or sessions, depending on the [`Grain`]. Empty if no evidence is known.
    pub(crate) gold: BTreeSet<usize>,
    /// The number of evidence entries that name a missing turn or session.
    pub(crate) dangling: usize,
    pub(crate) asked_at: Timestamp,
}

/// The category of a question. Categories are ordered by their number in the data set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Category {
    pub(crate) number: u64,
    pub(crate) name: String,
}

impl Conversation {
    /// The name of the turn or session at this place.
    pub(crate) fn name_of(&self, grain: Grain, place: usize) -> &str {
        let name = match grain {
            Grain::Turn => self.turns.get(place).map(|turn| &turn.id),
            Grain::Session => self.sessions.get(place),
        };
        name.map_or("", String::as_str)
    }

    /// The sessions of ranked turns, each at the rank of its best turn.
    pub(crate) fn sessions_of<'a>(
        &'a self,
        turns: impl IntoIterator<Item = usize> + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut seen = BTreeSet::new();
        turns
            .into_iter()
            .filter_map(|turn| Some(self.turns.get(turn)?.session))
            .filter(move |session| seen.insert(*session))
    }
}
