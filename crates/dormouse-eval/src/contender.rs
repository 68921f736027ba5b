//! The ways of ranking that are measured. Each one answers questions about one conversation.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::TryFromIntError,
    sync::Arc,
    time::Duration,
};

use dormouse_contracts::{AssistantId, Audience, Embedder, EntityId, IdError, Timestamp, Trust};
use dormouse_memory::{
    Fallback, Memory, MemoryError, MemoryOpenError, Note, NoteError, RecallRequest, RecordId, Role,
    SearchMode, Validity,
    links::{self, LinkPolicy, LinkRest},
};
use dormouse_retrieval::{Config, Index, Ranking as By, SearchQuery, Unit};
use tokio::time::Instant;

use crate::{
    dataset::{Conversation, Question, Turn},
    metrics::BUDGETS,
};

/// How many answers a timed query requests: as many as a prompt would show.
const TIMED_LIMIT: usize = 10;
/// How many texts are embedded between two reports of progress.
const STEP: usize = 256;

/// How turns are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ranking {
    /// A memory without an encoder, which finds turns by their words.
    Words,
    /// Plain BM25 over the same texts, for comparison.
    PlainBm25,
    /// [`Words`](Self::Words), after similar records were linked. Packing follows the links.
    WordsAndLinks,
    /// [`Words`](Self::Words), if each turn is known to its speaker alone, and each question is asked by the speaker of its first
    /// evidence.
    WordsOfOne,
    /// A memory with an encoder, which finds turns by their words and by the similarity of their vectors.
    WordsAndVectors,
}

