//! A client that sends exactly the bytes of a test.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    address: SocketAddr,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// A request without a body or a token.
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        Self {
            address,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![("host".to_owned(), address.to_string())],
            body: Vec::new(),
        }
    }

    /// The same with this header in place of any other of that name.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(its, _)| its != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with this method.
    pub(crate) fn method(self, method: &str) -> Self {
        let method = method.to_owned();
        Self { method, ..self }
    }

    /// The same with this token.
    pub(crate) fn by(self, secret: &str) -> Self {
        self.with("authorization", &format!("Bearer {secret}"))
    }

    /// The same with these bytes, declared as JSON.
    pub(crate) fn bytes(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.with("content-type", "application/json")
    }

    /// The same with these bytes, declared as a file of JSON lines.
    pub(crate) fn lines(self, body: impl Into<Vec<u8>>) -> Self {
        self.bytes(body)
            .with("content-type", "application/x-ndjson")
    }

    /// The same with this JSON.
    pub(crate) fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string())
    }

    /// The same with the fields of a form.
    pub(crate) fn form(mut self, fields: &[(&str, &str)]) -> Self {
        let escaped = |text: &str| {
            let byte = |byte: u8| match byte.is_ascii_alphanumeric() {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            };
            text.bytes().map(byte).collect::<String>()
        };
        let fields = fields
            .iter()
            .map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
        self.body = fields.collect::<Vec<_>>().join("&").into_bytes();
        self.with("content-type", "application/x-www-form-urlencoded")
    }

    /// Opens a connection and sends the request.
    pub(crate) async fn open(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n", self.body.len());
        stream.write_all(text.as_bytes()).await.unwrap();
        // A server that refuses a large body need not read it.
        drop(stream.write_all(&self.body).await);
        stream
    }

    /// Sends it, and reads the whole answer.
    pub(crate) async fn send(self) -> Answer {
        let mut stream = self.with("connection", "close").open().await;
        let mut bytes = Vec::new();
        // The connection may be reset after the answer, if the body was not read.
        drop(stream.read_to_end(&mut bytes).await);
        Answer::of(&bytes)
    }
}

impl Answer {
    /// The answer in these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("{:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_lowercase(), value.to_owned())
        };
        Self {
            status: status.parse().unwrap(),
            headers: lines.map(header).collect(),
            body: bytes[end + 4..].to_vec(),
        }
        .without_chunks()
    }

    /// The answer with its body in one piece, if it came in several. A body that broke off has no end.
    fn without_chunks(mut self) -> Self {
        if self.header("transfer-encoding") != Some("chunked") {
            return self;
        }
        let (mut whole, mut rest) = (Vec::new(), &self.body[..]);
        while let Some(end) = rest.windows(2).position(|it| it == b"\r\n") {
            let length = std::str::from_utf8(&rest[..end]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            rest = &rest[end + 2..];
            whole.extend(&rest[..length.min(rest.len())]);
            rest = rest.get(length + 2..).unwrap_or_default();
        }
        self.body = whole;
        self
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let its = self.headers.iter().find(|(its, _)| its == name);
        its.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(&self.body)))
    }

    /// The body, if the answer has this status.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(
            self.status,
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self.json()
    }

    /// Checks that it is a problem with this status and code, which names no file of this machine.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{text}");
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        let body = self.json();
        assert_eq!(body["code"], code, "{text}");
        assert_eq!(body["status"], status, "{text}");
        assert_eq!(body["type"], format!("urn:dormouse:problem:{code}"));
        for path in ["/tmp", "/home", "/work", ".redb", "tokens.json"] {
            assert!(!text.contains(path), "{text}");
        }
    }
}
