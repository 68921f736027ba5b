//! A real assistant that overhears a conversation, in a folder of its own and at the times of the conversation: engine, memory,
//! journal and sandbox, as the host wires them for the program.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, Author, ChatModel, Clock, EntityId, IdError,
    Seq, Timestamp, Words, WordsError,
};
use dormouse_engine::{
    ConfiguredModel, DecideAgainError, Event, Night, ReplayError, SleepError, SleepWish, State,
    decide_again, named_source, restore,
};
use dormouse_host::{
    DataError, DataFolder, Host, HostError, HostSettings, config::Config, provider::Models,
};
use dormouse_journal::{EntryError, NewEntry, SourceType};
use dormouse_memory::{Memory, MemoryError, MemoryOpenError};
use dormouse_providers::{Environment, token_counter_for};
use dormouse_sandbox::{Act, ActError, Character, CharacterKind, JoinError};
use tempfile::TempDir;

use crate::{
    dataset::{Conversation, Turn},
    seeded::Seeded,
};

/// How many days a week has.
pub(crate) const DAYS: usize = 7;
/// How many turns of a day become entries of the journal. Without a language model the assistant writes no entries by
/// itself.
pub(crate) const ENTRIES: usize = 20;
/// The author of the operator's events in its log.
const AUTHOR: &str = "evaluation";
/// The time from the last turn of a day to sleep, and the length of a night.
const EVENING: Duration = Duration::from_secs(3_600);
const NIGHT: Duration = Duration::from_secs(8 * 3_600);
const SECOND: Duration = Duration::from_secs(1);

