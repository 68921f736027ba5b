//! Verifies that each message follows from the one before. The server's own check is made by the leader alone and is not
//! repeated when a message is applied, so nobody may rely on it.

use dormouse_contracts::{ReadErrorKind, Seq};

use crate::frame::{Frame, FrameFault, Hash, WriterId};

/// Where an assistant's log ends, or where a reader is in it: the last event, and the message that it came in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// The last event of that message; [`Seq::ZERO`] before the first one.
    pub(crate) last: Seq,
    /// The message's sequence in the stream; 0 before the first one.
    pub(crate) stream_seq: u64,
    pub(crate) hash: Hash,
    pub(crate) epoch: u64,
    pub(crate) writer: WriterId,
}

/// An assistant's log is not what its owners wrote. It is not written any more, and must be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainBreak {
    /// A message is damaged, or belongs to another assistant.
    #[error(
        "message {stream_seq} of the stream, which should begin with event {at}, is damaged or is not of this log"
    )]
    Damaged {
        /// The first event that cannot be read.
        at: Seq,
        /// The message.
        stream_seq: u64,
    },
    /// A message was written by a newer version of the program.
    #[error("event {at} was written in format {found}, and this version reads up to {known}")]
    Newer {
        /// The event.
        at: Seq,
        /// Its format.
        found: u16,
        /// The newest format this program knows.
        known: u16,
    },
    /// Events are missing between two messages.
    #[error(
        "expected event {expected}, but message {stream_seq} of the stream begins with event {found}"
    )]
    Gap {
        /// The event that should follow.
        expected: Seq,
        /// The event that does.
        found: Seq,
        /// The message.
        stream_seq: u64,
    },
    /// A message follows another one than the message before it: two writers were accepted, or a part was replaced.
    #[error(
        "message {stream_seq} of the stream, with event {at}, does not follow from the message before it"
    )]
    OtherPast {
        /// The first event that does not follow.
        at: Seq,
        /// The message.
        stream_seq: u64,
    },
    /// A message was accepted from an owner who had been replaced.
    #[error(
        "message {stream_seq} of the stream, with event {at}, is of epoch {found}, but epoch {current} has begun"
    )]
    Fenced {
        /// The event.
        at: Seq,
        /// The message.
        stream_seq: u64,
        /// The epoch of the message.
        found: u64,
        /// The epoch before it.
        current: u64,
    },
    /// The log ends before a message that was acknowledged: it was deleted, purged, or restored from an older copy.
    #[error(
        "the log ended at event {known}, and now ends at event {found}: it was deleted, purged or restored from an older copy"
    )]
    Shortened {
        /// The last event that was known.
        known: Seq,
        /// The last event now.
        found: Seq,
    },
}

impl ChainBreak {
    /// The same for a reader.
    pub(crate) fn read_error(self) -> ReadErrorKind {
        match self {
            Self::Damaged { at, .. } | Self::OtherPast { at, .. } | Self::Fenced { at, .. } => {
                ReadErrorKind::Corrupt { at }
            }
            Self::Newer { at, found, known } => ReadErrorKind::Newer { at, found, known },
            Self::Gap {
                expected, found, ..
            } => {
                if found > expected {
                    ReadErrorKind::Missing { at: expected }
                } else {
                    ReadErrorKind::Corrupt { at: expected }
                }
            }
            Self::Shortened { found, .. } => ReadErrorKind::Missing { at: found.next() },
        }
    }
}

impl Link {
    /// The link of a message, without a look at the one before.
    pub(crate) fn of(stream_seq: u64, frame: &Frame) -> Self {
        Self {
            last: frame.events.last().map_or(Seq::ZERO, |event| event.seq),
            stream_seq,
            hash: frame.hash,
            epoch: frame.header.epoch,
            writer: frame.header.writer,
        }
    }

    /// The link of a message that follows from this one.
    pub(crate) fn follow(&self, stream_seq: u64, frame: &Frame) -> Result<Self, ChainBreak> {
        let header = &frame.header;
        let at = self.last.next();
        if header.first != at {
            return Err(ChainBreak::Gap {
                expected: at,
                found: header.first,
                stream_seq,
            });
        }
        let follows = header.previous == self.stream_seq
            && header.previous_hash == self.hash
            && stream_seq > self.stream_seq;
        if !follows {
            return Err(ChainBreak::OtherPast { at, stream_seq });
        }
        // An epoch belongs to one writer: a second writer of the same epoch was not accepted by the first.
        let is_owner = header.epoch > self.epoch
            || (header.epoch == self.epoch && header.writer == self.writer);
        if !is_owner {
            return Err(ChainBreak::Fenced {
                at,
                stream_seq,
                found: header.epoch,
                current: self.epoch,
            });
        }
        Ok(Self::of(stream_seq, frame))
    }

