//! Finds events in a damaged file by their frames alone.
//!
//! redb moves records and leaves old copies behind, so the same event can be found several times. A transaction that
//! never finished may have left events that were never committed. If two different events claim the same position, the
//! file's tables decide between them. If the tables cannot decide, neither event is used.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use dormouse_contracts::{AssistantId, Seq, invariant};
use dormouse_database::open_damaged;
use redb::ReadTransaction;

use crate::{
    fault::{Fault, contained},
    frame::{self, HEADER_BYTES, Magic},
    rows::{EVENTS, MAX_EVENT_BYTES, OwnedEvent, decode_event, key},
    signature::LOG_FILE,
    wal::write_ahead_file,
};

/// How much of the file is searched at a time, so that memory does not grow with the file.
const WINDOW_BYTES: usize = 1024 * 1024;
/// The number of bytes at the start of a frame that contain its length.
const PEEK_BYTES: usize = 12;

/// How many different events for one position are remembered. A real file rarely has two; a malicious file could have
/// millions.
const MOST_CLAIMS: usize = 16;

/// Where an intact event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventLocation {
    pub(crate) file: LogPart,
    pub(crate) offset: u64,
    pub(crate) length: usize,
    checksum: u32,
}

/// A file with events of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogPart {
    Log,
    WriteAhead,
}

/// The different events that claim one position; at least one.
#[derive(Clone, Debug)]
struct Claims {
    first: EventLocation,
    others: Vec<EventLocation>,
}

/// The events found in a file.
#[derive(Debug, Default)]
pub(crate) struct FoundEvents {
    assistants: BTreeMap<AssistantId, BTreeMap<Seq, Claims>>,
}

/// How much of one assistant's log can still be read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Readable {
    /// The assistant.
    pub assistant: AssistantId,
    /// How many events can be read, from the first one without a gap.
    pub events: u64,
    /// Why no more can be read.
    pub stop: Stop,
}

/// Why reading a damaged log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// No later event was found, although one may have existed.
    End,
    /// The next event was not found, but later ones were.
    Gap,
    /// Two different events claim the next position, and neither is used.
    Contested,
}

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} events", self.assistant, self.events)?;
        match self.stop {
            Stop::End => Ok(()),
            Stop::Gap => f.write_str(" (then one is lost)"),
            Stop::Contested => f.write_str(" (then two different ones claim the same position)"),
        }
    }
}

impl EventLocation {
    /// The length and the checksum of the event. They are equal for copies of one event.
    fn content(&self) -> (usize, u32) {
        (self.length, self.checksum)
    }
}

impl Claims {
    fn of(first: EventLocation) -> Self {
        let others = Vec::new();
        Self { first, others }
    }

    fn add(&mut self, location: EventLocation) {
        let is_known = std::iter::once(&self.first)
            .chain(&self.others)
            .any(|one| one.content() == location.content());
        if !is_known && self.others.len() < MOST_CLAIMS {
            self.others.push(location);
        }
    }

    fn is_contested(&self) -> bool {
        !self.others.is_empty()
    }
}

impl FoundEvents {
    fn add(&mut self, found: OwnedEvent, location: EventLocation) {
        let claims = self.assistants.entry(found.assistant).or_default();
        match claims.entry(found.event.seq) {
            Entry::Vacant(position) => {
                position.insert(Claims::of(location));
            }
            Entry::Occupied(mut position) => position.get_mut().add(location),
        }
    }

    /// The positions that different events claim.
    fn contested(&self) -> Vec<(AssistantId, Seq)> {
        let mut positions = Vec::new();
        for (assistant, claims) in &self.assistants {
            for (seq, claims) in claims {
                if claims.is_contested() {
                    positions.push((assistant.clone(), *seq));
                }
            }
        }
        positions
    }

    /// Resolves a contested position in favour of the event with these bytes, if the scan found that event.
    fn believe(&mut self, assistant: &AssistantId, seq: Seq, event: &[u8]) {
        let claims = self.assistants.get_mut(assistant);
        if let Some(claims) = claims.and_then(|claims| claims.get_mut(&seq)) {
            let believed = (event.len(), crc32fast::hash(event));
            let mut all = std::iter::once(claims.first).chain(claims.others.iter().copied());
            if let Some(first) = all.find(|one| one.content() == believed) {
                *claims = Claims::of(first);
            }
        }
    }

    /// How much can be read of each assistant's log.
    pub(crate) fn readable(&self) -> Vec<Readable> {
        self.assistants
            .iter()
            .map(|(assistant, claims)| {
                let (prefix, stop) = prefix(claims);
                Readable {
                    assistant: assistant.clone(),
                    events: to_u64(prefix.len()),
                    stop,
                }
            })
            .collect()
    }

    /// Where the readable events of an assistant are, in order from the first; none for an unknown assistant.
    pub(crate) fn prefix(&self, assistant: &AssistantId) -> Vec<EventLocation> {
        let claims = self.assistants.get(assistant);
        claims.map_or_else(Vec::new, |claims| prefix(claims).0)
    }
}

