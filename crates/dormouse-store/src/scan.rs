//! Finding events in a file by their frames alone, when its tables cannot be read.
//!
//! The database moves records about and leaves old copies behind, so the same event turns up several times;
//! and a transaction that never finished may have left events that never counted. Where two different ones
//! claim the same place, neither is believed.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use dormouse_contracts::{AssistantId, Seq};

use crate::{
    frame::{self, HEADER_BYTES, Magic},
    record::{self, MAX_RECORD_BYTES, Record},
};

const WINDOW_BYTES: usize = 1024 * 1024;
/// Enough of a frame to know how long it claims to be.
const PEEK_BYTES: usize = 12;

/// Different records for one place beyond this many are not remembered; an honest file has hardly two.
const MOST_CLAIMS: usize = 16;

/// Where in the file an intact record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) offset: u64,
    pub(crate) length: usize,
    checksum: u32,
}

/// The different records that claim a place; at least one.
#[derive(Clone, Debug)]
struct Claim {
    first: Located,
    others: Vec<Located>,
}

/// The records found in a file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    assistants: BTreeMap<AssistantId, BTreeMap<Seq, Claim>>,
}

/// How much of one assistant's log can still be read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Readable {
    /// Whose log it is.
    pub assistant: AssistantId,
    /// How many events can be read, counted from the first without a gap.
    pub events: u64,
    /// Why there are no more.
    pub stop: Stop,
}

/// Why reading a damaged log ended where it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// No later event was found. There may have been one all the same.
    End,
    /// Later events were found, but not the next one.
    Gap,
    /// Two different events claim the next place, so neither is believed.
    Contested,
}

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} events", self.assistant, self.events)?;
        match self.stop {
            Stop::End => Ok(()),
            Stop::Gap => f.write_str(" (then one is lost)"),
            Stop::Contested => f.write_str(" (then two different ones claim the same place)"),
        }
    }
}

impl Located {
    fn content(&self) -> (usize, u32) {
        (self.length, self.checksum)
    }
}

impl Claim {
    fn add(&mut self, located: Located) {
        let known = std::iter::once(&self.first)
            .chain(&self.others)
            .any(|one| one.content() == located.content());
        if !known && self.others.len() < MOST_CLAIMS {
            self.others.push(located);
        }
    }
}

impl Found {
    fn add(&mut self, record: Record, located: Located) {
        let claims = self.assistants.entry(record.assistant).or_default();
        match claims.entry(record.event.seq) {
            Entry::Vacant(place) => {
                place.insert(Claim {
                    first: located,
                    others: Vec::new(),
                });
            }
            Entry::Occupied(mut place) => place.get_mut().add(located),
        }
    }

    /// Whether different events claim the same place anywhere.
    pub(crate) fn has_contested(&self) -> bool {
        let mut claims = self.assistants.values().flat_map(BTreeMap::values);
        claims.any(|claim| !claim.others.is_empty())
    }

    /// The places that different events claim.
    pub(crate) fn contested(&self) -> Vec<(AssistantId, Seq)> {
        let mut places = Vec::new();
        for (assistant, claims) in &self.assistants {
            for (seq, claim) in claims {
                if !claim.others.is_empty() {
                    places.push((assistant.clone(), *seq));
                }
            }
        }
        places
    }

    /// Settles a contested place in favour of this record, if it is among those found.
    pub(crate) fn believe(&mut self, assistant: &AssistantId, seq: Seq, record: &[u8]) {
        let claims = self.assistants.get_mut(assistant);
        if let Some(claim) = claims.and_then(|claims| claims.get_mut(&seq)) {
            let believed = (record.len(), crc32fast::hash(record));
            let mut all = std::iter::once(claim.first).chain(claim.others.iter().copied());
            if let Some(first) = all.find(|one| one.content() == believed) {
                *claim = Claim {
                    first,
                    others: Vec::new(),
                };
            }
        }
    }

    /// What can be read of each assistant's log.
    pub(crate) fn readable(&self) -> Vec<Readable> {
        self.assistants
            .iter()
            .map(|(assistant, claims)| {
                let (prefix, stop) = prefix(claims);
                Readable {
                    assistant: assistant.clone(),
                    events: u64::try_from(prefix.len()).unwrap_or(u64::MAX),
                    stop,
                }
            })
            .collect()
    }

    /// Where the believable events of an assistant lie, in order from the first.
    pub(crate) fn prefix(&self, assistant: &AssistantId) -> Vec<Located> {
        self.assistants
            .get(assistant)
            .map(|claims| prefix(claims).0)
            .unwrap_or_default()
    }
}

fn prefix(claims: &BTreeMap<Seq, Claim>) -> (Vec<Located>, Stop) {
    let mut expected = Seq(1);
    let mut located = Vec::new();
    for (seq, claim) in claims {
        if *seq != expected {
            return (located, Stop::Gap);
        }
        if !claim.others.is_empty() {
            return (located, Stop::Contested);
        }
        located.push(claim.first);
        expected = expected.next();
    }
    (located, Stop::End)
}

/// Searches a whole file. Reads it once, and once more what looks like a record.
pub(crate) fn scan(path: &Path) -> io::Result<Found> {
    let mut file = File::open(path)?;
    let mut found = Found::default();
    let mut window = vec![0; WINDOW_BYTES];
    let mut base = 0_u64;
    loop {
        file.seek(SeekFrom::Start(base))?;
        let filled = fill(&mut file, &mut window)?;
        let mut position = 0;
        while let Some(at) = next_magic(window.get(position..filled).unwrap_or_default()) {
            position += at;
            let start = base.saturating_add(to_u64(position));
            position += match record_at(&mut file, start)? {
                Some((record, located)) => {
                    found.add(record, located);
                    located.length
                }
                None => 1,
            };
        }
        if filled < WINDOW_BYTES {
            return Ok(found);
        }
        // A magic number may lie across the end of the window, and a record beyond it.
        let searched = position.max(filled.saturating_sub(Magic::Event.bytes().len() - 1));
        base = base.saturating_add(to_u64(searched));
    }
}

fn next_magic(bytes: &[u8]) -> Option<usize> {
    let magic = Magic::Event.bytes();
    bytes.windows(magic.len()).position(|four| four == magic)
}

/// The intact record that starts here, if there is one.
fn record_at(file: &mut File, start: u64) -> io::Result<Option<(Record, Located)>> {
    let mut peek = [0; PEEK_BYTES];
    file.seek(SeekFrom::Start(start))?;
    if fill(file, &mut peek)? < PEEK_BYTES {
        return Ok(None);
    }
    let Some(length) = frame::claimed_length(Magic::Event, &peek) else {
        return Ok(None);
    };
    if !(HEADER_BYTES..=MAX_RECORD_BYTES).contains(&length) {
        return Ok(None);
    }
    let Some(bytes) = read_at(file, start, length)? else {
        return Ok(None);
    };
    Ok(record::decode(&bytes).ok().map(|record| {
        let located = Located {
            offset: start,
            length,
            checksum: crc32fast::hash(&bytes),
        };
        (record, located)
    }))
}

/// `length` bytes from `start`, or nothing if the file ends before.
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
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
