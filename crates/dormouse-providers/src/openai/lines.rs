//! A stream of bytes, passed on in whole lines and within bounds.

use crate::http::{Complaint, Failure, Redact};

/// The longest line of a stream, in bytes: a server that sends no line ends costs no more than this.
const LINE_LIMIT: usize = 1024 * 1024;

/// The longest stream, in bytes on the wire. The wrapping of each piece is some 250 bytes.
const STREAM_LIMIT: usize = 64 * 1024 * 1024;

/// How much of something that is no stream is shown, in bytes.
const SHOWN: usize = 1024;

/// What has come of a stream.
///
/// The parser behind it reads an unfinished line from its beginning with every piece that comes; given whole lines
/// only, it reads each once, however finely a server cuts them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    redact: Redact,
    unfinished: Vec<u8>,
    stream: usize,
    begun: bool,
}

impl Lines {
    pub(super) fn new(redact: Redact) -> Self {
        Self {
            redact,
            ..Self::default()
        }
    }

    /// Takes the next piece and passes on the lines that are whole now; often none.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<Vec<u8>, Failure> {
        self.begins_like_events(piece)?;
        self.stream = self.stream.saturating_add(piece.len());
        at_most(self.stream, STREAM_LIMIT, "bytes")?;
        let known = self.unfinished.len().saturating_sub(1);
        self.unfinished.extend_from_slice(piece);
        let rest = match self.end_of_lines(known) {
            Some(end) => self.unfinished.split_off(end),
            None => std::mem::take(&mut self.unfinished),
        };
        let lines = std::mem::replace(&mut self.unfinished, rest);
        at_most(self.unfinished.len(), LINE_LIMIT, "bytes in one line")?;
        Ok(lines)
    }

    /// Behind the last end of a line at or after `from`. A carriage return at the very end is not one yet: its line
    /// feed may be to come.
    fn end_of_lines(&self, from: usize) -> Option<usize> {
        let unread = self.unfinished.get(from..)?;
        let last = unread.len().checked_sub(1)?;
        let ends = |(at, byte): (usize, &u8)| *byte == b'\n' || (*byte == b'\r' && at < last);
        let at = unread.iter().enumerate().rposition(ends)?;
        Some(from + at + 1)
    }

    /// A stream begins with a field, a comment or a byte order mark; HTML and JSON do not.
    fn begins_like_events(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let first = piece.iter().find(|byte| !byte.is_ascii_whitespace());
        let Some(first) = first.filter(|_| !self.begun) else {
            return Ok(());
        };
        self.begun = true;
        if matches!(first, b'd' | b'e' | b'i' | b'r' | b':' | 0xef) {
            return Ok(());
        }
        Err(Failure::NoStream {
            content_type: "something else".to_owned(),
            complaint: Complaint::read(piece.get(..SHOWN).unwrap_or(piece), &self.redact),
        })
    }
}

fn at_most(count: usize, limit: usize, what: &'static str) -> Result<(), Failure> {
    if count > limit {
        return Err(Failure::TooMuch { what, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stream_is_bounded_in_all_and_in_each_line() {
        let mut lines = Lines::default();
        let mut line = vec![b'd'; LINE_LIMIT];
        line[LINE_LIMIT - 1] = b'\n';
        for _ in 0..STREAM_LIMIT / LINE_LIMIT {
            assert!(lines.take(&line).is_ok());
        }
        assert!(matches!(
            lines.take(b"d"),
            Err(Failure::TooMuch { what: "bytes", .. })
        ));

        let mut lines = Lines::default();
        assert_eq!(lines.take(b"data: x\n").unwrap(), b"data: x\n");
        assert_eq!(lines.take(&vec![b'd'; LINE_LIMIT]).unwrap(), b"");
        let error = lines.take(b"d").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the reply has more than 1048576 bytes in one line"
        );
    }

    #[test]
    fn what_does_not_begin_like_events_is_no_stream() {
        for html in ["<html>", "{\"id\":1}", "\n\n <!doctype", "Hello"] {
            let result = Lines::default().take(html.as_bytes());
            assert!(matches!(result, Err(Failure::NoStream { .. })), "{html}");
        }
        for events in [
            "data: {}",
            ": ping",
            "\n\nevent: x",
            "\u{feff}data: {}",
            "",
            " ",
        ] {
            assert!(Lines::default().take(events.as_bytes()).is_ok(), "{events}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_passed_on_whole_and_nothing_is_lost_or_held_back(
            pieces in prop::collection::vec("[a-c\r\n]{0,9}", 0..12),
        ) {
            let text = format!("d{}", pieces.concat());
            let mut lines = Lines::default();
            let mut passed = Vec::new();
            for piece in std::iter::once("d").chain(pieces.iter().map(String::as_str)) {
                let whole = lines.take(piece.as_bytes()).unwrap();
                prop_assert!(whole.is_empty() || whole.ends_with(b"\n") || whole.ends_with(b"\r"));
                passed.extend(whole);
            }
            let held = lines.unfinished;
            prop_assert!(!held.contains(&b'\n'));
            prop_assert!(!held[..held.len().saturating_sub(1)].contains(&b'\r'));
            prop_assert_eq!([passed, held].concat(), text.into_bytes());
        }
    }
}
