//! Assembles the events of a stream from its lines.

use super::{
    framing::Framing,
    lines::{LINE_LIMIT, at_most},
};
use crate::http::Failure;

/// An event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// The name; empty if it has none.
    pub(crate) name: &'a str,
    /// The data; not empty.
    pub(crate) data: &'a [u8],
}

/// Assembles events.
#[derive(Debug)]
pub(crate) struct Events {
    framing: Framing,
    name: String,
    data: Vec<u8>,
}

impl Events {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            name: String::new(),
            data: Vec::new(),
        }
    }

    /// Adds a line without its end, and passes the event that it completes to `each`.
    pub(crate) fn take(
        &mut self,
        line: &[u8],
        each: impl FnOnce(Event<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        match self.framing {
            Framing::JsonLines => match line.trim_ascii() {
                [] => Ok(()),
                data => each(Event { name: "", data }),
            },
            Framing::ServerSentEvents if line.is_empty() => self.dispatch(each),
            Framing::ServerSentEvents => self.field(line),
        }
    }

    /// Ends the stream. If the last event lacks its empty line, it is still passed to `each`.
    pub(crate) fn end(
        &mut self,
        each: impl FnOnce(Event<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.dispatch(each)
    }

    /// Adds a field to the event. The size of an event has the limit of a line, because a parsed event takes several
    /// times its size in memory.
    fn field(&mut self, line: &[u8]) -> Result<(), Failure> {
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (line.get(..at), line.get(at + 1..)),
            None => (Some(line), None),
        };
        let value = value.unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            Some(b"data") => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                at_most(self.data.len(), LINE_LIMIT, "bytes in one event")
            }
            Some(b"event") => {
                self.name.clear();
                self.name.push_str(&String::from_utf8_lossy(value));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn dispatch(
        &mut self,
        each: impl FnOnce(Event<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let result = match self.data.trim_ascii() {
            [] => Ok(()),
            data => each(Event {
                name: &self.name,
                data,
            }),
        };
        self.name.clear();
        self.data.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_whole(framing: Framing, stream: &str) -> Vec<(String, String)> {
        let mut events = Events::new(framing);
        let mut read = Vec::new();
        let mut each = |event: Event<'_>| {
            let data = String::from_utf8(event.data.to_vec()).unwrap();
            read.push((event.name.to_owned(), data));
            Ok(())
        };
        for line in stream.lines() {
            events.take(line.as_bytes(), &mut each).unwrap();
        }
        events.end(&mut each).unwrap();
        read
    }

    fn shown(framing: Framing, stream: &str) -> Vec<String> {
        let read = read_whole(framing, stream).into_iter();
        read.map(|(name, data)| format!("{name}|{data}")).collect()
    }

    #[test]
    fn an_event_is_assembled_from_its_fields() {
        let stream = "\u{feff}: ping\n\nid: 7\nevent: delta\ndata: {\ndata:}\n\ndata: x\nretry: 5\n\nevent: lost\n\ndata\n\n";
        assert_eq!(
            shown(Framing::ServerSentEvents, stream),
            ["delta|{\n}", "|x"]
        );
    }

    #[test]
    fn the_last_event_needs_no_empty_line_behind_it() {
        assert_eq!(
            shown(Framing::ServerSentEvents, "data: [DONE]"),
            ["|[DONE]"]
        );
    }

    #[test]
    fn an_event_of_many_lines_is_no_longer_than_one_line() {
        let mut events = Events::new(Framing::ServerSentEvents);
        let line = [b"data: ", [b'0'; 1023].as_slice()].concat();
        let mut shown = 0;
        let mut each = |event: Event<'_>| {
            shown = event.data.len();
            Ok(())
        };
        for _ in 0..LINE_LIMIT / 1024 {
            events.take(&line, &mut each).unwrap();
        }
        events.take(b"data", &mut each).unwrap();
        let error = events.take(&line, &mut each).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the reply has more than 1048576 bytes in one event"
        );
        assert_eq!(shown, 0);
    }

    #[test]
    fn each_json_line_is_an_event() {
        let stream = "{\"a\":1}\n\n  {\"b\":2} \n";
        assert_eq!(
            shown(Framing::JsonLines, stream),
            ["|{\"a\":1}", "|{\"b\":2}"]
        );
    }
}