    /// The break at a message that could not be decoded and should follow from this one.
    pub(crate) fn damaged(&self, stream_seq: u64, fault: FrameFault) -> ChainBreak {
        let at = self.last.next();
        match fault {
            FrameFault::Newer { found } => ChainBreak::Newer {
                at,
                found,
                known: crate::frame::FORMAT,
            },
            FrameFault::Damaged | FrameFault::OtherAssistant => {
                ChainBreak::Damaged { at, stream_seq }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Header, seal, unseal};
    use dormouse_contracts::{AssistantId, NewEvent, Timestamp};

    const WRITER: WriterId = [1; 16];

    /// A message of `count` events that follows from `link`, changed by `change`.
    fn next(link: &Link, count: usize, change: impl FnOnce(&mut Header)) -> Frame {
        let alice = AssistantId::try_new("alice").unwrap();
        let mut header = Header {
            first: link.last.next(),
            epoch: 4,
            writer: WRITER,
            previous: link.stream_seq,
            previous_hash: link.hash,
        };
        change(&mut header);
        let event = NewEvent {
            at: Timestamp::EPOCH,
            kind: "heard",
            schema: 1,
            payload: vec![7],
        };
        let sealed = seal(&alice, &header, &vec![event; count]);
        unseal(&alice, &sealed.bytes).unwrap()
    }

    fn start() -> Link {
        let first = next(&Link::default(), 2, |_| {});
        Link::default().follow(10, &first).unwrap()
    }

    #[test]
    fn a_message_that_follows_moves_the_end() {
        let link = start();
        assert_eq!((link.last, link.stream_seq), (Seq(2), 10));
        let link = link.follow(12, &next(&link, 3, |_| {})).unwrap();
        assert_eq!((link.last, link.stream_seq, link.epoch), (Seq(5), 12, 4));
    }

    #[test]
    fn every_way_not_to_follow_is_found() {
        let link = start();
        let (at, stream_seq) = (Seq(3), 12);
        let broken = |change: fn(&mut Header)| link.follow(stream_seq, &next(&link, 1, change));
        let other = Err(ChainBreak::OtherPast { at, stream_seq });
        assert_eq!(broken(|h| h.previous = 9), other);
        assert_eq!(broken(|h| h.previous_hash = [0; 32]), other);
        let gap = |found| {
            Err(ChainBreak::Gap {
                expected: at,
                found: Seq(found),
                stream_seq,
            })
        };
        assert_eq!(broken(|h| h.first = Seq(5)), gap(5));
        assert_eq!(broken(|h| h.first = Seq(2)), gap(2));
        let fenced = |found| {
            Err(ChainBreak::Fenced {
                at,
                stream_seq,
                found,
                current: 4,
            })
        };
        assert_eq!(broken(|h| h.epoch = 3), fenced(3));
        assert_eq!(broken(|h| h.writer = [2; 16]), fenced(4));
        assert!(broken(|h| (h.epoch, h.writer) = (5, [2; 16])).is_ok());
        assert_eq!(
            link.follow(10, &next(&link, 1, |_| {})),
            Err(ChainBreak::OtherPast { at, stream_seq: 10 })
        );
    }

    #[test]
    fn a_reader_learns_the_first_event_that_is_not_as_it_was_written() {
        let kind = |broken: ChainBreak| broken.read_error();
        let (at, stream_seq) = (Seq(3), 9);
        let gap = |found| ChainBreak::Gap {
            expected: at,
            found: Seq(found),
            stream_seq,
        };
        assert_eq!(kind(gap(5)), ReadErrorKind::Missing { at });
        assert_eq!(kind(gap(1)), ReadErrorKind::Corrupt { at });
        assert_eq!(
            kind(ChainBreak::OtherPast { at, stream_seq }),
            ReadErrorKind::Corrupt { at }
        );
        let shortened = ChainBreak::Shortened {
            known: Seq(9),
            found: Seq(2),
        };
        assert_eq!(kind(shortened), ReadErrorKind::Missing { at });
    }
}
