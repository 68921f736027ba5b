//! Where a life goes on that was lived elsewhere, or by another assistant.

use std::{collections::BTreeSet, fmt, mem, path::PathBuf};

use dormouse_contracts::{
    Append, AppendErrorKind, AppendRequest, AssistantId, Clock, EntityId, IdError, Landmarks,
    NewEvent, Seq, StoredEvent, WorldId,
};
use dormouse_engine::{Beginning, Configured, Event, RosterChange, SettingChanged, State, Tag};
use dormouse_store::RedbLog;
use serde_json::Value;

use super::{RosterDecision, RosterError};
use crate::{
    config::Config,
    folder::{DataFolder, remove_life},
};

/// The world of everything that was heard before a fork, or before an import into the same world. The assistant itself has heard
/// nothing in any world, and the numbers of what it hears begin at 1.
pub(crate) const BEFORE: &str = "before-the-fork";

/// Events are stored together up to this number.
const BATCH: usize = 1_024;

/// Events are stored together up to this size, in bytes.
const BATCH_BYTES: usize = 4 << 20;

/// Where a life goes on.
#[derive(Clone)]
pub struct Destination<'a> {
    /// The log that it becomes part of.
    pub log: &'a RedbLog,
    /// The folder of the log.
    pub folder: &'a DataFolder,
    /// The configuration of that folder.
    pub config: &'a Config,
    /// What the names of the world are.
    pub landmarks: Landmarks,
    /// The worlds of the folder. What the life has heard in one of them, its assistant has not.
    pub worlds: Vec<WorldId>,
    /// The id of an assistant's character.
    pub character: &'a (dyn Fn(&AssistantId) -> Result<EntityId, IdError> + Send + Sync),
    /// Whether the configured assistant may be this one. It may not where it could wake meanwhile.
    pub takes_configured: bool,
    /// The time.
    pub clock: &'a dyn Clock,
}

impl fmt::Debug for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("folder", &self.folder)
            .field("worlds", &self.worlds)
            .finish_non_exhaustive()
    }
}

/// What changes when a life goes on under another key, or in another place.
#[derive(Debug)]
pub(crate) struct Renamed {
    /// Its character, before and from now on, as they are quoted in an event.
    characters: Option<(String, String)>,
    /// Worlds that it was in, as they are quoted in an event.
    worlds: Vec<String>,
}

/// Who an assistant is that goes on with a life.
#[derive(Debug)]
pub(crate) struct Heir {
    pub(crate) key: AssistantId,
    pub(crate) name: String,
    /// If absent, that of the life.
    pub(crate) persona: Option<String>,
    /// If there are none, those of the life.
    pub(crate) tags: BTreeSet<Tag>,
    /// The original, if it lives in the same folder.
    pub(crate) clone_of: Option<(AssistantId, Seq)>,
}

impl Destination<'_> {
    /// Refuses a key that an assistant here has, and a name that the world does not allow.
    pub(crate) fn check(&self, key: &AssistantId, name: &str) -> Result<(), RosterError> {
        self.check_key(key)?;
        let allowed = self.landmarks.check_name(name);
        allowed.map_err(|source| RosterError::Name {
            name: name.to_owned(),
            source,
        })
    }

    pub(crate) fn check_key(&self, key: &AssistantId) -> Result<(), RosterError> {
        let key = || key.clone();
        if self.log.end_of(&key())? != Seq::ZERO {
            return Err(RosterError::Taken { key: key() });
        }
        match self.is_configured(&key()) && !self.takes_configured {
            true => Err(RosterError::Configured { key: key() }),
            false => Ok(()),
        }
    }

    /// Whether the configuration of the folder describes the assistant with this key.
    pub(crate) fn is_configured(&self, key: &AssistantId) -> bool {
        self.config.assistant.key() == *key
    }

    /// What changes in a life whose character had this id.
    pub(crate) fn renamed(
        &self,
        character: &EntityId,
        heir: &AssistantId,
    ) -> Result<Renamed, RosterError> {
        let new = (self.character)(heir)?;
        let characters =
            (new != *character).then(|| (quoted(character.as_str()), quoted(new.as_str())));
        let worlds = self.worlds.iter().map(|world| quoted(world.as_str()));
        Ok(Renamed {
            characters,
            worlds: worlds.collect(),
        })
    }

    /// The events that follow a copied life which ends in this state: who goes on with it. The assistant begins switched off, because
    /// it has the promises and goals of the life.
    pub(crate) fn first_events(
        &self,
        state: &State,
        heir: Heir,
        decision: &RosterDecision,
    ) -> Result<Vec<NewEvent>, RosterError> {
        let Heir {
            key,
            name,
            persona,
            tags,
            clone_of,
        } = heir;
        let mut settings = state.configuration.settings.clone();
        settings.name = Some(name.clone());
        let began = state.roster.beginning.as_deref();
        let has_woken = !state.configuration.persona.is_empty();
        let lived = match has_woken {
            true => Some(state.configuration.persona.clone()),
            false => began.and_then(|began| began.persona.clone()),
        };
        let persona = persona.or(lived);
        let created = RosterChange::Created(Box::new(Beginning {
            name,
            persona: persona.clone(),
            settings: match has_woken {
                true => Some(settings.clone()),
                false => began.and_then(|began| began.settings.clone()),
            },
            clone_of,
        }));
        let tagged = (!tags.is_empty()).then_some(RosterChange::Tagged(tags));
        let restored = state.roster.archived.as_ref();
        let restored = restored.map(|_| RosterChange::Restored);
        let changes = std::iter::once(created).chain(tagged).chain(restored);
        let mut events: Vec<_> = changes.map(|it| decision.clone().event(it)).collect();
        // A life that has woken takes its name and persona from its configuration.
        if has_woken {
            events.push(Event::Configured(Configured {
                persona: persona.clone(),
                settings: Some(Box::new(settings)),
                ..Configured::default()
            }));
        }
        let by = decision.author.to_string();
        // The configuration says who its assistant is, unless an operator says otherwise.
        if self.is_configured(&key)
            && let Some(persona) = persona
        {
            events.push(set(state, "assistant.persona", Value::from(persona), &by));
        }
        events.push(set(state, "assistant.enabled", Value::Bool(false), &by));
        let now = self.clock.now();
        let events = events.iter().map(|event| event.encode(now));
        Ok(events.collect::<Result<_, _>>()?)
    }
}

