//! A chunked body, edited as a whole.

use std::ops::Range;

use crate::slices::within;

/// A body in one piece, and the ends of its chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    bytes: Vec<u8>,
    /// The ends of the chunks, ascending; the last one is the end of the body.
    ends: Vec<usize>,
}

/// A part of a body, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    range: Range<usize>,
    text: String,
}

impl Edit {
    pub(crate) fn new(range: Range<usize>, text: String) -> Self {
        Self { range, text }
    }
}

impl Stream {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds a chunk.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.ends.push(self.bytes.len());
    }

    /// Extends the last chunk.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        if self.ends.pop().is_some() {
            self.push(bytes);
        }
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, end)| within(&self.bytes, *start..*end))
    }

    /// Truncates the body at the last character boundary up to `limit`. Returns the number of removed bytes.
    pub(crate) fn cut(&mut self, limit: usize) -> usize {
        let whole = self.bytes.len();
        if whole <= limit {
            return 0;
        }
        let mut end = limit;
        let continues = |at| {
            self.bytes
                .get(at)
                .is_some_and(|byte: &u8| byte & 0xc0 == 0x80)
        };
        for _ in 0..3 {
            if continues(end) {
                end = end.saturating_sub(1);
            }
        }
        self.bytes.truncate(end);
        for chunk_end in &mut self.ends {
            *chunk_end = (*chunk_end).min(end);
        }
        whole - end
    }

    /// Replaces parts of the body. Overlapping parts are merged and get the replacement of the first one. A chunk that
    /// ended inside a replaced part now ends after the replacement.
    pub(crate) fn apply(&mut self, edits: Vec<Edit>) {
        let edits = apart(edits);
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut ends = self.ends.iter_mut().peekable();
        let mut done = 0;
        for edit in edits {
            let kept = bytes.len();
            bytes.extend_from_slice(within(&self.bytes, done..edit.range.start));
            while let Some(end) = ends.next_if(|end| **end <= edit.range.start) {
                *end = kept + (*end - done);
            }
            bytes.extend_from_slice(edit.text.as_bytes());
            while let Some(end) = ends.next_if(|end| **end < edit.range.end) {
                *end = bytes.len();
            }
            done = edit.range.end;
        }
        let kept = bytes.len();
        bytes.extend_from_slice(within(&self.bytes, done..));
        for end in ends {
            *end = kept + end.saturating_sub(done);
        }
        self.bytes = bytes;
    }
}

/// Sorts the edits and merges overlapping ones.
fn apart(mut edits: Vec<Edit>) -> Vec<Edit> {
    // An empty range replaces nothing.
    edits.retain(|edit| !edit.range.is_empty());
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut apart: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match apart.last_mut() {
            Some(last) if edit.range.start < last.range.end => {
                last.range.end = last.range.end.max(edit.range.end);
                if last.text.is_empty() {
                    last.text = edit.text;
                }
            }
            Some(_) | None => apart.push(edit),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(chunks: &[&str]) -> Stream {
        let mut stream = Stream::default();
        for chunk in chunks {
            stream.push(chunk.as_bytes());
        }
        stream
    }

    fn pieces(stream: &Stream) -> Vec<String> {
        let pieces = stream.pieces();
        pieces
            .map(|piece| String::from_utf8_lossy(piece).into_owned())
            .collect()
    }

    #[test]
    fn a_replacement_is_in_the_chunk_where_the_part_starts() {
        let mut stream = stream(&["ab", "cd", "", "ef", "gh"]);
        stream.apply(vec![Edit::new(3..7, "[x]".to_owned())]);
        assert_eq!(pieces(&stream), ["ab", "c[x]", "", "", "h"]);
        stream.apply(vec![
            Edit::new(0..2, "0".to_owned()),
            Edit::new(6..7, String::new()),
        ]);
        assert_eq!(pieces(&stream), ["0", "c[x]", "", "", ""]);
    }

    #[test]
    fn overlapping_edits_are_merged() {
        let mut stream = stream(&["abcdef"]);
        let edits = [(2..5, "[y]"), (1..3, "[x]"), (5..6, "[z]")];
        stream.apply(
            edits
                .map(|(range, text)| Edit::new(range, text.to_owned()))
                .to_vec(),
        );
        assert_eq!(pieces(&stream), ["a[x][z]"]);
    }

    #[test]
    fn a_cut_divides_no_character() {
        let mut stream = stream(&["aä", "öb"]);
        assert_eq!(stream.cut(4), 3);
        assert_eq!(pieces(&stream), ["aä", ""]);
    }

    proptest! {
        #[test]
        fn the_chunks_always_add_up_to_the_body(
            chunks in prop::collection::vec("[a-e]{0,5}", 1..6),
            parts in prop::collection::vec((0_usize..25, 0_usize..6, "[XYZ]{0,3}"), 0..5),
        ) {
            let mut stream = stream(&chunks.iter().map(String::as_str).collect::<Vec<_>>());
            let whole = stream.len();
            let edits = parts.into_iter().map(|(start, len, text)| {
                let start = start.min(whole);
                Edit::new(start..(start + len).min(whole), text)
            });
            stream.apply(edits.collect());
            let joined: Vec<u8> = stream.pieces().flatten().copied().collect();
            prop_assert_eq!(joined, stream.bytes());
            prop_assert_eq!(stream.pieces().count(), chunks.len());
        }
    }
}