/// A simulated life failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LifeError {
    #[error("the folder of the assistant could not be created")]
    Folder(#[from] io::Error),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Host(#[from] Box<HostError>),
    #[error("a speaker cannot enter the world")]
    Join(#[from] JoinError),
    #[error("{turn} cannot be said in the world")]
    Say {
        /// Which turn.
        turn: String,
        /// Why not.
        source: ActError,
    },
    #[error("{turn} cannot be said in the world")]
    Words {
        /// Which turn.
        turn: String,
        /// Why not.
        source: WordsError,
    },
    #[error(transparent)]
    Id(#[from] IdError),
    #[error("an entry does not fit the journal")]
    Entry(#[from] EntryError),
    #[error("the assistant cannot sleep")]
    Sleep(#[from] SleepError),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("an event or a state could not be encoded")]
    Encode(#[from] serde_json::Error),
    #[error("deciding the life again gave another result")]
    DecideAgain(#[from] Box<DecideAgainError>),
    #[error(transparent)]
    Open(#[from] MemoryOpenError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("the log has no night, though the assistant was put to sleep")]
    NoNight,
}

impl From<HostError> for LifeError {
    fn from(error: HostError) -> Self {
        Self::Host(Box::new(error))
    }
}

impl From<DecideAgainError> for LifeError {
    fn from(error: DecideAgainError) -> Self {
        Self::DecideAgain(Box::new(error))
    }
}

/// A clock that stands still while something happens, in microseconds since 1970.
#[derive(Debug)]
struct LifeClock(AtomicI64);

impl LifeClock {
    fn set(&self, at: Timestamp) {
        self.0.store(at.as_micros(), Ordering::Relaxed);
    }
}

impl Clock for LifeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// An assistant that overhears a conversation.
pub(crate) struct Life<'a> {
    conversation: &'a Conversation,
    clock: Arc<LifeClock>,
    host: Host,
    key: AssistantId,
    seeded: Seeded,
    speakers: BTreeMap<String, EntityId>,
    said_at: BTreeMap<Timestamp, usize>,
    /// Declared last, so that it is removed after the host has closed its files.
    folder: TempDir,
}

/// The turns of each day: the sessions, divided into seven parts of nearly equal length.
pub(crate) fn days(conversation: &Conversation) -> Vec<Vec<usize>> {
    let sessions = conversation.sessions.len().max(1);
    let mut days = vec![Vec::new(); DAYS];
    for (place, turn) in conversation.turns.iter().enumerate() {
        let day = days.get_mut(turn.session * DAYS / sessions);
        if let Some(day) = day.filter(|_| !turn.text.is_empty()) {
            day.push(place);
        }
    }
    days.retain(|day| !day.is_empty());
    days
}

impl<'a> Life<'a> {
    /// Starts an assistant with this model. It has heard nothing yet.
    pub(crate) async fn begin(
        conversation: &'a Conversation,
        model: Arc<dyn ChatModel>,
        seed: u64,
    ) -> Result<Self, LifeError> {
        let folder = tempfile::tempdir()?;
        let first = conversation.turns.iter().map(|turn| turn.at).min();
        let begin = first.unwrap_or_default().as_micros() - 3_600_000_000;
        let clock = Arc::new(LifeClock(AtomicI64::new(begin)));
        let environment = Environment::of(|_| None);
        let mut settings =
            HostSettings::with_models(Config::default(), environment, Models::of(model));
        settings.learns = false;
        settings.clock = Arc::clone(&clock) as _;
        settings.random = Arc::new(Seeded::new(seed));
        let key = settings.config.assistant.key();
        let host = Host::open(settings, &DataFolder::at(folder.path())?).await?;
        let mut life = Self {
            conversation,
            clock,
            host,
            key,
            seeded: Seeded::new(seed),
            speakers: BTreeMap::new(),
            said_at: BTreeMap::new(),
            folder,
        };
        life.settle().await?;
        Ok(life)
    }

    /// Lets it overhear the turns of a day. The first turn of each session is said to it; it overhears the others.
    pub(crate) async fn hear(&mut self, day: &[usize]) -> Result<(), LifeError> {
        let mut session = None;
        for place in day {
            let Some(turn) = self.conversation.turns.get(*place) else {
                continue;
            };
            let begins = session != Some(turn.session);
            if begins {
                self.settle().await?;
            }
            session = Some(turn.session);
            self.say(*place, turn, begins).await?;
        }
        self.settle().await
    }

    async fn say(&mut self, place: usize, turn: &Turn, to_it: bool) -> Result<(), LifeError> {
        let at = turn.at.max(self.clock.now().plus(SECOND));
        self.clock.set(at);
        let speaker = turn.speaker.as_deref().unwrap_or("Somebody");
        let speaker = self.speaker(speaker).await?;
        let words = Words::try_new(turn.text.as_str()).map_err(|source| LifeError::Words {
            turn: turn.id.clone(),
            source,
        })?;
        let act = match to_it {
            true => Act::SayTo {
                to: self.host.config().assistant.name(),
                words,
            },
            false => Act::Say(words),
        };
        let acted = self.host.world().act(&speaker, act).await;
        acted.map_err(|source| LifeError::Say {
            turn: turn.id.clone(),
            source,
        })?;
        self.said_at.insert(at, place);
        Ok(())
    }

    /// The character of a speaker, who joins the world with the first turn.
    async fn speaker(&mut self, name: &str) -> Result<EntityId, LifeError> {
        if let Some(known) = self.speakers.get(name) {
            return Ok(known.clone());
        }
        let id = EntityId::try_new(format!("player:{name}"))?;
        let character = Character {
            id: id.clone(),
            name: name.to_owned(),
            kind: CharacterKind::Player,
        };
        self.host.world().join(character).await?;
        self.speakers.insert(name.to_owned(), id.clone());
        Ok(id)
    }

    /// Writes some turns of a day into the journal, by the event of `dormouse journal add`.
    pub(crate) async fn write_entries(&mut self, day: &[usize]) -> Result<(), LifeError> {
        let mut left = day.to_vec();
        let mut chosen: Vec<usize> = (0..ENTRIES.min(day.len()))
            .map(|_| left.swap_remove(self.seeded.place(left.len())))
            .collect();
        chosen.sort_unstable();
        // No entry has the time of a turn.
        self.clock.set(self.clock.now().plus(SECOND));
        for turn in chosen
            .iter()
            .filter_map(|place| self.conversation.turns.get(*place))
        {
            let state = self.state().await?;
            let settings = state.configuration.settings.journal_settings(&self.key);
            let new = NewEntry {
                source_entity: named_source(turn.speaker.as_deref()),
                ..NewEntry::new(turn.text.as_str(), SourceType::Direct)
            };
            let by = (Author::Operator(AUTHOR.to_owned()), AUTHOR);
            let book = &state.journal;
            let changed = book.write_for_operator(new, self.clock.now(), &settings, by)?;
            self.append(&state, &Event::JournalChanged(changed)).await?;
        }
        self.settle().await
    }

    /// Lets it sleep for a night, from an hour after the last thing that happened.
    pub(crate) async fn night(&mut self) -> Result<Night, LifeError> {
        self.clock.set(self.clock.now().plus(EVENING));
        let state = self.state().await?;
        let wish = SleepWish {
            author: Author::Operator(AUTHOR.to_owned()),
            until: Some(self.clock.now().plus(NIGHT)),
            reason: None,
        };
        let asleep = state.fall_asleep(self.clock.now(), wish)?;
        self.append(&state, &Event::FellAsleep(asleep)).await?;
        loop {
            let due = self.live().await?;
            let state = self.state().await?;
            let Some(until) = state.sleep.tonight().map(|night| night.until) else {
                let night = state.sleep.last_night().cloned();
                return night.ok_or(LifeError::NoNight);
            };
            self.clock.set(due.unwrap_or(until));
        }
    }

    /// Lets it do everything that it can do now.
    async fn settle(&mut self) -> Result<(), LifeError> {
        while self
            .live()
            .await?
            .is_some_and(|due| due <= self.clock.now())
        {}
        Ok(())
    }

    /// Lets it live until now. Returns when something is due next.
    async fn live(&mut self) -> Result<Option<Timestamp>, LifeError> {
        let due = Box::pin(self.host.live_through(&self.key)).await?;
        // The clock stands still, so what could not be done now would be retried forever at the same moment.
        let soon = self.clock.now().plus(SECOND);
        Ok(due.map(|due| due.max(soon)))
    }

    async fn append(&self, state: &State, event: &Event) -> Result<(), LifeError> {
        let request = AppendRequest {
            assistant: self.key.clone(),
            expected: state.seq,
            events: vec![event.encode(self.clock.now())?],
        };
        self.host.log().append(request).await?;
        Ok(())
    }

    pub(crate) async fn state(&self) -> Result<Box<State>, LifeError> {
        Ok(Box::new(
            Box::pin(restore(self.host.log(), &self.key)).await?,
        ))
    }

    pub(crate) fn conversation(&self) -> &'a Conversation {
        self.conversation
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The turns that were said, by time.
    pub(crate) fn said_at(&self) -> &BTreeMap<Timestamp, usize> {
        &self.said_at
    }

    /// Makes every decision again, as `dormouse log replay --decide` does, and says how many events there are.
    pub(crate) async fn decide_again(&self) -> Result<u64, LifeError> {
        let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
        let log = self.host.log();
        let again = Box::pin(decide_again(log, &self.key, Seq(u64::MAX), counter_for)).await?;
        Ok(again.events)
    }

    /// Its memory. The assistant must be at rest.
    pub(crate) async fn memory(&self) -> Result<Memory, LifeError> {
        let path = self.host.folder().memory(&self.key);
        Ok(self.opened().open_existing(path).await?)
    }

    /// A copy of its memory, so that changes do not reach the original. Keep the folder for as long as the memory is
    /// used.
    pub(crate) async fn copied_memory(&self) -> Result<(Memory, TempDir), LifeError> {
        let (path, folder) = (self.host.folder().memory(&self.key), tempfile::tempdir()?);
        let copy = folder.path().join("memory.redb");
        std::fs::copy(path, &copy)?;
        Ok((self.opened().open_existing(copy).await?, folder))
    }

    fn opened(&self) -> dormouse_memory::MemoryBuilder {
        let clock = Arc::clone(&self.clock);
        Memory::builder(self.key.clone(), move || clock.now())
    }

    pub(crate) async fn end(self) {
        self.host.close().await;
        drop(self.folder);
    }
}
