//! Lines from a stream of bytes, of any length and any content.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind};

use dormouse_contracts::Words;
use serde::{Deserialize, Serialize};

/// The longest line that is kept, in bytes: a message of full length and the words before it.
const LIMIT: usize = Words::LIMIT + 512;

/// A line and its number, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: Result<String, LineError>,
}

/// Why a line cannot be used. It was read to its end and skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineError {
    /// It is longer than any message.
    #[error(
        "the line has {bytes} bytes; a message may have {}: send it in parts",
        Words::LIMIT
    )]
    TooLong {
        /// Its length without the line end.
        bytes: u64,
    },
    /// It is not text.
    #[error("the line is not UTF-8: byte {at} does not fit")]
    NotUtf8 {
        /// The first byte that does not fit, counted from 1.
        at: usize,
    },
}

/// Standard input, or this line in its place.
pub(crate) fn source(line: Option<String>) -> Box<dyn BufRead + Send> {
    match line {
        Some(line) => Box::new(Cursor::new(line)),
        None => Box::new(BufReader::new(io::stdin())),
    }
}

/// Reads lines. Keeps at most one line of bounded length in memory.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines of this source.
    pub(crate) fn new(source: R) -> Self {
        Self { source, number: 0 }
    }

    /// The next line without its end (`\n` or `\r\n`), or nothing at the end of the source. A last line needs no
    /// line end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut kept = Vec::new();
        let mut length: u64 = 0;
        let mut begun = false;
        let mut ended_by_return = false;
        loop {
            let chunk = match self.source.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() && !begun {
                return Ok(None);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let (part, _) = chunk.split_at(end.unwrap_or(chunk.len()));
            let last = chunk.is_empty() || end.is_some();
            begun = true;
            length += part.len() as u64;
            if let Some(byte) = part.last() {
                ended_by_return = *byte == b'\r';
            }
            let (keep, _) = part.split_at(part.len().min((LIMIT + 1).saturating_sub(kept.len())));
            kept.extend_from_slice(keep);
            let consumed = part.len() + usize::from(end.is_some());
            self.source.consume(consumed);
            if last {
                length -= u64::from(ended_by_return);
                return Ok(Some(self.finish(kept, length)));
            }
        }
    }

    fn finish(&mut self, mut kept: Vec<u8>, length: u64) -> Line {
        self.number += 1;
        let text = match usize::try_from(length) {
            Ok(length) if length <= LIMIT => {
                kept.truncate(length);
                String::from_utf8(kept).map_err(|error| LineError::NotUtf8 {
                    at: error.utf8_error().valid_up_to() + 1,
                })
            }
            Ok(_) | Err(_) => Err(LineError::TooLong { bytes: length }),
        };
        Line {
            number: self.number,
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read, repeat};

    use proptest::prelude::*;

    use super::*;

    fn all(source: impl BufRead) -> Vec<Result<String, LineError>> {
        let mut lines = Lines::new(source);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            assert_eq!(line.number, found.len() as u64 + 1);
            found.push(line.text);
        }
        found
    }

    #[test]
    fn both_line_ends_are_read_and_the_last_line_may_lack_one() {
        let lines = all(&b"one\r\n\ntwo\rmore\nlast"[..]);
        assert_eq!(
            lines,
            ["one", "", "two\rmore", "last"].map(|line| Ok(line.to_owned()))
        );
        assert_eq!(all(&b""[..]), []);
        assert_eq!(all(&b"\n"[..]), [Ok(String::new())]);
    }

    #[test]
    fn invalid_utf8_is_refused_with_its_position_and_the_next_line_is_read() {
        let lines = all(&b"ab\xffcd\nnext\n"[..]);
        assert_eq!(
            lines,
            [Err(LineError::NotUtf8 { at: 3 }), Ok("next".to_owned())]
        );
    }

    #[test]
    fn a_line_without_end_is_skipped_in_bounded_memory() {
        let endless = repeat(b'x').take(10 << 20).chain(&b"\nnext"[..]);
        let lines = all(BufReader::new(endless));
        assert_eq!(
            lines,
            [
                Err(LineError::TooLong { bytes: 10 << 20 }),
                Ok("next".to_owned())
            ]
        );
    }

    #[test]
    fn a_message_of_full_length_fits_and_one_byte_past_the_limit_does_not() {
        for (length, fits) in [(LIMIT, true), (LIMIT + 1, false)] {
            for end in ["", "\n", "\r\n"] {
                let text = "x".repeat(length) + end;
                let lines = all(BufReader::with_capacity(7, text.as_bytes()));
                assert_eq!(lines.len(), 1);
                assert_eq!(lines[0].is_ok(), fits, "{length} {end:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_chunks_of_the_input_do_not_change_its_lines(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60),
            piece in 1_usize..9,
        ) {
            prop_assert_eq!(all(BufReader::with_capacity(piece, &bytes[..])), all(&bytes[..]));
        }
    }
}