fn prefix(claims: &BTreeMap<Seq, Claims>) -> (Vec<EventLocation>, Stop) {
    let mut expected = Seq(1);
    let mut locations = Vec::new();
    for (seq, claims) in claims {
        if *seq != expected {
            return (locations, Stop::Gap);
        }
        // The log ends before a contested position. A guess could return an event that was never committed.
        if claims.is_contested() {
            return (locations, Stop::Contested);
        }
        locations.push(claims.first);
        expected = expected.next();
    }
    (locations, Stop::End)
}

/// Scans a file and its write-ahead file for events, and looks up contested positions in the tables. This changes nothing.
pub(crate) fn scan(path: &Path) -> io::Result<FoundEvents> {
    let mut found = scan_files(path)?;
    let contested = found.contested();
    if !contested.is_empty()
        && let Err(fault) = settle(path, contested, &mut found)
    {
        tracing::info!(%fault, "the tables of the damaged log could not decide what is contested");
    }
    Ok(found)
}

fn settle(
    path: &Path,
    contested: Vec<(AssistantId, Seq)>,
    found: &mut FoundEvents,
) -> Result<(), Fault> {
    let database = open_damaged(path, &LOG_FILE)?;
    // The closure owns the database, because dropping it can panic too.
    contained(move || {
        let transaction = database.begin_read()?;
        for (assistant, seq) in contested {
            // An event that cannot be read stays contested. The next one may be on an intact page.
            if let Ok(Some(bytes)) = contained(|| committed(&transaction, &assistant, seq)) {
                found.believe(&assistant, seq, &bytes);
            }
        }
        Ok(())
    })
}

fn committed(
    transaction: &ReadTransaction,
    assistant: &AssistantId,
    seq: Seq,
) -> Result<Option<Vec<u8>>, Fault> {
    let events = transaction.open_table(EVENTS)?;
    let event = events.get(key(assistant, seq).as_slice())?;
    Ok(event.map(|event| event.value().to_vec()))
}

fn scan_files(path: &Path) -> io::Result<FoundEvents> {
    let mut found = FoundEvents::default();
    scan_frames(&mut File::open(path)?, LogPart::Log, &mut found)?;
    match File::open(write_ahead_file(path)) {
        Ok(mut file) => scan_frames(&mut file, LogPart::WriteAhead, &mut found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// Reads the whole file once, and each candidate for an event a second time.
fn scan_frames(file: &mut File, part: LogPart, found: &mut FoundEvents) -> io::Result<()> {
    let mut window = vec![0; WINDOW_BYTES];
    let mut base = 0_u64;
    loop {
        file.seek(SeekFrom::Start(base))?;
        let filled = fill(file, &mut window)?;
        let mut position = 0;
        while let Some(at) = next_magic(window.get(position..filled)) {
            position += at;
            let start = base.saturating_add(to_u64(position));
            position += match event_at(file, part, start)? {
                Some((event, location)) => {
                    found.add(event, location);
                    // An intact event is skipped as a whole: its payload can contain the bytes of other frames.
                    location.length
                }
                None => 1,
            };
        }
        if filled < WINDOW_BYTES {
            return Ok(());
        }
        // A magic number may cross the end of the window, so the next window begins three bytes before it. If the last
        // event extends beyond the window, `position` is larger: the next window begins after that event.
        let searched = position.max(filled.saturating_sub(Magic::Event.bytes().len() - 1));
        base = base.saturating_add(to_u64(searched));
    }
}

/// The next magic number in the rest of the window; `None` also if the previous event ends beyond the window.
fn next_magic(rest: Option<&[u8]>) -> Option<usize> {
    let magic = Magic::Event.bytes();
    rest?.windows(magic.len()).position(|four| four == magic)
}

/// The intact event that starts here, if there is one.
fn event_at(
    file: &mut File,
    part: LogPart,
    start: u64,
) -> io::Result<Option<(OwnedEvent, EventLocation)>> {
    let mut peek = [0; PEEK_BYTES];
    file.seek(SeekFrom::Start(start))?;
    if fill(file, &mut peek)? < PEEK_BYTES {
        return Ok(None);
    }
    // A magic number can occur by chance. Then the length or the checksum does not fit, and the search goes on one byte
    // later.
    let Some(length) = frame::claimed_length(Magic::Event, &peek) else {
        return Ok(None);
    };
    // The length is not checked yet, so it must not decide how much memory is taken.
    if !(HEADER_BYTES..=MAX_EVENT_BYTES).contains(&length) {
        return Ok(None);
    }
    let Some(bytes) = read_at(file, start, length)? else {
        return Ok(None);
    };
    Ok(decode_event(&bytes).ok().map(|event| {
        let location = EventLocation {
            file: part,
            offset: start,
            length,
            checksum: crc32fast::hash(&bytes),
        };
        (event, location)
    }))
}

/// `length` bytes from `start`; `None` if the file ends before.
pub(crate) fn read_at(file: &mut File, start: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![0; length];
    Ok((fill(file, &mut bytes)? == length).then_some(bytes))
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..)
        && !rest.is_empty()
    {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn to_u64(length: usize) -> u64 {
    invariant!(
        u64::try_from(length),
        "a length in memory fits into 64 bits"
    )
}

#[cfg(test)]
mod tests;
