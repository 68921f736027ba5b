//! What a client sent.

use std::io::Read;

/// A request, read whole.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The method and the path.
    pub(crate) line: String,
    /// The lines of the head, in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl Request {
    /// The next request; nothing if the client goes away before its end, or speaks no HTTP.
    pub(crate) fn read(wire: &mut impl Read) -> Result<Option<Self>, NoHttp> {
        let mut read: Vec<u8> = Vec::new();
        loop {
            if read.first().is_some_and(|byte| !byte.is_ascii_uppercase()) {
                return Err(NoHttp);
            }
            if let Some(request) = Self::whole(&String::from_utf8_lossy(&read)) {
                return Ok(Some(request));
            }
            let mut piece = [0; 4096];
            match wire.read(&mut piece) {
                Ok(0) | Err(_) => return Ok(None),
                Ok(length) => read.extend_from_slice(&piece[..length]),
            }
        }
    }

    fn whole(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
        let headers: Vec<_> = lines.map(str::to_ascii_lowercase).collect();
        let length = headers
            .iter()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().unwrap());
        (body.len() >= length).then(|| Self {
            line,
            headers,
            body: body.to_owned(),
        })
    }

    /// Does the head have this line, in any case?
    pub(crate) fn has(&self, line: &str) -> bool {
        self.headers.contains(&line.to_ascii_lowercase())
    }
}

/// The first byte is no beginning of a request.
#[derive(Debug)]
pub(crate) struct NoHttp;
