//! What a server's refusals mean.

use std::time::Duration;

use dormouse_contracts::{BoxError, VectorError, VectorErrorKind};
use qdrant_client::QdrantError;

use super::address::ApiKey;

/// The most of a server's words that an error repeats, in characters.
const LONGEST_WORDS: usize = 300;

/// A failure before it is told of which index it is.
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

/// What went wrong on this side of the connection, or with what is on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("the server did not answer in time")]
    TimedOut,
    #[error("a request to a server needs a tokio runtime")]
    NoRuntime,
    #[error("the collection is there, but for other vectors or by another distance than cosine")]
    OtherCollection,
    #[error("the server took the points, but did not wait until they can be found")]
    NotApplied,
    #[error("the client could not make sense of the request or the answer")]
    Client,
}

/// What the server said, in the words it used but for the key.
#[derive(Debug, thiserror::Error)]
#[error("{code:?}: {words}")]
struct Answered {
    code: Code,
    words: String,
}

/// The codes of gRPC, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

impl Code {
    fn of(number: i32) -> Self {
        match number {
            1 => Self::Cancelled,
            3 => Self::InvalidArgument,
            4 => Self::DeadlineExceeded,
            5 => Self::NotFound,
            6 => Self::AlreadyExists,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            9 => Self::FailedPrecondition,
            10 => Self::Aborted,
            11 => Self::OutOfRange,
            12 => Self::Unimplemented,
            13 => Self::Internal,
            14 => Self::Unavailable,
            15 => Self::DataLoss,
            16 => Self::Unauthenticated,
            _ => Self::Unknown,
        }
    }
}

/// Turns what the client tells into what a caller can act on.
pub(super) fn failure(error: QdrantError, key: Option<&ApiKey>) -> Failure {
    match error {
        QdrantError::ResponseError { status } => {
            answered(status.code() as i32, status.message(), None, key)
        }
        QdrantError::ResourceExhaustedError {
            status,
            retry_after_seconds,
        } => {
            let pause = Duration::from_secs(retry_after_seconds);
            answered(status.code() as i32, status.message(), Some(pause), key)
        }
        QdrantError::Io(error) => Failure::because(VectorErrorKind::Unavailable, error),
        QdrantError::ConversionError(_)
        | QdrantError::InvalidUri(_)
        | QdrantError::NoSnapshotFound(_) => {
            Failure::because(VectorErrorKind::Refused, Fault::Client)
        }
    }
}

fn answered(number: i32, words: &str, pause: Option<Duration>, key: Option<&ApiKey>) -> Failure {
    let code = Code::of(number);
    let kind = match code {
        // The client says "internal" when it cannot connect, and a server when it could not write to its disk.
        Code::Cancelled
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

/// Reads `expected dim: 384, got 3`, the only way in which a server tells the two apart.
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
    let hidden = match key {
        Some(key) => words.replace(key.expose(), "***"),
        None => words.to_owned(),
    };
    let visible = hidden.chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.take(LONGEST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(number: i32, words: &str) -> VectorErrorKind {
        answered(number, words, None, None).kind
    }

    #[test]
    fn codes_say_what_a_caller_can_do() {
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
            answered(8, "", pause, None).kind,
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
        let words = format!("no\n such key s3cr3t, s3cr3t {}", "x".repeat(1_000));
        let error = answered(16, &words, None, Some(&key)).of("qdrant".to_owned());
        let told = format!("{error} {error:?}");
        assert!(told.contains("Unauthenticated") && told.contains("no  such key ***, *** x"));
        assert!(!told.contains("s3cr3t") && told.len() < 1_000);
    }
}
