//! Writing a life as a file.

use std::{collections::VecDeque, fmt};

use dormouse_contracts::{AssistantId, EntityId, IdError, ReadError, ReadEvents, Seq, Timestamp};
use dormouse_engine::{DecodeError, Event, STATE_SCHEMA, State};
use sha2::{Digest, Sha256};

use super::{FORMAT, Header, KIND, Trailer, event_line, json_line, trailer_line};

/// How many events are read at a time.
const PAGE: usize = 256;

/// The program that writes a file.
const PROGRAM: &str = concat!("dormouse-host ", env!("CARGO_PKG_VERSION"));

/// A life could not be exported. What was written of the file so far has no last line, so nobody takes it for a whole one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LifeExportError {
    /// The log has no such assistant.
    #[error("there is no assistant {0}")]
    Unknown(AssistantId),
    /// The key makes no valid id in the world.
    #[error("the key cannot be used in this world")]
    Id(#[from] IdError),
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The log holds an event that this program cannot read.
    #[error("the log cannot be understood")]
    Decode(#[from] DecodeError),
    /// The data of an event have several lines.
    #[error(
        "event {0} cannot be exported: its data have several lines, which no version of this program writes"
    )]
    Lines(Seq),
    /// Something cannot be written as JSON.
    #[error("the life could not be written as JSON")]
    Json(#[from] serde_json::Error),
}

/// A life that is being exported, part by part: its log up to the moment at which the export began. Each part is made when it is
/// asked for, so a life of any length takes bounded memory. The assistant is neither woken nor disturbed.
pub struct LifeExport<L> {
    log: L,
    key: AssistantId,
    end: Seq,
    state: Box<State>,
    digest: Sha256,
    ready: VecDeque<Vec<u8>>,
    is_over: bool,
}

impl<L> fmt::Debug for LifeExport<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LifeExport")
            .field("key", &self.key)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl<L: ReadEvents> LifeExport<L> {
    /// Begins to export the life of an assistant whose log ends at `end`, and whose character has this id.
    ///
    /// # Errors
    ///
    /// [`LifeExportError::Unknown`] if there is nothing in the log.
    pub fn begin(
        log: L,
        (key, end): (AssistantId, Seq),
        character: EntityId,
        now: Timestamp,
    ) -> Result<Self, LifeExportError> {
        if end == Seq::ZERO {
            return Err(LifeExportError::Unknown(key));
        }
        let header = json_line(&Header {
            dormouse: KIND.to_owned(),
            format: FORMAT,
            program: PROGRAM.to_owned(),
            key: key.clone(),
            character,
            exported_at: now,
            events: end.0,
        })?;
        Ok(Self {
            log,
            key,
            end,
            state: Box::default(),
            digest: Sha256::new_with_prefix(&header),
            ready: VecDeque::from([header]),
            is_over: false,
        })
    }

    /// How many events the life has.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.end.0
    }

    /// The next part of the file; `None` if that was the last one.
    ///
    /// # Errors
    ///
    /// [`LifeExportError`]; nothing follows.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, LifeExportError> {
        if let Some(part) = self.ready.pop_front() {
            return Ok(Some(part));
        }
        if self.is_over {
            return Ok(None);
        }
        // After an error, nothing follows.
        self.is_over = true;
        let page = match self.state.seq < self.end {
            true => self.log.read(&self.key, self.state.seq, PAGE).await?,
            false => Vec::new(),
        };
        let mut part = Vec::new();
        for stored in page.iter().take_while(|stored| stored.seq <= self.end) {
            if stored.payload.contains(&b'\n') {
                return Err(LifeExportError::Lines(stored.seq));
            }
            self.state
                .apply(stored.seq, stored.at, &Event::decode(stored)?);
            part.extend(event_line(stored)?);
        }
        self.digest.update(&part);
        if part.is_empty() {
            let trailer = Trailer {
                end: self.state.seq.0,
                state: self.state.hash()?,
                state_schema: STATE_SCHEMA,
                sha256: String::new(),
            };
            return Ok(Some(trailer_line(trailer, self.digest.clone())?));
        }
        self.is_over = false;
        Ok(Some(part))
    }
}
