//! Scans a body: as JSON, as events of a stream, as text; and the text that several events form together.

use std::{collections::BTreeMap, ops::Range};

use dormouse_redact::{Match, SensitiveKind, is_named_secret, merged};

use super::json::{Leaf, Lexed, Role, lex};

mod decoded;

use decoded::Decoded;

use crate::slices::within;

/// A match in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyMatch {
    /// Its ranges, in order; several if a stream has it in pieces. Never empty.
    pub(crate) parts: Vec<Range<usize>>,
    pub(crate) kind: SensitiveKind,
    /// The index of the known secret.
    pub(crate) known: Option<usize>,
    /// The matched text.
    pub(crate) text: Vec<u8>,
    /// Whether it is in JSON outside of strings. Its replacement then needs quotes.
    pub(crate) is_bare: bool,
}

type Scan<'a> = &'a dyn Fn(&[u8]) -> Vec<Match>;

/// Scans a body in every way in which it can be read.
pub(crate) fn scan_body(body: &[u8], scan: Scan<'_>) -> Vec<BodyMatch> {
    let mut matches = Vec::new();
    let mut lexed = Lexed::default();
    let mut documents = 0_usize;
    for segment in segments(body) {
        match segment {
            Segment::Text(range) => plain(body, range, scan, &mut matches),
            Segment::Json(range) => {
                documents += 1;
                lex(body, range.clone(), &mut lexed);
                match documents_in(within(body, range.clone())) {
                    // This only starts like JSON. Perhaps its quotes do not delimit strings, so it is scanned as text,
                    // too.
                    None => plain(body, range, scan, &mut matches),
                    Some(more) => documents += more.saturating_sub(1),
                }
            }
        }
    }
    for gap in &lexed.gaps {
        bare(body, gap.clone(), scan, &mut matches);
    }
    for leaves in threads(body, &lexed, documents) {
        joined_strings(body, &leaves, scan, &mut matches);
    }
    matches
}

enum Segment {
    /// JSON, or text that starts like it.
    Json(Range<usize>),
    Text(Range<usize>),
}

/// Splits a body into JSON and other text: the whole body, or the data of its events.
fn segments(body: &[u8]) -> Vec<Segment> {
    let start = body.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else {
        return Vec::new();
    };
    // A single number or string is JSON too, but most text that starts like one is not.
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

/// Returns the start of the JSON in a line `data: {…}`.
fn data_of(line: &[u8]) -> Option<usize> {
    let data = line.strip_prefix(b"data:")?;
    let spaces = data.iter().take_while(|byte| **byte == b' ').count();
    let is_json = matches!(data.get(spaces), Some(b'{' | b'[' | b'"'));
    is_json.then_some(line.len() - data.len() + spaces)
}

/// Returns how many JSON documents follow each other; `None` if there is anything else.
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

fn plain(body: &[u8], range: Range<usize>, scan: Scan<'_>, out: &mut Vec<BodyMatch>) {
    let text = within(body, range.clone());
    out.extend(scan(text).into_iter().map(|found| BodyMatch {
        text: within(text, found.range.clone()).to_vec(),
        parts: vec![shifted(&found.range, range.start)],
        kind: found.kind,
        known: found.known,
        is_bare: false,
    }));
}

/// Scans text outside of strings. A number is replaced as a whole.
fn bare(body: &[u8], range: Range<usize>, scan: Scan<'_>, out: &mut Vec<BodyMatch>) {
    let text = within(body, range.clone());
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    for found in scan(text) {
        let before = within(text, ..found.range.start);
        let before = before
            .iter()
            .rev()
            .take_while(|byte| is_token(byte))
            .count();
        let after = within(text, found.range.end..);
        let after = after.iter().take_while(|byte| is_token(byte)).count();
        let whole = found.range.start - before..found.range.end + after;
        let inside = within(text, whole.clone());
        // A match over several tokens is not a JSON value: its punctuation must stay.
        if inside.iter().all(is_token) {
            out.push(BodyMatch {
                text: within(text, found.range).to_vec(),
                parts: vec![shifted(&whole, range.start)],
                kind: found.kind,
                known: found.known,
                is_bare: true,
            });
        }
    }
}

/// Groups the strings that together form one text: those on the same path in several documents. Any other string is a
/// group of its own.
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

/// Scans each string of a group, and the text that the strings form together.
fn joined_strings(body: &[u8], leaves: &[&Leaf], scan: Scan<'_>, out: &mut Vec<BodyMatch>) {
    let mut text = Vec::new();
    let mut pieces = Vec::with_capacity(leaves.len());
    let mut matches = Vec::new();
    for leaf in leaves {
        let decoded = Decoded::of(body, leaf.raw.clone());
        let said = decoded.text();
        let start = text.len();
        if leaves.len() > 1 {
            matches.extend(scan(said).into_iter().map(|found| Match {
                range: shifted(&found.range, start),
                ..found
            }));
        }
        let name = within(body, leaf.name.clone());
        if leaf.role == Role::Value && is_named_secret(name, said) {
            matches.push(Match::new(
                start..start + said.len(),
                SensitiveKind::Password,
            ));
        }
        text.extend_from_slice(said);
        pieces.push((start, decoded));
    }
    matches.extend(scan(&text));
    for found in merged(matches) {
        let parts = parts_of(&pieces, &found.range);
        if !parts.is_empty() {
            out.push(BodyMatch {
                parts,
                kind: found.kind,
                known: found.known,
                text: within(&text, found.range).to_vec(),
                is_bare: false,
            });
        }
    }
}

/// Maps a range of the joined text back to the body.
fn parts_of(pieces: &[(usize, Decoded<'_>)], range: &Range<usize>) -> Vec<Range<usize>> {
    let first = pieces.partition_point(|(start, piece)| start + piece.text().len() <= range.start);
    let pieces = within(pieces, first..).iter();
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
