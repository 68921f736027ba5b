//! The lines on the control socket: JSON, one message each, at most a mebibyte long.

use std::io::{self, BufRead, ErrorKind, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::input::lines::LineError;

/// The version of the protocol.
pub(super) const PROTOCOL: u32 = 1;

/// The longest line, in bytes: a message of full length in which JSON escapes every character.
const LIMIT: usize = 1 << 20;

/// What the running program says first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Greeting {
    /// The version of the protocol.
    pub(super) dormouse: u32,
    /// The version of the program.
    pub(super) version: String,
    /// The process.
    pub(super) pid: u32,
}

/// The command, which is the first line of a client.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// The version of the protocol.
    pub(super) dormouse: u32,
    /// The arguments, without the name of the program.
    pub(super) args: Vec<String>,
    /// The folder in which the command was typed.
    pub(super) folder: String,
    /// The name of the user, for the log.
    pub(super) user: Option<String>,
    /// How a visit is shown, if it is at a terminal.
    pub(super) terminal: Option<TerminalStyle>,
}

/// How text is shown at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TerminalStyle {
    Indented,
    Coloured,
}

/// A line of a visitor.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromVisitor {
    /// A line of input, counted from 1.
    Line { number: u64, text: String },
    /// A line of input that cannot be used.
    Unusable { number: u64, why: LineError },
    /// The input has ended: the visit ends when the assistant has come to rest.
    End,
}

/// A line of the running program.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromServer {
    /// Text for standard output.
    Out(String),
    /// Text for standard error.
    Err(String),
    /// The lines of input up to this one were carried out. For a terminal, it also has the next prompt.
    Done {
        line: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
    /// Nothing was done, and why.
    Refused { why: String, exit: u8 },
    /// The command has ended.
    Exit(u8),
}

/// A line could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error("the line is longer than {LIMIT} bytes")]
    TooLong,
    #[error("the connection ended in the middle of a line")]
    HalfLine,
    #[error("the line is not a message of this protocol")]
    NotAMessage(#[source] serde_json::Error),
    #[error("nothing was sent in time")]
    TimedOut,
    #[error("the connection failed")]
    Io(#[source] io::Error),
}

/// Reads the next message; `None` at the end of the connection. Keeps at most one line of bounded length in memory.
pub(super) fn read<T: DeserializeOwned>(source: &mut impl BufRead) -> Result<Option<T>, WireError> {
    let mut line = Vec::new();
    loop {
        let chunk = match source.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                return Err(WireError::TimedOut);
            }
            Err(error) => return Err(WireError::Io(error)),
            Ok(chunk) => chunk,
        };
        if chunk.is_empty() {
            return match line.is_empty() {
                true => Ok(None),
                false => Err(WireError::HalfLine),
            };
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let (part, _) = chunk.split_at(end.unwrap_or(chunk.len()));
        if line.len() + part.len() > LIMIT {
            return Err(WireError::TooLong);
        }
        line.extend_from_slice(part);
        let consumed = part.len() + usize::from(end.is_some());
        source.consume(consumed);
        if end.is_some() {
            return serde_json::from_slice(&line)
                .map(Some)
                .map_err(WireError::NotAMessage);
        }
    }
}

/// Writes a message as one line.
pub(super) fn write(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    if line.len() > LIMIT {
        let why = format!(
            "it takes {} bytes on the control socket; at most {LIMIT} are possible",
            line.len()
        );
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    line.push(b'\n');
    out.write_all(&line)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read, repeat};

    use dormouse_contracts::Words;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn garbage_is_an_error_and_never_more(bytes: Vec<u8>) {
            let mut source = BufReader::with_capacity(7, bytes.as_slice());
            while let Ok(Some(_)) = read::<FromVisitor>(&mut source) {}
        }

        #[test]
        fn any_line_of_input_arrives_as_it_was_sent(number: u64, text: String) {
            let sent = FromVisitor::Line { number, text };
            let mut bytes = Vec::new();
            write(&mut bytes, &sent).unwrap();
            write(&mut bytes, &FromVisitor::End).unwrap();
            let mut source = BufReader::with_capacity(7, bytes.as_slice());
            prop_assert_eq!(read(&mut source).unwrap(), Some(sent));
            prop_assert_eq!(read(&mut source).unwrap(), Some(FromVisitor::End));
            prop_assert_eq!(read::<FromVisitor>(&mut source).unwrap(), None);
        }
    }

    #[test]
    fn the_longest_message_fits_although_each_of_its_characters_is_escaped() {
        let text = "\u{1}".repeat(Words::LIMIT + 512);
        let sent = FromVisitor::Line {
            number: u64::MAX,
            text,
        };
        assert!(write(&mut Vec::new(), &sent).is_ok());
    }

    #[test]
    fn an_endless_line_and_half_a_line_are_refused() {
        let mut endless = BufReader::new(repeat(b'x'));
        assert!(matches!(
            read::<FromVisitor>(&mut endless),
            Err(WireError::TooLong)
        ));
        let mut half = BufReader::new(b"\"end".take(4));
        assert!(matches!(
            read::<FromVisitor>(&mut half),
            Err(WireError::HalfLine)
        ));
        let mut other = BufReader::new(b"{\"line\":7}\n".as_slice());
        assert!(matches!(
            read::<FromVisitor>(&mut other),
            Err(WireError::NotAMessage(_))
        ));
    }
}
