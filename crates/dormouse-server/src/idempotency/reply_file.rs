//! The answers on disk, so that a request is carried out once even if the service is killed. A line is added when a request begins,
//! and another one when it is answered.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Name, Reply};

/// The file in the data folder.
const FILE: &str = "replies.jsonl";

/// The file while it is written anew.
const NEW: &str = "replies.jsonl.new";

/// The file is written anew when it is longer than this, and several times as long as it was then.
const REWRITTEN_FROM: u64 = 4 << 20;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(super) enum Line {
    /// The request is about to be carried out.
    Began {
        token: String,
        key: String,
        at: Timestamp,
        fingerprint: String,
    },
    /// It was carried out.
    Answered {
        token: String,
        key: String,
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// It was refused, and changed nothing.
    Refused { token: String, key: String },
}

impl Line {
    pub(super) fn began((token, key): &Name, at: Timestamp, fingerprint: [u8; 32]) -> Self {
        Self::Began {
            token: token.clone(),
            key: key.clone(),
            at,
            fingerprint: BASE64_STANDARD.encode(fingerprint),
        }
    }

    pub(super) fn answered((token, key): &Name, reply: &Reply) -> Self {
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = reply.headers.iter();
        let headers = headers.map(|(name, value)| (name.to_string(), text(value)));
        Self::Answered {
            token: token.clone(),
            key: key.clone(),
            status: reply.status.as_u16(),
            headers: headers.collect(),
            // All answers of the API are JSON.
            body: String::from_utf8_lossy(&reply.body).into_owned(),
        }
    }

    pub(super) fn refused((token, key): &Name) -> Self {
        Self::Refused {
            token: token.clone(),
            key: key.clone(),
        }
    }

    /// The fingerprint of a request; `None` if that is not one.
    pub(super) fn fingerprint(text: &str) -> Option<[u8; 32]> {
        BASE64_STANDARD.decode(text).ok()?.try_into().ok()
    }

    /// The answer of these parts; `None` if they make none.
    pub(super) fn reply(
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    ) -> Option<Reply> {
        let header = |(name, value): (String, String)| {
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::try_from(value).ok()?))
        };
        Some(Reply {
            status: StatusCode::from_u16(status).ok()?,
            headers: headers
                .into_iter()
                .map(header)
                .collect::<Option<HeaderMap>>()?,
            body: Bytes::from(body),
        })
    }
}

/// Whether a line must be on disk before the work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    Now,
    Later,
}

/// The open file. Only the process that has the log open writes it.
#[derive(Debug)]
pub(super) struct ReplyFile {
    folder: PathBuf,
    file: File,
    /// How long it is.
    bytes: u64,
    /// It is written anew when it is longer than this.
    most: u64,
}

impl ReplyFile {
    /// Opens the file of a folder, or creates it, and returns its lines. A line that cannot be read was not finished, or was
    /// written by a newer program: it is skipped.
    pub(super) fn open(folder: &Path) -> io::Result<(Self, Vec<Line>)> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut lines = Vec::new();
        for line in text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            match serde_json::from_slice(line) {
                Ok(line) => lines.push(line),
                Err(error) => {
                    tracing::warn!(%error, "a kept answer cannot be read and is forgotten")
                }
            }
        }
        let mut file = private().append(true).create(true).open(&path)?;
        // The next line must not become part of one that was not finished.
        if text.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        let bytes = file.metadata()?.len();
        let folder = folder.to_owned();
        let most = REWRITTEN_FROM.max(bytes.saturating_mul(4));
        Ok((
            Self {
                folder,
                file,
                bytes,
                most,
            },
            lines,
        ))
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &Line, flush: Flush) -> io::Result<()> {
        let text = to_text(line)?;
        let before = self.bytes;
        let added = self.file.write_all(&text).and_then(|()| match flush {
            Flush::Now => self.file.sync_data(),
            Flush::Later => Ok(()),
        });
        if let Err(error) = added {
            // A part of the line may be there, for example because the disk is full.
            drop(self.file.set_len(before));
            return Err(error);
        }
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Whether it is time to write the file anew.
    pub(super) fn is_long(&self) -> bool {
        self.bytes > self.most
    }

    /// Replaces the file by one with these lines.
    pub(super) fn rewrite(&mut self, lines: &[Line]) -> io::Result<()> {
        let (new, path) = (self.folder.join(NEW), self.folder.join(FILE));
        let mut file = private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        for line in lines {
            file.write_all(&to_text(line)?)?;
        }
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(&self.folder)?.sync_all()?;
        self.bytes = file.metadata()?.len();
        self.most = REWRITTEN_FROM.max(self.bytes.saturating_mul(4));
        self.file = private().append(true).open(&path)?;
        Ok(())
    }
}

fn to_text(line: &Line) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

/// Only the owner may read answers.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}
