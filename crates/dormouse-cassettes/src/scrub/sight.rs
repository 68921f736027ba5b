//! Looks through a body: as JSON, as events of a stream, as text; and through what many events spell together.

use std::{collections::BTreeMap, ops::Range};

use dormouse_redact::{Match, SensitiveKind, is_named_secret, merged};

use super::json::{Leaf, Lexed, Role, lex};

mod decoded;

use decoded::Decoded;

/// Something that must not be in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// Where it stands; several parts, in order, if a stream brought it in pieces. Never empty.
    pub(crate) parts: Vec<Range<usize>>,
    pub(crate) kind: SensitiveKind,
    /// Which of the known secrets it is.
    pub(crate) known: Option<usize>,
    /// What it says.
    pub(crate) text: Vec<u8>,
    /// Whether it stands in JSON outside of any string, so that what replaces it needs quotes.
    pub(crate) is_bare: bool,
}

type Look<'a> = &'a dyn Fn(&[u8]) -> Vec<Match>;

/// What `look` sees in a body, in every way a body may be read.
pub(crate) fn sightings(body: &[u8], look: Look<'_>) -> Vec<Sighting> {
    let mut seen = Vec::new();
    let mut lexed = Lexed::default();
    let mut documents = 0_usize;
    for segment in segments(body) {
        match segment {
            Segment::Text(range) => plain(body, range, look, &mut seen),
            Segment::Json(range) => {
                documents += 1;
                lex(body, range.clone(), &mut lexed);
                match documents_in(body.get(range.clone()).unwrap_or_default()) {
                    // What is no JSON may have its quotes anywhere.
                    None => plain(body, range, look, &mut seen),
                    Some(more) => documents += more.saturating_sub(1),
                }
            }
        }
    }
    for gap in &lexed.gaps {
        bare(body, gap.clone(), look, &mut seen);
    }
    for leaves in threads(body, &lexed, documents) {
        spelled(body, &leaves, look, &mut seen);
    }
    seen
}

enum Segment {
    /// JSON, or what begins like it.
    Json(Range<usize>),
    Text(Range<usize>),
}

/// Divides a body into JSON and other text: all of it, or the data of events.
fn segments(body: &[u8]) -> Vec<Segment> {
    let start = body.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else {
        return Vec::new();
    };
    // A number or string by itself is JSON, too, but most of what begins like one is not.
    if matches!(body.get(start), Some(b'{' | b'[')) || documents_in(body) == Some(1) {
        return vec![Segment::Json(0..body.len())];
    }
    let mut segments = Vec::new();
    let mut text = 0;
    let mut at = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n' || *byte == b'\r') {
        if let Some(data) = data_of(line) {
            segments.push(Segment::Text(text..at + data));
            segments.push(Segment::Json(at + data..at + line.len()));
            text = at + line.len();
        }
        at += line.len();
    }
    segments.push(Segment::Text(text..body.len()));
    segments
}

/// Where the JSON of a line `data: {…}` begins, if the line is one.
fn data_of(line: &[u8]) -> Option<usize> {
    let data = line.strip_prefix(b"data:")?;
    let spaces = data.iter().take_while(|byte| **byte == b' ').count();
    let is_json = matches!(data.get(spaces), Some(b'{' | b'[' | b'"'));
    is_json.then_some(line.len() - data.len() + spaces)
}

/// How many documents of JSON follow each other here; `None` if anything is no JSON.
fn documents_in(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).ok()?;
    let documents = serde_json::Deserializer::from_slice(text);
    let mut count = 0;
    for document in documents.into_iter::<serde::de::IgnoredAny>() {
        document.ok()?;
        count += 1;
    }
    Some(count)
}

fn plain(body: &[u8], range: Range<usize>, look: Look<'_>, seen: &mut Vec<Sighting>) {
    let text = body.get(range.clone()).unwrap_or_default();
    seen.extend(look(text).into_iter().map(|found| Sighting {
        text: text.get(found.range.clone()).unwrap_or_default().to_vec(),
        parts: vec![shifted(&found.range, range.start)],
        kind: found.kind,
        known: found.known,
        is_bare: false,
    }));
}

