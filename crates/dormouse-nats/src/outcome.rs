//! What the answer to a publish means, and what to do next.

use std::time::Duration;

use crate::{
    api::{ApiError, WRONG_LAST_SEQUENCE},
    chain::Link,
    frame::Hash,
};

/// A message of the subject is still being stored: the same words as above, but it passes.
const WRITE_IN_PROGRESS: u32 = 10164;
/// The message is larger than the stream accepts.
const MESSAGE_TOO_LARGE: u32 = 10054;

/// What to do after an attempt to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is stored, now or by an earlier attempt with the same id.
    Done { stream_seq: u64 },
    /// Another message is where this one should go: look which.
    Look,
    /// Publish again, with the same id.
    Again(Outcome),
    /// The same message is never accepted.
    TooLarge,
}

/// What is known of an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was not stored.
    NotStored,
    /// The message with this hash may have been stored, or will be.
    Unknown(Hash),
}

/// What to do after the answer to publishing the message with this hash.
pub(crate) fn after_publish(answer: &Result<u64, ApiError>, hash: &Hash) -> Step {
    let unknown = Step::Again(Outcome::Unknown(*hash));
    match answer {
        Ok(stream_seq) => Step::Done {
            stream_seq: *stream_seq,
        },
        Err(ApiError::NoResponders) => Step::Again(Outcome::NotStored),
        Err(ApiError::Silence(_) | ApiError::Malformed(_)) => unknown,
        Err(ApiError::Server(error)) => match error.err_code {
            WRONG_LAST_SEQUENCE => Step::Look,
            MESSAGE_TOO_LARGE => Step::TooLarge,
            WRITE_IN_PROGRESS => Step::Again(Outcome::NotStored),
            // The leader refuses before it stores. One whose disk fails may have passed the message on already.
            _ if error.code == 400 || error.code == 503 => Step::Again(Outcome::NotStored),
            _ => unknown,
        },
    }
}

/// What is where a message should go, after [`Step::Look`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The message itself: an earlier attempt was stored.
    Mine { stream_seq: u64 },
    /// A message of another writer: this one was not stored, and never will be.
    Others,
    /// Nothing, and the log ends where the writer thinks: a leader that was just chosen has refused it.
    Nothing,
    /// The log ends before a message that is known. The leader is behind, or the log was shortened.
    Behind,
}

/// Judges what a writer found that knows the log up to `known`: the first message after that, and the sequence of the last.
pub(crate) fn judge(
    known: &Link,
    mine: &Hash,
    first_after: Option<(u64, Option<Hash>)>,
    last: Option<u64>,
) -> Found {
    match first_after {
        Some((stream_seq, Some(hash))) if hash == *mine => Found::Mine { stream_seq },
        Some(_) => Found::Others,
        None if last.unwrap_or(0) < known.stream_seq => Found::Behind,
        None => Found::Nothing,
    }
}

/// The pause before attempt `number`, which starts at 1. Short at first: what passes often passes in milliseconds.
pub(crate) fn pause(number: u32) -> Duration {
    Duration::from_millis(2 << number.min(7)).min(Duration::from_millis(250))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ServerError;

    const HASH: Hash = [3; 32];

    fn refused(code: u16, err_code: u32) -> Step {
        let error = ServerError {
            code,
            err_code,
            description: String::new(),
        };
        after_publish(&Err(error.into()), &HASH)
    }

    #[test]
    fn an_answer_means_done_look_again_or_never() {
        let not_stored = Step::Again(Outcome::NotStored);
        let unknown = Step::Again(Outcome::Unknown(HASH));
        let after = |answer| after_publish(&answer, &HASH);
        assert_eq!(after(Ok(7)), Step::Done { stream_seq: 7 });
        assert_eq!(refused(400, 10071), Step::Look);
        assert_eq!(refused(400, 10164), not_stored);
        assert_eq!(refused(503, 10008), not_stored);
        assert_eq!(refused(400, 10054), Step::TooLarge);
        assert_eq!(refused(500, 10077), unknown);
        assert_eq!(after(Err(ApiError::NoResponders)), not_stored);
        assert_eq!(after(Err(ApiError::Silence(None))), unknown);
    }

    #[test]
    fn what_is_found_is_mine_only_by_its_hash() {
        let known = Link {
            stream_seq: 5,
            ..Link::default()
        };
        let mine = [1; 32];
        let found = |first, last| judge(&known, &mine, first, last);
        assert_eq!(
            found(Some((9, Some(mine))), Some(12)),
            Found::Mine { stream_seq: 9 },
            "even if others have written after it"
        );
        assert_eq!(found(Some((9, Some([2; 32]))), Some(9)), Found::Others);
        assert_eq!(found(Some((9, None)), Some(9)), Found::Others);
        assert_eq!(found(None, Some(5)), Found::Nothing);
        assert_eq!(found(None, Some(3)), Found::Behind);
        assert_eq!(found(None, None), Found::Behind);
        assert_eq!(
            judge(&Link::default(), &mine, None, None),
            Found::Nothing,
            "an empty log has nothing to lose"
        );
    }

    #[test]
    fn pauses_grow_to_a_quarter_of_a_second() {
        assert_eq!(pause(1), Duration::from_millis(4));
        assert_eq!(pause(3), Duration::from_millis(16));
        assert_eq!(pause(u32::MAX), Duration::from_millis(250));
    }
}
