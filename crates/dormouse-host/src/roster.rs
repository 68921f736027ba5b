//! The assistants of a data folder: creating, cloning, tagging, archiving and looking them up. Each change is an event of the
//! assistant's log, so nothing here needs the assistant to be awake, or a model.

pub(crate) mod destination;
pub(crate) mod fork;

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, Author, Clock, EntityId,
    Habitat, IdError, Landmarks, LoadSnapshot, NewEvent, ReadError, ReadEvents, Rejection, Seq,
};
use dormouse_engine::{
    Archived, Beginning, Event, ReplayError, Roster, RosterChange, RosterChanged, State, Stopped,
    Tag, append_until_known, restore,
};
use dormouse_store::LogOpenError;
use dormouse_text::NameSkeleton;

use crate::{
    config::{Config, character_name},
    continuity::{ContinuityError, WorldContinuity, check_world},
    folder::DataError,
    host::OpenLog,
};

pub use destination::Destination;
pub use fork::fork;

/// An assistant to create in the folder.
#[derive(Clone, Debug)]
pub struct Newcomer {
    /// Its key.
    pub key: AssistantId,
    /// The name of its character; made from the key if absent.
    pub name: Option<String>,
    /// Who it is. If absent, a clone has the persona of the original.
    pub persona: Option<String>,
    /// Its tags. A clone also has those of the original, unless there are some here.
    pub tags: BTreeSet<Tag>,
}

impl Newcomer {
    fn character_name(&self) -> String {
        let made = || character_name(&self.key);
        self.name.clone().unwrap_or_else(made)
    }
}

/// Who changes something, and why.
#[derive(Clone, Debug)]
pub struct RosterDecision {
    /// Who.
    pub author: Author,
    /// Why, in words.
    pub reason: String,
}

/// An assistant of the folder, and what is wrong with it.
#[derive(Debug)]
pub struct LookedUp {
    /// Its key.
    pub key: AssistantId,
    /// Its state at the end of the log.
    pub state: State,
    /// The name of its character.
    pub name: String,
    /// The id of its character, if that is in the world.
    pub character: Option<EntityId>,
    /// What is wrong with it; empty if nothing is.
    pub wrong: Vec<Wrong>,
}

/// Something that is wrong with an assistant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// An operator archived it.
    #[error("archived by {} since {}: {}", .0.by, .0.at, .0.reason)]
    Archived(Archived),
    /// Its emergency stop is on.
    #[error("stopped since {}", .0.at)]
    Stopped(Stopped),
    /// The configuration switches it off, so it takes no ticks.
    #[error("switched off")]
    SwitchedOff,
    /// It was created and has not woken yet.
    #[error("has not woken yet")]
    NeverWoke,
    /// It has woken before, but not in this world.
    #[error("its character is not in this world")]
    NotInWorld,
    /// The world and its log do not belong together.
    #[error("{}", dormouse_text::error_chain(.0))]
    World(ContinuityError),
}