/// Looks at what stands outside of strings. A number is taken away as a whole, so that no half of it remains.
fn bare(body: &[u8], range: Range<usize>, look: Look<'_>, seen: &mut Vec<Sighting>) {
    let text = body.get(range.clone()).unwrap_or_default();
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    for found in look(text) {
        let before = text.get(..found.range.start).unwrap_or_default();
        let before = before
            .iter()
            .rev()
            .take_while(|byte| is_token(byte))
            .count();
        let after = text.get(found.range.end..).unwrap_or_default();
        let after = after.iter().take_while(|byte| is_token(byte)).count();
        let whole = found.range.start - before..found.range.end + after;
        let inside = text.get(whole.clone()).unwrap_or_default();
        // A match over several tokens is no value of JSON: its punctuation has to stay.
        if inside.iter().all(is_token) {
            seen.push(Sighting {
                text: text.get(found.range).unwrap_or_default().to_vec(),
                parts: vec![shifted(&whole, range.start)],
                kind: found.kind,
                known: found.known,
                is_bare: true,
            });
        }
    }
}

/// The strings that are read together: those at the same place of several documents, each other one by itself.
fn threads<'a>(body: &[u8], lexed: &'a Lexed, documents: usize) -> Vec<Vec<&'a Leaf>> {
    let mut threads: Vec<Vec<&Leaf>> = Vec::new();
    let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for leaf in &lexed.leaves {
        let path = if documents > 1 {
            lexed.path(body, leaf)
        } else {
            None
        };
        let Some(path) = path else {
            threads.push(vec![leaf]);
            continue;
        };
        let which = *known.entry(path).or_insert(threads.len());
        match threads.get_mut(which) {
            Some(thread) => thread.push(leaf),
            None => threads.push(vec![leaf]),
        }
    }
    threads
}

/// Looks at strings one by one and at what they spell together.
fn spelled(body: &[u8], leaves: &[&Leaf], look: Look<'_>, seen: &mut Vec<Sighting>) {
    let mut text = Vec::new();
    let mut pieces = Vec::with_capacity(leaves.len());
    let mut matches = Vec::new();
    for leaf in leaves {
        let decoded = Decoded::of(body, leaf.raw.clone());
        let said = decoded.text();
        let start = text.len();
        if leaves.len() > 1 {
            matches.extend(look(said).into_iter().map(|found| Match {
                range: shifted(&found.range, start),
                ..found
            }));
        }
        let name = body.get(leaf.name.clone()).unwrap_or_default();
        if leaf.role == Role::Value && is_named_secret(name, said) {
            matches.push(Match::new(
                start..start + said.len(),
                SensitiveKind::Password,
            ));
        }
        text.extend_from_slice(said);
        pieces.push((start, decoded));
    }
    matches.extend(look(&text));
    for found in merged(matches) {
        let parts = parts_of(&pieces, &found.range);
        if !parts.is_empty() {
            seen.push(Sighting {
                parts,
                kind: found.kind,
                known: found.known,
                text: text.get(found.range).unwrap_or_default().to_vec(),
                is_bare: false,
            });
        }
    }
}

/// Where in the body a part of what the pieces say stands.
fn parts_of(pieces: &[(usize, Decoded<'_>)], range: &Range<usize>) -> Vec<Range<usize>> {
    let first = pieces.partition_point(|(start, piece)| start + piece.text().len() <= range.start);
    let pieces = pieces.get(first..).unwrap_or_default().iter();
    let inside = pieces.take_while(|(start, _)| *start < range.end);
    inside
        .filter_map(|(start, piece)| {
            let from = range.start.saturating_sub(*start);
            let to = range.end.saturating_sub(*start).min(piece.text().len());
            (from < to).then(|| piece.raw(from..to))
        })
        .collect()
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}
