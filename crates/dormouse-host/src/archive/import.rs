//! Making an assistant of a file.

use std::{collections::BTreeSet, pin::pin};

use dormouse_contracts::{AssistantId, BoxError, StoredEvent};
use dormouse_engine::{ConfiguredModel, DecodeError, Event, STATE_SCHEMA, State, acts_left_behind};
use dormouse_providers::token_counter_for;
use dormouse_store::MAX_PAYLOAD_BYTES;
use dormouse_tools::RegistryError;
use futures_util::{Stream, StreamExt};
use sha2::{Digest, Sha256};

use super::{
    AnyHeader, FORMAT, Header, KIND, LINE, Trailer, before_checksum, event_in, hexadecimal,
};
use crate::{
    config::character_name,
    roster::{
        self, Destination, KnownNames, Newcomer, RosterDecision, RosterError,
        destination::{Heir, NewLife, Renamed},
    },
};

/// The longest line of a file, in bytes.
const LONGEST: usize = MAX_PAYLOAD_BYTES + LINE;

/// What an imported life becomes.
#[derive(Clone, Debug, Default)]
pub struct LifeWish {
    /// The key of the assistant; that of the file if absent.
    pub key: Option<AssistantId>,
    /// The name of its character; that of the life if absent.
    pub name: Option<String>,
}

/// A life that was imported.
#[derive(Clone, Debug)]
pub struct ImportedLife {
    /// The assistant that goes on with it.
    pub key: AssistantId,
    /// Whose life it was.
    pub original: AssistantId,
    /// How many events it has from the file.
    pub events: u64,
    /// The hash of the state that these events fold to.
    pub state: String,
    /// Whether the file names the same hash. It does not if another version of the program wrote it, whose states look otherwise:
    /// then only the checksum of its events was compared.
    pub is_same_state: bool,
}

