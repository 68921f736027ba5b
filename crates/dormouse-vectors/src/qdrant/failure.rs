//! The meaning of a server's refusals.

use std::{error::Error, time::Duration};

use dormouse_contracts::{BoxError, VectorError, VectorErrorKind};
use dormouse_text::{beginning, one_line};
use tonic::{Code, Status};

use super::address::ApiKey;

/// How much of a server's message an error repeats, in characters.
const LONGEST_WORDS: usize = 300;

/// A failure before the name of the index is added.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: VectorErrorKind,
    source: Option<BoxError>,
}

impl Failure {
    pub(super) fn because(kind: VectorErrorKind, source: impl Into<BoxError>) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }

    pub(super) fn of(self, index: String) -> VectorError {
        let error = VectorError::new(index, self.kind);
        match self.source {
            Some(source) => error.with_source(source),
            None => error,
        }
    }
}

impl From<VectorErrorKind> for Failure {
    fn from(kind: VectorErrorKind) -> Self {
        Self { kind, source: None }
    }
}

/// A failure on this side of the connection, or an unusable answer from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("the server did not answer in time")]
    TimedOut,
    #[error("a request to a server needs a tokio runtime")]
    NoRuntime,
    #[error("the collection exists, but for other vectors or with another distance than cosine")]
    OtherCollection,
    #[error("the server answered without a result")]
    EmptyAnswer,
    #[error("the server accepted the points but did not wait until they can be found")]
    NotApplied,
}

/// The message of the server, without the key.
#[derive(Debug, thiserror::Error)]
#[error("{code:?}: {words}")]
struct Answered {
    code: Code,
    words: String,
}

/// Turns a refusal into what a caller can act on.
pub(super) fn failure(status: &Status, key: Option<&ApiKey>) -> Failure {
    let pause = status.metadata().get("retry-after");
    let pause = pause.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let mut words = status.message().to_owned();
    let mut next = status.source();
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        // Errors on this side repeat the same words in every layer.
        if !words.contains(&cause_words) {
            words.push_str(": ");
            words.push_str(&cause_words);
        }
        next = cause.source();
    }
    answered(status.code(), &words, pause.map(Duration::from_secs), key)
}

fn answered(code: Code, words: &str, pause: Option<Duration>, key: Option<&ApiKey>) -> Failure {
    let kind = match code {
        // A server says "internal" when it could not write to its disk.
        Code::Ok
        | Code::Cancelled
        | Code::Unknown
        | Code::DeadlineExceeded
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::Internal
        | Code::Unavailable => VectorErrorKind::Unavailable,
        Code::ResourceExhausted => VectorErrorKind::Overloaded(pause),
        Code::PermissionDenied | Code::Unauthenticated => VectorErrorKind::Unauthorised,
        Code::NotFound => VectorErrorKind::Missing,
        Code::DataLoss => VectorErrorKind::Damaged,
        Code::InvalidArgument => dimension(words).unwrap_or(VectorErrorKind::Refused),
        Code::AlreadyExists | Code::OutOfRange | Code::Unimplemented => VectorErrorKind::Refused,
    };
    let words = readable(words, key);
    Failure::because(kind, Answered { code, words })
}

/// Reads `expected dim: 384, got 3`: only the message distinguishes a wrong length from other invalid arguments.
fn dimension(words: &str) -> Option<VectorErrorKind> {
    let (_, numbers) = words.split_once("expected dim: ")?;
    let (expected, rest) = numbers.split_once(", got ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(VectorErrorKind::Dimension {
        expected: expected.parse().ok()?,
        actual: digits.parse().ok()?,
    })
}

/// One line without the key in it.
fn readable(words: &str, key: Option<&ApiKey>) -> String {
    // The key is replaced after `one_line`, which removes hidden characters: a key that they interrupt is whole only
    // then.
    let line = one_line(words);
    let line = match key {
        Some(key) => line.replace(key.expose(), "***"),
        None => line,
    };
    beginning(&line, LONGEST_WORDS).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(number: i32, words: &str) -> VectorErrorKind {
        answered(Code::from_i32(number), words, None, None).kind
    }

    #[test]
    fn each_status_code_has_its_error_kind() {
        for number in [-1, 0, 1, 2, 4, 9, 10, 13, 14, 17] {
            assert_eq!(kind(number, ""), VectorErrorKind::Unavailable, "{number}");
        }
        for number in [3, 6, 11, 12] {
            assert_eq!(kind(number, ""), VectorErrorKind::Refused, "{number}");
        }
        for number in [7, 16] {
            assert_eq!(kind(number, ""), VectorErrorKind::Unauthorised, "{number}");
        }
        assert_eq!(kind(5, ""), VectorErrorKind::Missing);
        assert_eq!(kind(15, ""), VectorErrorKind::Damaged);
        assert_eq!(kind(8, ""), VectorErrorKind::Overloaded(None));
        let pause = Some(Duration::from_secs(7));
        assert_eq!(
            answered(Code::ResourceExhausted, "", pause, None).kind,
            VectorErrorKind::Overloaded(pause)
        );
    }

    #[test]
    fn the_words_about_a_wrong_length_are_understood() {
        let words = "Wrong input: Vector dimension error: expected dim: 384, got 3";
        let expected = VectorErrorKind::Dimension {
            expected: 384,
            actual: 3,
        };
        assert_eq!(kind(3, words), expected);
        assert_eq!(kind(3, &format!("{words}.")), expected);
        for words in [
            "expected dim: x, got 3",
            "expected dim: 3",
            "expected dim: 3, got ",
        ] {
            assert_eq!(kind(3, words), VectorErrorKind::Refused, "{words}");
        }
    }

    #[test]
    fn an_error_has_a_servers_words_but_not_the_key() {
        let key = ApiKey::try_new("s3cr3t").unwrap();
        let words = format!(
            "no\n such\u{202e} key s3c\u{200b}r3t, s3cr3t {}",
            "x".repeat(1_000)
        );
        let error =
            answered(Code::Unauthenticated, &words, None, Some(&key)).of("qdrant".to_owned());
        let text = format!("{error} {error:?}");
        assert!(text.contains("Unauthenticated") && text.contains("no such key ***, *** x"));
        assert!(!text.contains("s3cr3t") && text.len() < 1_000);
    }
}