impl Renamed {
    /// The event as its heir has it: what was heard in a world of the folder was in no world that the heir knows, and the character
    /// is the heir's.
    pub(crate) fn copied(&self, stored: &StoredEvent, kind: &'static str) -> NewEvent {
        let mut payload = String::from_utf8_lossy(&stored.payload);
        if let Some((from, to)) = &self.characters {
            payload = payload.replace(from, to).into();
        }
        if kind == "perceived" {
            for world in &self.worlds {
                payload = payload.replace(world, &quoted(BEFORE)).into();
            }
        }
        NewEvent {
            at: stored.at,
            kind,
            schema: stored.schema,
            payload: payload.into_owned().into_bytes(),
        }
    }
}

/// A whole text as it is in JSON. A quotation mark within a longer text is written with a backslash, so only whole texts are found.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn set(state: &State, setting: &str, new: Value, by: &str) -> Event {
    let old = state.changed_settings.get(setting);
    Event::SettingChanged(SettingChanged {
        setting: setting.to_owned(),
        old: old.map(|changed| changed.value.clone()),
        new: Some(new),
        by: by.to_owned(),
    })
}

/// A life that is being copied. It is in a file of its own until it is complete, so a life of any length takes bounded memory, and
/// nobody sees a part of it. The file is removed when this is dropped, or, after a kill, when the folder is next opened.
#[derive(Debug)]
pub(crate) struct NewLife {
    log: RedbLog,
    key: AssistantId,
    end: Seq,
    waiting: Vec<NewEvent>,
    waiting_bytes: usize,
    /// Dropped last, when the file is closed.
    _file: NewLifeFile,
}

#[derive(Debug)]
struct NewLifeFile(PathBuf);

impl Drop for NewLifeFile {
    fn drop(&mut self) {
        if let Err(error) = remove_life(&self.0) {
            tracing::warn!(error = %dormouse_text::error_chain(&error), "a copied life is left behind");
        }
    }
}

impl NewLife {
    /// Begins with an empty life.
    pub(crate) fn begin(folder: &DataFolder, key: &AssistantId) -> Result<Self, RosterError> {
        let path = folder.life_being_made(key);
        remove_life(&path)?;
        let file = NewLifeFile(path);
        Ok(Self {
            log: RedbLog::open(&file.0)?,
            key: key.clone(),
            end: Seq::ZERO,
            waiting: Vec::new(),
            waiting_bytes: 0,
            _file: file,
        })
    }

    /// Adds an event at the end.
    pub(crate) async fn push(&mut self, event: NewEvent) -> Result<(), RosterError> {
        self.waiting_bytes += event.payload.len();
        self.waiting.push(event);
        match self.waiting.len() < BATCH && self.waiting_bytes < BATCH_BYTES {
            true => Ok(()),
            false => self.store().await,
        }
    }

    async fn store(&mut self) -> Result<(), RosterError> {
        self.waiting_bytes = 0;
        let request = AppendRequest {
            assistant: self.key.clone(),
            expected: self.end,
            events: mem::take(&mut self.waiting),
        };
        self.end = self.log.append(request).await?;
        Ok(())
    }

    /// Makes the life part of this log: all of it, or nothing.
    pub(crate) async fn move_to(mut self, log: &RedbLog) -> Result<Seq, RosterError> {
        self.store().await?;
        match log.adopt(&self.log, &self.key).await {
            Err(error) if matches!(error.kind(), AppendErrorKind::Conflict { .. }) => {
                let key = self.key.clone();
                Err(RosterError::Taken { key })
            }
            adopted => Ok(adopted?),
        }
    }
}
