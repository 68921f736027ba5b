//! The events of a stream, read once before the client reads them.

use super::chunk::Chunk;
use crate::http::{Complaint, Failure, Redact};

/// Finds the first event that cannot be read.
///
/// The client writes such an event into the log as it is, whatever is in it, so that none may get that far. An event
/// has its data in one line, as every server writes it.
#[derive(Debug)]
pub(super) struct Events {
    redact: Redact,
    /// Has the event that is being read its data already?
    has_data: bool,
    /// Did the line before end in a carriage return, whose line feed may follow?
    returned: bool,
}

impl Events {
    pub(super) fn new(redact: Redact) -> Self {
        Self {
            redact,
            has_data: false,
            returned: false,
        }
    }

    /// Takes whole lines, and gives back those before the first that cannot be read, and why it cannot.
    pub(super) fn take(&mut self, lines: Vec<u8>) -> (Vec<u8>, Option<Failure>) {
        let mut read = 0;
        for line in lines.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if let Err(failure) = self.check(line) {
                let mut lines = lines;
                lines.truncate(read);
                return (lines, Some(failure));
            }
            read += line.len();
        }
        (lines, None)
    }

    fn check(&mut self, line: &[u8]) -> Result<(), Failure> {
        let returned = std::mem::replace(&mut self.returned, line.ends_with(b"\r"));
        if returned && line == b"\n" {
            return Ok(());
        }
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let line = line.trim_ascii_end();
        if line.is_empty() {
            self.has_data = false;
            return Ok(());
        }
        let Some(data) = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii) else {
            return Ok(());
        };
        if data.is_empty() {
            return Ok(());
        }
        if std::mem::replace(&mut self.has_data, true) {
            return Err(self.unreadable("its data has several lines"));
        }
        if data == b"[DONE]" {
            return Ok(());
        }
        match serde_json::from_slice::<Chunk>(data) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.unreadable(&error.to_string())),
        }
    }

    fn unreadable(&self, why: &str) -> Failure {
        Failure::Unreadable(Complaint::of(why, &self.redact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    fn events() -> Events {
        Events::new(Redact::new(Some(&Secret::try_new("sk-key").unwrap())))
    }

    #[test]
    fn what_can_be_read_is_passed_on_as_it_is() {
        let stream = "\u{feff}data: {}\r\n\r\n: ping\nevent: x\ndata:{\"choices\":[]}\n\ndata: {}\r\rdata\ndata: [DONE]\n\n";
        let mut whole = events();
        let (passed, failure) = whole.take(stream.as_bytes().to_vec());
        assert_eq!(passed, stream.as_bytes());
        assert!(failure.is_none(), "{failure:?}");
        let mut lines = events();
        for line in stream.split_inclusive(['\r', '\n']) {
            assert!(lines.take(line.into()).1.is_none(), "{line:?}");
        }
    }

    #[test]
    fn the_first_event_that_cannot_be_read_ends_the_stream_and_is_told_without_the_key() {
        for (bad, why) in [
            ("data: sk-key\n", "expected value at line 1 column 1"),
            (
                "data: \"sk-key\"\n",
                "invalid type: string \"***\", expected struct Chunk at line 1 column 8",
            ),
            (
                "data: {\"error\": 1, \"error\": \"sk-key\"}\n",
                "duplicate field `error` at line 1 column 20",
            ),
        ] {
            let (passed, failure) = events().take(format!("data: {{}}\n\n{bad}data: x").into());
            assert_eq!(passed, b"data: {}\n\n");
            let told = format!("{:?}", failure.unwrap());
            assert!(told.contains(&format!("{why:?}")), "{told}");
        }
    }

    #[test]
    fn an_event_in_several_lines_is_not_put_together() {
        for end in ["\n", "\r", "\r\n"] {
            let (passed, failure) = events().take(format!("data: {{}}{end}data: {{}}{end}").into());
            assert_eq!(passed, format!("data: {{}}{end}").into_bytes());
            assert!(failure.is_some(), "{end:?}");
        }
    }
}