/// A conversation could not be added to a memory, or a question failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContenderError {
    #[error(transparent)]
    Assistant(#[from] IdError),
    #[error(transparent)]
    Open(#[from] MemoryOpenError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("{conversation}: {turn} cannot be remembered")]
    Turn {
        /// Which conversation.
        conversation: String,
        /// Which turn.
        turn: String,
        /// Why not.
        source: NoteError,
    },
    #[error("the encoder failed ({0:?}): nothing was measured with it")]
    Encoder(Fallback),
    #[error("the conversation has too many turns")]
    Count(#[from] TryFromIntError),
}

/// The answer to one question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Turns as indexes into the conversation, best first, each with its score.
    pub(crate) ranked: Vec<(usize, f32)>,
    /// The turns that are shown within each of [`BUDGETS`].
    pub(crate) shown: Vec<Vec<usize>>,
    /// How long a query for ten answers took.
    pub(crate) took: Duration,
}

/// An indexed conversation that answers questions.
pub(crate) enum Contender {
    Memory(Remembered),
    Plain(Box<Plain>),
}

impl Contender {
    /// Indexes a conversation for this ranking. `progress` gets the number of texts embedded.
    pub(crate) async fn of(
        ranking: Ranking,
        conversation: &Conversation,
        encoder: Option<&Arc<dyn Embedder>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, ContenderError> {
        let encoder = encoder.filter(|_| ranking == Ranking::WordsAndVectors);
        Ok(match ranking {
            Ranking::PlainBm25 => Self::Plain(Box::new(Plain::of(conversation)?)),
            Ranking::Words | Ranking::WordsAndVectors => {
                Self::Memory(Remembered::of(conversation, encoder, progress).await?)
            }
            Ranking::WordsOfOne => Self::Memory(Remembered {
                listeners: Some(listeners(conversation)?),
                ..Remembered::of(conversation, encoder, progress).await?
            }),
            Ranking::WordsAndLinks => {
                let remembered = Remembered::of(conversation, None, progress).await?;
                remembered.dream().await?;
                Self::Memory(remembered)
            }
        })
    }

    /// How many bytes of memory the index uses.
    pub(crate) async fn index_bytes(&self) -> Result<u64, ContenderError> {
        Ok(match self {
            Self::Memory(remembered) => remembered.memory.stats().await?.index_bytes,
            Self::Plain(plain) => plain.index.memory_bytes() as u64,
        })
    }

    /// How likely a memory finds that it contains an answer; plain BM25 does not say.
    pub(crate) async fn confidence(
        &self,
        question: &Question,
    ) -> Result<Option<f32>, ContenderError> {
        match self {
            Self::Memory(remembered) => {
                let request = remembered.request(question).limit(TIMED_LIMIT);
                Ok(Some(remembered.memory.recall(request).await?.confidence))
            }
            Self::Plain(_) => Ok(None),
        }
    }

    pub(crate) async fn ask(
        &self,
        question: &Question,
        limit: usize,
    ) -> Result<Answer, ContenderError> {
        match self {
            Self::Memory(remembered) => remembered.ask(question, limit).await,
            Self::Plain(plain) => Ok(plain.ask(question, limit)),
        }
    }
}

/// The turns with text. An empty turn cannot be added to a memory, so it is never found.
fn spoken(conversation: &Conversation) -> impl Iterator<Item = (usize, &Turn)> {
    let turns = conversation.turns.iter().enumerate();
    turns.filter(|(_, turn)| !turn.text.is_empty())
}

/// A conversation in a memory, added through its public API.
pub(crate) struct Remembered {
    memory: Memory,
    places: BTreeMap<RecordId, usize>,
    with_encoder: bool,
    /// The speaker of each turn, if only this speaker may ask about it.
    listeners: Option<BTreeMap<usize, Audience>>,
}

impl Remembered {
    async fn of(
        conversation: &Conversation,
        encoder: Option<&Arc<dyn Embedder>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, ContenderError> {
        let last = conversation.turns.iter().map(|turn| turn.at).max();
        let end = last.unwrap_or(Timestamp::EPOCH);
        let mut builder = Memory::builder(AssistantId::try_new("dormouse")?, move || end);
        if let Some(encoder) = encoder {
            builder = builder.encoder(Arc::clone(encoder));
        }
        let memory = builder.ephemeral()?;
        let notes = spoken(conversation).map(|(_, turn)| {
            let note = note(turn)?;
            match note.check() {
                Ok(()) => Ok(note),
                Err(source) => Err(ContenderError::Turn {
                    conversation: conversation.name.clone(),
                    turn: turn.id.clone(),
                    source,
                }),
            }
        });
        let notes = notes.collect::<Result<_, _>>()?;
        let added = memory.add_all(notes, "evaluation").await?;
        let ids = added.into_iter().map(|added| added.id());
        let places = ids
            .zip(spoken(conversation).map(|(place, _)| place))
            .collect();
        let remembered = Self {
            memory,
            places,
            with_encoder: encoder.is_some(),
            listeners: None,
        };
        remembered.embed(progress).await?;
        Ok(remembered)
    }

    async fn embed(&self, progress: &mut dyn FnMut(u64)) -> Result<(), ContenderError> {
        if !self.with_encoder {
            return Ok(());
        }
        loop {
            let indexed = self.memory.index_pending(STEP).await?;
            if let Some(fallback) = indexed.interrupted_by {
                return Err(ContenderError::Encoder(fallback));
            }
            progress(indexed.embedded);
            if indexed.waiting == 0 {
                return Ok(());
            }
        }
    }

    /// Links similar records, as dreaming does, until all are linked.
    async fn dream(&self) -> Result<(), ContenderError> {
        let mut from = None;
        loop {
            let policy = LinkPolicy::default();
            let progress = links::dream_links(&self.memory, from, STEP, &policy).await?;
            if progress.rest == LinkRest::Nothing {
                return Ok(());
            }
            from = progress.checkpoint;
        }
    }

    fn request(&self, question: &Question) -> RecallRequest {
        let request = RecallRequest::new(&*question.text)
            .min_trust(Trust::NONE)
            .valid(Validity::Any)
            .asked_at(question.asked_at);
        let first = question.gold.iter().min();
        let who = self
            .listeners
            .as_ref()
            .and_then(|all| all.get(first?).cloned());
        who.into_iter().fold(request, RecallRequest::for_listeners)
    }

    async fn ask(&self, question: &Question, limit: usize) -> Result<Answer, ContenderError> {
        let begun = Instant::now();
        self.memory
            .recall(self.request(question).limit(TIMED_LIMIT))
            .await?;
        let took = begun.elapsed();
        let recall = self
            .memory
            .recall(self.request(question).limit(limit))
            .await?;
        if let (true, SearchMode::WordsBecause(why)) = (self.with_encoder, recall.mode) {
            return Err(ContenderError::Encoder(why));
        }
        let matched = recall.items.iter().filter(|item| item.role == Role::Match);
        let ranked = matched
            .filter_map(|item| Some((*self.places.get(&item.record.id)?, item.score)))
            .collect();
        let mut shown = Vec::with_capacity(BUDGETS.len());
        for budget in BUDGETS {
            let packed = self.request(question).tokens(budget);
            let items = self.memory.recall(packed).await?.items;
            let places = items
                .iter()
                .filter_map(|item| self.places.get(&item.record.id).copied());
            shown.push(places.collect());
        }
        Ok(Answer {
            ranked,
            shown,
            took,
        })
    }
}

fn note(turn: &Turn) -> Result<Note, ContenderError> {
    let note = Note::new(&*turn.text).at(turn.at).in_thread(&*turn.thread);
    let note = note.known_to(alone(turn)?);
    Ok(match &turn.speaker {
        Some(speaker) => note.said_by(&**speaker),
        None => note,
    })
}

/// The speaker of a turn and nobody else. It matters only with `--private`: otherwise every question is asked without
/// listeners.
fn alone(turn: &Turn) -> Result<Audience, ContenderError> {
    let speaker = turn.speaker.as_deref().map(EntityId::try_new);
    Ok(speaker.transpose()?.into_iter().collect())
}

fn listeners(conversation: &Conversation) -> Result<BTreeMap<usize, Audience>, ContenderError> {
    let turns = conversation.turns.iter().enumerate();
    turns
        .map(|(place, turn)| Ok((place, alone(turn)?)))
        .collect()
}

/// A conversation in a plain BM25 index.
pub(crate) struct Plain {
    index: Index,
    /// How many tokens each turn takes when it is shown, by place.
    tokens: Vec<u32>,
}

impl Plain {
    fn of(conversation: &Conversation) -> Result<Self, ContenderError> {
        // The usual baseline knows no passages.
        let mut index = Index::new(Config {
            passage_words: usize::MAX,
            ..Config::default()
        });
        for (place, turn) in spoken(conversation) {
            index.insert(&Unit {
                id: u64::try_from(place)?,
                text: &turn.text,
                speaker: turn.speaker.as_deref().map(Into::into),
                thread: Some(&turn.thread),
                at: turn.at,
            });
        }
        let tokens = conversation.turns.iter().map(tokens_of).collect();
        Ok(Self { index, tokens })
    }

    fn ask(&self, question: &Question, limit: usize) -> Answer {
        let query = SearchQuery::new(&question.text)
            .asked_at(question.asked_at)
            .ranking(By::PlainBm25);
        let begun = Instant::now();
        std::hint::black_box(self.index.search(&query, TIMED_LIMIT));
        let took = begun.elapsed();
        let ranked = self.index.search(&query, limit.max(self.tokens.len()));
        let ranked: Vec<(usize, f32)> = ranked
            .into_iter()
            .filter_map(|found| Some((usize::try_from(found.id).ok()?, found.score)))
            .collect();
        let shown = BUDGETS.iter().map(|budget| self.fit(&ranked, *budget));
        Answer {
            shown: shown.collect(),
            ranked: ranked.iter().take(limit).copied().collect(),
            took,
        }
    }

    /// The best turns that fit the budget together. A turn that does not fit is skipped.
    fn fit(&self, ranked: &[(usize, f32)], budget: u32) -> Vec<usize> {
        let mut left = budget;
        let mut fit = Vec::new();
        for (place, _) in ranked {
            let tokens = self.tokens.get(*place).copied().unwrap_or(u32::MAX);
            if let Some(rest) = left.checked_sub(tokens) {
                left = rest;
                fit.push(*place);
            }
        }
        fit
    }
}

/// Counts one token per four bytes of the line that shows a turn. A memory without a known vocabulary counts the same
/// way.
fn tokens_of(turn: &Turn) -> u32 {
    let speaker = turn.speaker.as_deref().unwrap_or_default();
    let line = format!("[{}] {speaker}: {}\n", turn.at, turn.text);
    u32::try_from(line.len().div_ceil(4)).unwrap_or(u32::MAX)
}

/// The places of the turns, in order and without duplicates.
pub(crate) fn places(turns: &[(usize, f32)]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let places = turns.iter().map(|(place, _)| *place);
    places.filter(|place| seen.insert(*place)).collect()
}
