//! What was made of the messages of a request, kept for the next request with the same messages.

use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Mutex, PoisonError},
};

use dormouse_contracts::{ChatRequest, Message, MessageDigest};

/// What was made of the latest messages that have a digest. A request repeats the conversation before it, so most of its
/// messages were looked at already.
pub(crate) struct MessageCache<T> {
    kept: Mutex<Generations<T>>,
    /// How many bytes a generation takes at most, with about one entry more.
    room: usize,
    size: fn(&T) -> usize,
}

/// The entries that were used lately, and those that were not: a full generation replaces the one before it.
struct Generations<T> {
    young: HashMap<MessageDigest, T>,
    old: HashMap<MessageDigest, T>,
    /// The bytes of the young generation.
    bytes: usize,
}

/// What an entry takes in addition to its own bytes.
const ENTRY: usize = 64;

impl<T: Clone> MessageCache<T> {
    /// Keeps up to twice so many bytes. `size` returns the bytes of an entry.
    pub(crate) fn within(room: usize, size: fn(&T) -> usize) -> Self {
        let kept = Generations {
            young: HashMap::new(),
            old: HashMap::new(),
            bytes: 0,
        };
        Self {
            kept: Mutex::new(kept),
            room,
            size,
        }
    }

    /// Returns what `make` returns for each message; calls it only for messages that are not kept. Whether a message is kept
    /// makes no other difference, because a digest is made of the whole message.
    pub(crate) fn of_each(&self, request: &ChatRequest, make: impl Fn(&Message) -> T) -> Vec<T> {
        let messages = || request.messages.iter().zip(request.digests.each());
        let found: Vec<Option<T>> = self.kept(|kept| {
            let mut find = |digest| kept.find(digest, self);
            let each = messages().map(|(_, digest)| digest.and_then(&mut find));
            each.collect()
        });
        let (mut made, mut new) = (Vec::with_capacity(found.len()), Vec::new());
        for ((message, digest), found) in messages().zip(found) {
            let it = found.unwrap_or_else(|| {
                let it = make(message);
                new.extend(digest.map(|digest| (digest, it.clone())));
                it
            });
            made.push(it);
        }
        if !new.is_empty() {
            self.kept(|kept| {
                for (digest, it) in new {
                    kept.keep(digest, it, self);
                }
            });
        }
        made
    }

    fn kept<R>(&self, look: impl FnOnce(&mut Generations<T>) -> R) -> R {
        look(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: Clone> Generations<T> {
    fn find(&mut self, digest: MessageDigest, of: &MessageCache<T>) -> Option<T> {
        if let Some(found) = self.young.get(&digest) {
            return Some(found.clone());
        }
        let found = self.old.remove(&digest)?;
        self.keep(digest, found.clone(), of);
        Some(found)
    }

    fn keep(&mut self, digest: MessageDigest, made: T, of: &MessageCache<T>) {
        if self.bytes >= of.room {
            self.old = mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += ENTRY + (of.size)(&made);
        self.young.insert(digest, made);
    }
}

impl<T> fmt::Debug for MessageCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageCache")
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, sync::Arc};

    use proptest::prelude::*;

    use super::*;

    fn text(message: &Message) -> Arc<[u8]> {
        format!("{message:?}").into_bytes().into()
    }

    /// A request whose messages have a digest if their number is even.
    fn request(numbers: &[u8]) -> ChatRequest {
        let messages = numbers.iter().map(|number| Message::User {
            content: number.to_string(),
        });
        let digests = numbers.iter();
        let digests =
            digests.map(|number| (number % 2 == 0).then_some(MessageDigest([*number; 16])));
        ChatRequest {
            messages: messages.collect(),
            digests: digests.collect(),
            ..ChatRequest::default()
        }
    }

    #[test]
    fn a_message_with_a_digest_is_looked_at_once() {
        let kept = MessageCache::within(10_000, |it: &Arc<[u8]>| it.len());
        let made = Cell::new(0);
        for _ in 0..3 {
            kept.of_each(&request(&[1, 2, 4]), |message| {
                made.set(made.get() + 1);
                text(message)
            });
        }
        assert_eq!(made.get(), 3 + 2);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_what_is_made_anew_and_stays_bounded(
            requests in prop::collection::vec(prop::collection::vec(0_u8..40, 0..20), 0..12),
            room in 0_usize..2_000,
        ) {
            let kept = MessageCache::within(room, |it: &Arc<[u8]>| it.len());
            for numbers in requests {
                let asked = request(&numbers);
                let anew: Vec<_> = asked.messages.iter().map(text).collect();
                prop_assert_eq!(kept.of_each(&asked, text), anew);
                prop_assert!(kept.kept(|kept| kept.bytes) <= room + 200);
            }
        }
    }
}