/// A life was not imported. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LifeImportError {
    /// The file is empty, or something else.
    #[error(
        "this is not an archive of a life: its first line does not say so. `dormouse assistant export` writes one"
    )]
    NotALife,
    /// A newer program wrote the file.
    #[error(
        "the archive has format {found}, and this version reads up to {FORMAT}: use the program that wrote it"
    )]
    Newer {
        /// The format of the file.
        found: u32,
    },
    /// A line is not what it has to be.
    #[error("line {line} of the archive is damaged: expected {expected}")]
    Line {
        /// Which line, from 1.
        line: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// The file ends before its last line.
    #[error(
        "the archive was cut off after event {events}: its last line is missing. Export it again, or copy it again"
    )]
    CutOff {
        /// How many events were read.
        events: u64,
    },
    /// Something follows the last line.
    #[error("the archive is damaged: something follows its last line")]
    Behind,
    /// The checksum differs.
    #[error("the archive is damaged: its content does not have the checksum in its last line")]
    Checksum,
    /// The events fold to another state.
    #[error(
        "the archive is damaged: its {events} events fold to another state than its last line says"
    )]
    State {
        /// How many events it has.
        events: u64,
    },
    /// An event cannot be understood.
    #[error("the archive cannot be understood")]
    Decode(#[from] DecodeError),
    /// The tools that the life was lived with cannot be used.
    #[error("the tools in the archive cannot be used")]
    Tools(#[from] RegistryError),
    /// The file could not be read.
    #[error("the archive could not be read")]
    Read(#[source] BoxError),
    /// The assistant cannot be created.
    #[error(transparent)]
    Roster(#[from] RosterError),
}

impl From<serde_json::Error> for LifeImportError {
    fn from(error: serde_json::Error) -> Self {
        RosterError::from(error).into()
    }
}

/// Creates an assistant that goes on with the life in a file, whose bytes come in parts of any size. Everything is checked first:
/// each event is understood, none is missing, and together they fold to the state of the original. Then all of them are written at
/// once, with the events that say who goes on. The assistant begins switched off. An act that was under way is settled as unknown,
/// because nobody here knows what became of it; messages that waited still wait.
///
/// Reads the file once, and takes bounded memory for a life of any length.
///
/// # Errors
///
/// [`LifeImportError`]; nothing was written.
pub async fn import<B: AsRef<[u8]>>(
    to: &Destination<'_>,
    wish: LifeWish,
    decision: RosterDecision,
    names: &mut KnownNames,
    file: impl Stream<Item = Result<B, BoxError>>,
) -> Result<ImportedLife, LifeImportError> {
    if let Some(key) = &wish.key {
        // A life may be large: it is not read for nothing.
        to.check_key(key)?;
    }
    let mut arriving = Arriving::default();
    let mut file = pin!(file);
    while let Some(part) = file.next().await {
        let part = part.map_err(LifeImportError::Read)?;
        for piece in part.as_ref().split_inclusive(|byte| *byte == b'\n') {
            arriving.take(to, &wish, piece).await?;
        }
    }
    let (life, state) = arriving.checked()?;
    let imported = ImportedLife {
        key: life.heir.clone(),
        original: life.header.key,
        events: life.before.seq.0,
        is_same_state: state.is_same,
        state: state.hash,
    };
    let (mut copy, after, heir) = (life.copy, life.after, life.heir);
    let lived_as = after.configuration.settings.name.as_ref();
    let began_as = after.roster.beginning.as_ref().map(|began| &began.name);
    let name = match to.is_configured(&heir) {
        true => to.config.assistant.name(),
        false => (wish.name.as_ref().or(lived_as).or(began_as))
            .map_or_else(|| character_name(&imported.original), Clone::clone),
    };
    to.check(&heir, &name)?;
    let newcomer = Newcomer {
        key: heir.clone(),
        name: Some(name.clone()),
        persona: None,
        tags: BTreeSet::new(),
    };
    let known = to.log.assistants().map_err(RosterError::from)?;
    roster::check_name_is_free(to.log, known, (to.config, names), &newcomer).await?;
    let counter = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
    let now = to.clock.now();
    for event in acts_left_behind(&heir, &after, counter)? {
        copy.push(event.encode(now)?).await?;
    }
    let heir = Heir {
        key: heir,
        name,
        persona: None,
        tags: BTreeSet::new(),
        clone_of: None,
    };
    for event in to.first_events(&after, heir, &decision)? {
        copy.push(event).await?;
    }
    copy.move_to(to.log).await?;
    Ok(imported)
}

/// A file that is being read.
#[derive(Default)]
struct Arriving {
    /// The part of a line that was read so far.
    line: Vec<u8>,
    lines: u64,
    digest: Sha256,
    life: Option<Life>,
    trailer: Option<Trailer>,
}

/// The life in a file, as far as it was read.
struct Life {
    header: Header,
    heir: AssistantId,
    renamed: Renamed,
    copy: NewLife,
    /// What the events of the file fold to.
    before: Box<State>,
    /// What they fold to as they are copied.
    after: Box<State>,
}

/// A state that was compared with the one in a file.
struct CheckedState {
    hash: String,
    is_same: bool,
}

impl Arriving {
    /// Takes a line, or a part of one.
    async fn take(
        &mut self,
        to: &Destination<'_>,
        wish: &LifeWish,
        piece: &[u8],
    ) -> Result<(), LifeImportError> {
        let is_first = self.life.is_none();
        // A file of another kind may be one endless line.
        let longest = if is_first { LINE } else { LONGEST };
        if self.line.len() + piece.len() > longest {
            return Err(match is_first {
                true => LifeImportError::NotALife,
                false => self.wrong("a shorter line"),
            });
        }
        self.line.extend_from_slice(piece);
        if self.line.last() != Some(&b'\n') {
            return Ok(());
        }
        self.lines += 1;
        if self.trailer.is_some() {
            return Err(LifeImportError::Behind);
        }
        let bytes = std::mem::take(&mut self.line);
        let Some(life) = &mut self.life else {
            self.life = Some(Life::begin(to, wish, &bytes)?);
            self.digest.update(&bytes);
            return Ok(());
        };
        let text = std::str::from_utf8(&bytes).ok();
        let text = text.and_then(|text| text.strip_suffix('\n'));
        let event = text.and_then(event_in);
        let expected = life.before.seq.next();
        match event {
            Some(stored) if stored.seq == expected => {
                self.digest.update(&bytes);
                let event = Event::decode(&stored)?;
                life.before.apply(stored.seq, stored.at, &event);
                let copied = life.renamed.copied(&stored, event.kind());
                let as_copied = match copied.payload == stored.payload {
                    true => event,
                    false => Event::decode(&StoredEvent {
                        payload: copied.payload.clone(),
                        ..stored
                    })?,
                };
                life.after.apply(expected, copied.at, &as_copied);
                Ok(life.copy.push(copied).await?)
            }
            Some(_) => Err(self.wrong("the event behind the one before")),
            None => {
                let trailer = text.and_then(|text| serde_json::from_str(text).ok());
                self.trailer = trailer;
                match self.trailer {
                    Some(_) => {
                        self.digest.update(before_checksum(&bytes));
                        Ok(())
                    }
                    None => Err(self.wrong("an event, or the last line of an archive")),
                }
            }
        }
    }

    fn wrong(&self, expected: &'static str) -> LifeImportError {
        let line = self.lines;
        LifeImportError::Line { line, expected }
    }

    /// The life, if the whole file was read and nothing of it is wrong.
    fn checked(self) -> Result<(Life, CheckedState), LifeImportError> {
        let life = self.life.ok_or(LifeImportError::NotALife)?;
        let events = life.before.seq.0;
        let trailer = self.trailer.ok_or(LifeImportError::CutOff { events })?;
        if !self.line.is_empty() {
            return Err(LifeImportError::Behind);
        }
        if trailer.sha256 != hexadecimal(self.digest) {
            return Err(LifeImportError::Checksum);
        }
        let hash = life.before.hash()?;
        let is_same = trailer.state == hash;
        if trailer.end != events || (trailer.state_schema == STATE_SCHEMA && !is_same) {
            return Err(LifeImportError::State { events });
        }
        Ok((life, CheckedState { hash, is_same }))
    }
}

impl Life {
    fn begin(to: &Destination<'_>, wish: &LifeWish, line: &[u8]) -> Result<Self, LifeImportError> {
        let any: AnyHeader =
            serde_json::from_slice(line).map_err(|_other| LifeImportError::NotALife)?;
        if any.dormouse != KIND {
            return Err(LifeImportError::NotALife);
        }
        if any.format > FORMAT {
            return Err(LifeImportError::Newer { found: any.format });
        }
        let header: Header =
            serde_json::from_slice(line).map_err(|_damaged| LifeImportError::Line {
                line: 1,
                expected: "the first line of an archive of format 1",
            })?;
        let heir = wish.key.clone().unwrap_or_else(|| header.key.clone());
        to.check_key(&heir)?;
        Ok(Self {
            renamed: to.renamed(&header.character, &heir)?,
            copy: NewLife::begin(to.folder, &heir)?,
            header,
            heir,
            before: Box::default(),
            after: Box::default(),
        })
    }
}
