//! A counter with a cache.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, RandomState},
    mem,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use dormouse_contracts::{TokenCount, TokenCounter};

/// The hash and the length of a text.
type Key = (u64, usize);

#[derive(Default)]
struct Generations {
    young: HashMap<Key, TokenCount>,
    old: HashMap<Key, TokenCount>,
}

impl Generations {
    fn find(&mut self, key: Key, half: usize) -> Option<TokenCount> {
        if let Some(found) = self.young.get(&key) {
            return Some(*found);
        }
        let found = self.old.remove(&key)?;
        self.keep(key, found, half);
        Some(found)
    }

    fn keep(&mut self, key: Key, counted: TokenCount, half: usize) {
        if self.young.len() >= half {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, counted);
    }
}

/// Caches the counts of texts, so that a message that is part of every request is tokenised once.
///
/// The cache stores about 40 bytes for each text, but not the text itself. It evicts the least recently used texts
/// first. The key of the hash is random in each process, so that nobody can construct two texts with the same hash and
/// length. A caller that stores counts with its messages needs no cache.
///
/// # Examples
///
/// ```
/// use std::{num::NonZeroUsize, sync::Arc};
/// use dormouse_contracts::TokenCounter;
/// use dormouse_providers::{CachedCounter, Estimate};
///
/// let counter = CachedCounter::new(Arc::new(Estimate::default()), NonZeroUsize::MIN.saturating_add(999));
/// assert_eq!(counter.count("Where is the kettle?"), counter.count("Where is the kettle?"));
/// ```
pub struct CachedCounter {
    inner: Arc<dyn TokenCounter>,
    hasher: RandomState,
    half: usize,
    known: Mutex<Generations>,
}

impl CachedCounter {
    /// Caches the counts of up to `texts` texts.
    #[must_use]
    pub fn new(inner: Arc<dyn TokenCounter>, texts: NonZeroUsize) -> Self {
        Self {
            inner,
            hasher: RandomState::new(),
            half: texts.get().div_ceil(2),
            known: Mutex::default(),
        }
    }

    fn known<T>(&self, look: impl FnOnce(&mut Generations) -> T) -> T {
        look(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TokenCounter for CachedCounter {
    fn count(&self, text: &str) -> TokenCount {
        let key = (self.hasher.hash_one(text), text.len());
        if let Some(found) = self.known(|known| known.find(key, self.half)) {
            return found;
        }
        let counted = self.inner.count(text);
        self.known(|known| known.keep(key, counted, self.half));
        counted
    }
}

impl fmt::Debug for CachedCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedCounter")
            .field(
                "texts",
                &self.known(|known| known.young.len() + known.old.len()),
            )
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::Estimate;

    #[derive(Default)]
    struct CountingCounter(AtomicUsize);

    impl TokenCounter for CountingCounter {
        fn count(&self, text: &str) -> TokenCount {
            self.0.fetch_add(1, Ordering::Relaxed);
            Estimate::default().count(text)
        }
    }

    fn cached(texts: usize) -> (Arc<CountingCounter>, CachedCounter) {
        let counting = Arc::new(CountingCounter::default());
        let counter = CachedCounter::new(
            Arc::clone(&counting) as _,
            NonZeroUsize::new(texts).unwrap(),
        );
        (counting, counter)
    }

    #[test]
    fn a_repeated_text_is_counted_once() {
        let (counting, counter) = cached(8);
        for round in 0..50 {
            counter.count("the prompt that comes with every request");
            counter.count(&format!("message {round}"));
            counter.count(&format!("message {round}"));
        }
        assert_eq!(counting.0.load(Ordering::Relaxed), 51);
    }

    proptest! {
        #[test]
        fn a_cached_count_never_differs_and_the_cache_stays_bounded(
            texts in prop::collection::vec("[ab]{0,6}", 0..80),
            most in 1usize..10,
        ) {
            let (_, counter) = cached(most);
            for text in &texts {
                prop_assert_eq!(counter.count(text), Estimate::default().count(text));
                let kept = counter.known(|known| known.young.len() + known.old.len());
                prop_assert!(kept <= most + 1);
            }
        }
    }
}
