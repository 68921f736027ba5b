//! The files that pages load. Their addresses change with their contents, so a browser may keep them.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::problem::{Problem, ProblemCode};

/// What the path of each file begins with. No token is needed for them.
pub(crate) const FILES: &str = "/files/";

const STYLE: File = File {
    name: "dormouse.css",
    kind: "text/css; charset=utf-8",
    text: include_str!("files/dormouse.css"),
};
const SCRIPT: File = File {
    name: "dormouse.js",
    kind: "text/javascript; charset=utf-8",
    text: include_str!("files/dormouse.js"),
};
const ICON: File = File {
    name: "dormouse.svg",
    kind: "image/svg+xml",
    text: include_str!("files/dormouse.svg"),
};

pub(super) static STYLE_PATH: LazyLock<String> = LazyLock::new(|| STYLE.path());
pub(super) static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| SCRIPT.path());
pub(super) static ICON_PATH: LazyLock<String> = LazyLock::new(|| ICON.path());

/// A file that is a part of the program.
struct File {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

impl File {
    fn path(&self) -> String {
        let hash = Sha256::digest(self.text);
        let hash: String = hash
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{FILES}{}?{hash}", self.name)
    }
}

/// Sends a file.
pub(super) async fn send(Path(name): Path<String>) -> Result<Response, Problem> {
    let mut files = [STYLE, SCRIPT, ICON].into_iter();
    let file = files.find(|file| file.name == name);
    let file = file.ok_or_else(|| ProblemCode::NotFound.because("there is no such file"))?;
    let keep = "public, max-age=31536000, immutable";
    let headers = [
        (header::CONTENT_TYPE, file.kind),
        (header::CACHE_CONTROL, keep),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok((headers, file.text).into_response())
}
