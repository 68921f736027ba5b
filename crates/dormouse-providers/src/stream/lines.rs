//! Splits a stream of bytes into whole lines, within bounds.

use dormouse_contracts::invariant;

use super::framing::Framing;
use crate::http::{ErrorBody, Failure, Redact};

/// The longest line of a stream, in bytes; without this bound a missing line end would use up the memory.
pub(super) const LINE_LIMIT: usize = 1024 * 1024;

/// The longest stream, in bytes on the wire. Servers send about 250 bytes around each piece of text.
const STREAM_LIMIT: usize = 64 * 1024 * 1024;

/// How much of a body that is not a stream is shown, in bytes.
const SHOWN: usize = 1024;

/// Collects bytes into lines. It keeps only the incomplete line at the end.
#[derive(Debug)]
pub(super) struct Lines {
    framing: Framing,
    redact: Redact,
    unfinished: Vec<u8>,
    /// How many bytes of `unfinished` were searched for a line end without finding one.
    known: usize,
    stream: usize,
    begun: bool,
}

impl Lines {
    pub(super) fn new(framing: Framing, redact: Redact) -> Self {
        Self {
            framing,
            redact,
            unfinished: Vec::new(),
            known: 0,
            stream: 0,
            begun: false,
        }
    }

    /// Adds a piece, and passes the lines that are complete now to `each`, without their ends. Each byte is inspected
    /// once, however small the pieces are.
    pub(super) fn take(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.begins_like_a_stream(piece)?;
        self.stream = self.stream.saturating_add(piece.len());
        at_most(self.stream, STREAM_LIMIT, "bytes")?;
        self.unfinished.extend_from_slice(piece);
        let mut begin = 0;
        while let Some((end, next)) = self.end_of_line() {
            let line = invariant!(
                self.unfinished.get(begin..end),
                "a line ends after its start"
            );
            at_most(line.len(), LINE_LIMIT, "bytes in one line")?;
            each(line)?;
            (begin, self.known) = (next, next);
        }
        self.unfinished.drain(..begin);
        self.known -= begin;
        at_most(self.unfinished.len(), LINE_LIMIT, "bytes in one line")
    }

    /// Ends the stream: the rest is the last line.
    pub(super) fn end(
        &mut self,
        each: impl FnOnce(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.known = 0;
        match std::mem::take(&mut self.unfinished).trim_ascii_end() {
            [] => Ok(()),
            last => each(last),
        }
    }

    /// Returns the end of the first line and the start of the next. A carriage return at the very end does not count
    /// yet: a line feed may follow.
    fn end_of_line(&mut self) -> Option<(usize, usize)> {
        let unread = self.unfinished.get(self.known..)?;
        let Some(at) = unread.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.known = self.unfinished.len();
            return None;
        };
        let end = self.known + at;
        let behind = self.unfinished.get(end + 1);
        match (self.unfinished.get(end), behind) {
            (Some(b'\r'), None) => {
                self.known = end;
                None
            }
            (Some(b'\r'), Some(b'\n')) => Some((end, end + 2)),
            _ => Some((end, end + 1)),
        }
    }

    /// Whether the body starts with JSON instead of an event stream.
    pub(super) fn is_json_instead(&self, piece: &[u8]) -> bool {
        let first = piece.iter().find(|byte| !byte.is_ascii_whitespace());
        !self.begun && self.framing == Framing::ServerSentEvents && first == Some(&b'{')
    }

    /// Fails if the body starts like HTML or plain text instead of a stream.
    fn begins_like_a_stream(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let first = piece.iter().find(|byte| !byte.is_ascii_whitespace());
        let Some(first) = first.filter(|_| !self.begun) else {
            return Ok(());
        };
        self.begun = true;
        if self.framing.may_begin_with(*first) {
            return Ok(());
        }
        Err(Failure::NoStream {
            content_type: "something else".to_owned(),
            error_body: ErrorBody::read(piece.get(..SHOWN).unwrap_or(piece), &self.redact),
        })
    }
}

pub(super) fn at_most(count: usize, limit: usize, what: &'static str) -> Result<(), Failure> {
    if count > limit {
        return Err(Failure::TooMuch { what, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events() -> Lines {
        Lines::new(Framing::ServerSentEvents, Redact::default())
    }

    fn ignored(_: &[u8]) -> Result<(), Failure> {
        Ok(())
    }

    #[test]
    fn a_stream_and_each_of_its_lines_are_bounded() {
        let mut lines = events();
        let mut line = vec![b'd'; LINE_LIMIT];
        line[LINE_LIMIT - 1] = b'\n';
        for _ in 0..STREAM_LIMIT / LINE_LIMIT {
            assert!(lines.take(&line, ignored).is_ok());
        }
        assert!(matches!(
            lines.take(b"d", ignored),
            Err(Failure::TooMuch { what: "bytes", .. })
        ));

        let mut lines = events();
        lines.take(b"data: x\n", ignored).unwrap();
        lines.take(&vec![b'd'; LINE_LIMIT], ignored).unwrap();
        let error = lines.take(b"d", ignored).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the reply has more than 1048576 bytes in one line"
        );
    }

    #[test]
    fn a_body_that_starts_like_html_is_not_a_stream() {
        for html in ["<html>", "{\"id\":1}", "\n\n <!doctype", "Hello"] {
            let result = events().take(html.as_bytes(), ignored);
            assert!(matches!(result, Err(Failure::NoStream { .. })), "{html}");
        }
        for stream in [
            "data: {}",
            ": ping",
            "\n\nevent: x",
            "\u{feff}data: {}",
            "",
            " ",
        ] {
            assert!(
                events().take(stream.as_bytes(), ignored).is_ok(),
                "{stream}"
            );
        }
        let mut lines = Lines::new(Framing::JsonLines, Redact::default());
        assert!(lines.take(b"<html>", ignored).is_err());
        let mut lines = Lines::new(Framing::JsonLines, Redact::default());
        assert!(lines.take(b"{}", ignored).is_ok());
    }

    proptest! {
        #[test]
        fn the_chunks_of_a_body_do_not_change_its_lines(
            text in "[a-c\r\n]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..12),
        ) {
            let text = format!("d{text}");
            let read = |pieces: &[&[u8]]| {
                let mut shown: Vec<Vec<u8>> = Vec::new();
                let mut lines = events();
                for piece in pieces {
                    lines.take(piece, |line| { shown.push(line.to_vec()); Ok(()) }).unwrap();
                }
                lines.end(|line| { shown.push(line.to_vec()); Ok(()) }).unwrap();
                shown
            };
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            let whole = read(&[text.as_bytes()]);
            prop_assert_eq!(read(&pieces), whole.clone());
            let normal = text.replace("\r\n", "\n").replace('\r', "\n");
            let expected: Vec<_> = normal.split('\n').collect();
            let expected = expected.strip_suffix(&[""]).unwrap_or(&expected);
            prop_assert_eq!(whole.concat(), expected.concat().into_bytes());
        }
    }
}