/// The assistants of a folder were not changed, or could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RosterError {
    /// The key is in use.
    #[error("there is an assistant {key} already; choose another key")]
    Taken {
        /// The key.
        key: AssistantId,
    },
    /// The configuration says who the assistant with this key is.
    #[error("the configuration describes {key} already; choose another key")]
    Configured {
        /// The key.
        key: AssistantId,
    },
    /// The log does not know it.
    #[error("there is no assistant {key}")]
    Unknown {
        /// The key.
        key: AssistantId,
    },
    /// The world does not allow the name.
    #[error("{name:?} cannot be the name of an assistant")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        source: Rejection,
    },
    /// People could confuse the name with the one of another assistant of the folder.
    #[error(
        "the name {name:?} is, or looks like, {other:?}, the name of the assistant {by}: the world lets only one of them in; choose \
         another name"
    )]
    NameInUse {
        /// The name.
        name: String,
        /// The other one.
        other: String,
        /// Who has that.
        by: AssistantId,
    },
    /// There is no event after which a fork can begin.
    #[error("{key} was never at rest up to event {at}: a fork begins where no turn is under way")]
    NoFork {
        /// The original.
        key: AssistantId,
        /// The last event that was asked for.
        at: Seq,
    },
    /// The key makes no valid id in the world.
    #[error("the key cannot be used in this world")]
    Id(#[from] IdError),
    /// The life of an assistant cannot be folded.
    #[error("the life of {key} cannot be read from the log")]
    Life {
        /// Whose.
        key: AssistantId,
        /// Why not.
        source: ReplayError,
    },
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// A life could not be copied into a file of its own.
    #[error("the life could not be copied")]
    NewLife(#[from] LogOpenError),
    /// What an earlier copy left could not be removed.
    #[error(transparent)]
    Folder(#[from] DataError),
    /// The event could not be appended to the log.
    #[error("the change could not be written to the log")]
    Append(#[from] AppendError),
    /// The event could not be encoded as JSON.
    #[error("the change could not be written to the log")]
    Encode(#[from] serde_json::Error),
}

/// The state of an assistant that the log knows.
pub(crate) async fn known<L: ReadEvents + LoadSnapshot>(
    log: &L,
    key: &AssistantId,
) -> Result<State, RosterError> {
    let state = restore(log, key)
        .await
        .map_err(|source| RosterError::Life {
            key: key.clone(),
            source,
        })?;
    match state.seq {
        Seq::ZERO => Err(RosterError::Unknown { key: key.clone() }),
        _ => Ok(state),
    }
}

/// The names of assistants by their keys. A name stays the same as long as the program runs.
pub type KnownNames = BTreeMap<AssistantId, String>;

/// Refuses a newcomer whose name people could confuse with the one of another assistant of the folder, archived or not. `keys` are
/// those that the log knows; the lives of those whose names are not known yet are read, and their names are added.
///
/// # Errors
///
/// [`RosterError::NameInUse`].
pub async fn check_name_is_free<L: ReadEvents + LoadSnapshot>(
    log: &L,
    keys: Vec<(AssistantId, Seq)>,
    (config, names): (&Config, &mut KnownNames),
    newcomer: &Newcomer,
) -> Result<(), RosterError> {
    let name = newcomer.character_name();
    let skeleton = NameSkeleton::of(&name);
    let is_taken = |other: &str| NameSkeleton::of(other).is_confusable_with(&skeleton);
    names.insert(config.assistant.key(), config.assistant.name());
    for (key, _) in keys {
        if names.contains_key(&key) {
            continue;
        }
        // The name of one whose life cannot be read is not known.
        if let Ok(state) = known(log, &key).await {
            let name = config.read_for(&key, &state).0.assistant.name();
            names.insert(key, name);
        }
    }
    let mut others = names.iter();
    match others.find(|(by, other)| **by != newcomer.key && is_taken(other)) {
        Some((by, other)) => Err(RosterError::NameInUse {
            name,
            other: other.clone(),
            by: by.clone(),
        }),
        None => Ok(()),
    }
}

/// Creates an assistant in a world with these landmarks. It wakes for the first time when the host next takes it in.
///
/// # Errors
///
/// [`RosterError`]; nothing was written.
pub async fn create<L: Append + ReadEvents + LoadSnapshot>(
    log: &L,
    clock: &dyn Clock,
    config: (&Config, &Landmarks),
    newcomer: Newcomer,
    decision: RosterDecision,
) -> Result<(), RosterError> {
    let name = newcomer.character_name();
    let Newcomer {
        key, persona, tags, ..
    } = newcomer;
    let beginning = Beginning {
        name,
        persona,
        settings: None,
        clone_of: None,
    };
    begin(log, clock, config, key, (beginning, tags), decision).await
}

/// Creates an assistant in a world with these landmarks, with the persona, notices and tags of another one, but not with its
/// memories. The original is read from the log, so it is neither woken nor disturbed.
///
/// # Errors
///
/// [`RosterError`]; nothing was written.
pub async fn clone_of<L: Append + ReadEvents + LoadSnapshot>(
    log: &L,
    clock: &dyn Clock,
    config: (&Config, &Landmarks),
    (from, newcomer): (&AssistantId, Newcomer),
    decision: RosterDecision,
) -> Result<(), RosterError> {
    let name = newcomer.character_name();
    let Newcomer {
        key, persona, tags, ..
    } = newcomer;
    let state = known(log, from).await?;
    let (lived, began) = (&state.configuration, state.roster.beginning.as_deref());
    let has_woken = !lived.persona.is_empty();
    let settings = match has_woken {
        true => Some(lived.settings.clone()),
        false => began.and_then(|began| began.settings.clone()),
    };
    let same = match has_woken {
        true => Some(lived.persona.clone()),
        false => began.and_then(|began| began.persona.clone()),
    };
    let beginning = Beginning {
        name,
        persona: persona.or(same),
        settings,
        clone_of: Some((from.clone(), state.seq)),
    };
    let tags = match tags.is_empty() {
        true => state.roster.tags,
        false => tags,
    };
    begin(log, clock, config, key, (beginning, tags), decision).await
}

async fn begin<L: Append + ReadEvents + LoadSnapshot>(
    log: &L,
    clock: &dyn Clock,
    config: (&Config, &Landmarks),
    key: AssistantId,
    (beginning, tags): (Beginning, BTreeSet<Tag>),
    decision: RosterDecision,
) -> Result<(), RosterError> {
    let name = beginning.name.clone();
    let created = RosterChange::Created(Box::new(beginning));
    let tagged = (!tags.is_empty()).then_some(RosterChange::Tagged(tags));
    let changes = std::iter::once(created).chain(tagged);
    let now = clock.now();
    let events = changes.map(|it| decision.clone().event(it).encode(now));
    let events = events.collect::<Result<_, _>>()?;
    append_first(log, config, (key, name), events).await
}

/// Writes the first events of an assistant with this key and this name.
async fn append_first<L: Append>(
    log: &L,
    (config, world): (&Config, &Landmarks),
    (key, name): (AssistantId, String),
    events: Vec<NewEvent>,
) -> Result<(), RosterError> {
    if config.assistant.key() == key {
        return Err(RosterError::Configured { key });
    }
    if let Err(source) = world.check_name(&name) {
        return Err(RosterError::Name { name, source });
    }
    let request = AppendRequest {
        assistant: key.clone(),
        expected: Seq::ZERO,
        events,
    };
    match append_until_known(log, request).await {
        Err(error) if matches!(error.kind(), AppendErrorKind::Conflict { .. }) => {
            Err(RosterError::Taken { key })
        }
        appended => Ok(appended.map(drop)?),
    }
}

/// Tags, archives or restores an assistant, and returns the event; `None` if nothing would change.
///
/// # Errors
///
/// [`RosterError`]; nothing was written.
pub async fn change(
    log: &OpenLog,
    clock: &dyn Clock,
    key: &AssistantId,
    change: RosterChange,
    decision: RosterDecision,
) -> Result<Option<Seq>, RosterError> {
    let decide =
        |state: &State| Ok::<_, RosterError>(decision.events(&state.roster, [change.clone()]));
    let decided = log.change(key, clock, decide).await?;
    Ok(decided.last())
}

impl RosterDecision {
    /// The events of those changes that have an effect.
    #[must_use]
    pub fn events(
        &self,
        roster: &Roster,
        changes: impl IntoIterator<Item = RosterChange>,
    ) -> Vec<Event> {
        let changes = changes.into_iter();
        let effective = changes.filter(|change| roster.has_effect(change));
        effective.map(|it| self.clone().event(it)).collect()
    }

    fn event(self, change: RosterChange) -> Event {
        let Self { author, reason } = self;
        Event::RosterChanged(RosterChanged {
            change,
            author,
            reason,
        })
    }
}

/// Looks up an assistant with everything that is wrong with it. Its name, and whether it is switched on, are as they would be if
/// it woke now: the configuration with the operators' changes. Only reads.
///
/// # Errors
///
/// [`RosterError::Unknown`], or [`RosterError::Life`].
pub async fn look_up<L: ReadEvents + LoadSnapshot>(
    log: &L,
    world: Option<&dyn Habitat>,
    config: &Config,
    key: &AssistantId,
) -> Result<LookedUp, RosterError> {
    let state = known(log, key).await?;
    Ok(look_at(world, config, key, state).await)
}

/// The same for an assistant in this state.
pub(crate) async fn look_at(
    world: Option<&dyn Habitat>,
    config: &Config,
    key: &AssistantId,
    state: State,
) -> LookedUp {
    let assistant = config.read_for(key, &state).0.assistant;
    let has_woken = !state.configuration.persona.is_empty();
    let mut wrong = Vec::new();
    if let Some(archived) = &state.roster.archived {
        wrong.push(Wrong::Archived(archived.clone()));
    }
    if let Some(stopped) = state.stop.stopped() {
        wrong.push(Wrong::Stopped(stopped.clone()));
    }
    if has_woken && !assistant.enabled {
        wrong.push(Wrong::SwitchedOff);
    }
    if !has_woken && state.delivered.is_empty() {
        wrong.push(Wrong::NeverWoke);
    }
    let mut character = None;
    if let Some(world) = world {
        match check_world(world, key, &state).await {
            Ok(WorldContinuity::Acquainted) => character = world.character(key).ok(),
            Ok(WorldContinuity::NotMet) if has_woken => wrong.push(Wrong::NotInWorld),
            Ok(WorldContinuity::NotMet) => {}
            Err(error) => wrong.push(Wrong::World(error)),
        }
    }
    LookedUp {
        name: assistant.name(),
        key: key.clone(),
        state,
        character,
        wrong,
    }
}
