//! The file format: one JSON document that people can read and compare.

use std::io;

use dormouse_contracts::invariant;
use serde_json::{Value, json};

use crate::{
    cassette::Cassette,
    exchange::{Body, Chunk, Exchange, Header, RecordedRequest, RecordedResponse},
};

mod read;
mod save;
mod wire;

pub use read::{CassetteReadError, Fault, READ_LIMIT_BYTES};
pub use save::SaveError;

/// The version of the format.
pub const FILE_VERSION: u64 = 1;

impl Cassette {
    /// Writes the cassette without checking it. [`Cassette::save`] runs [`Cassette::check`] first.
    ///
    /// # Errors
    ///
    /// Any error of the writer. The output is then incomplete.
    pub fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        writeln!(to, "{{")?;
        writeln!(to, "  \"dormouse_cassette\": {FILE_VERSION},")?;
        let about = &self.about;
        let service = Some(&about.service).filter(|service| !service.is_empty());
        for (name, value) in [
            ("recorded_at", Some(about.recorded_at.to_string())),
            ("program", Some(about.program.clone())),
            ("service", service.cloned()),
            ("note", Some(about.note.clone())),
        ] {
            if let Some(value) = value {
                writeln!(to, "  \"{name}\": {},", Value::from(value))?;
            }
        }
        if self.left_out_exchanges > 0 {
            writeln!(to, "  \"left_out_exchanges\": {},", self.left_out_exchanges)?;
        }
        write!(to, "  \"exchanges\": [")?;
        for (number, exchange) in self.exchanges.iter().enumerate() {
            write!(to, "{}\n    ", if number > 0 { "," } else { "" })?;
            to.write_all(text_of(exchange).as_bytes())?;
        }
        let end = if self.exchanges.is_empty() {
            ""
        } else {
            "\n  "
        };
        writeln!(to, "{end}]\n}}")
    }

    /// Returns the file as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = Vec::new();
        // Writing into a vector does not fail, and the output is UTF-8.
        invariant!(self.write(&mut text), "writing into a vector does not fail");
        invariant!(String::from_utf8(text), "the file is UTF-8")
    }
}

/// Returns the size of an exchange in a file, in bytes.
pub(crate) fn exchange_bytes(exchange: &Exchange) -> usize {
    // The comma, the newline and the indent have 6 bytes.
    text_of(exchange).len() + 6
}

/// Returns an exchange as the file has it, with the indent.
fn text_of(exchange: &Exchange) -> String {
    let mut text = String::from("{\n      \"request\": ");
    text.push_str(&indented(&request(&exchange.request), "      "));
    if let Some(answer) = &exchange.response {
        text.push_str(",\n      \"response\": ");
        text.push_str(&response(answer));
    }
    let ending = json!(exchange.ending);
    text.push_str(&format!(",\n      \"ending\": {ending}"));
    if !exchange.reason.is_empty() {
        let reason = Value::from(exchange.reason.as_str());
        text.push_str(&format!(",\n      \"reason\": {reason}"));
    }
    text.push_str("\n    }");
    text
}

fn request(request: &RecordedRequest) -> Value {
    let mut value = json!({ "method": request.method, "target": request.target, "headers": lines(&request.headers) });
    let further = [
        request.host.as_deref().map(|host| ("host", json!(host))),
        match &request.body {
            Body::Empty => None,
            Body::Json(body) => Some(("json", body.clone())),
            Body::Text(text) => Some(("text", json!(text))),
            Body::Bytes(bytes) => Some(("base64", json!(read::base64(bytes)))),
        },
        (request.left_out_bytes > 0).then(|| ("left_out_bytes", json!(request.left_out_bytes))),
    ];
    if let Value::Object(members) = &mut value {
        let further = further.into_iter().flatten();
        members.extend(further.map(|(name, value)| (name.to_owned(), value)));
    }
    value
}

/// Writes the response, one chunk per line.
fn response(response: &RecordedResponse) -> String {
    let (status, waited_ms) = (response.status, response.waited_ms);
    let mut text = format!("{{\n        \"status\": {status},\n        \"waited_ms\": {waited_ms}");
    let headers = indented(&json!(lines(&response.headers)), "        ");
    text.push_str(&format!(",\n        \"headers\": {headers}"));
    for (name, count) in [
        ("left_out_bytes", response.left_out_bytes),
        ("joined_chunks", response.joined_chunks),
    ] {
        if count > 0 {
            text.push_str(&format!(",\n        \"{name}\": {count}"));
        }
    }
    text.push_str(",\n        \"chunks\": [");
    for (number, part) in response.chunks.iter().enumerate() {
        text.push_str(if number > 0 {
            ",\n          "
        } else {
            "\n          "
        });
        text.push_str(&chunk(part));
    }
    let end = if response.chunks.is_empty() {
        ""
    } else {
        "\n        "
    };
    text.push_str(&format!("{end}]\n      }}"));
    text
}

fn chunk(chunk: &Chunk) -> String {
    let (name, body) = match std::str::from_utf8(&chunk.bytes) {
        Ok(text) => ("text", Value::from(text)),
        Err(_) => ("base64", Value::from(read::base64(&chunk.bytes))),
    };
    format!("{{ \"pause_ms\": {}, \"{name}\": {body} }}", chunk.pause_ms)
}

fn lines(headers: &[Header]) -> Vec<String> {
    let headers = headers.iter();
    headers
        .map(|header| format!("{}: {}", header.name, header.value))
        .collect()
}

/// Returns JSON on several lines, all but the first with this indent. Every newline separates two lines of the layout,
/// because strings in JSON contain no newlines.
fn indented(value: &Value, indent: &str) -> String {
    format!("{value:#}").replace('\n', &format!("\n{indent}"))
}
