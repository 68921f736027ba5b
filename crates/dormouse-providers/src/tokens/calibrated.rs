//! A counter that learns from reported usage.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{ChatRequest, TokenCount, TokenCounter, Usage};

use super::{
    Calibration, Observed, RequestCount,
    request::{count_message, count_parts, count_tools},
};
use crate::{message_cache::MessageCache, tool_list_cache::ToolListCache};

/// The room for the counts of messages, in bytes: a few thousand messages.
const MESSAGES_ROOM: usize = 256 * 1024;

/// A counter for one model, corrected by a [`Calibration`].
///
/// Its counts of the same text change while it learns. If a decision depends on a count and must be replayed, store the
/// count. You may cache the inner counter with [`CachedCounter`](crate::CachedCounter), but not this one.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use dormouse_contracts::{ChatRequest, Message, TokenCounter, Usage};
/// use dormouse_providers::{CalibratedCounter, Estimate};
///
/// let counter = CalibratedCounter::new(Arc::new(Estimate::default()));
/// let request = ChatRequest {
///     messages: vec![Message::User { content: "1234567890 ".repeat(100) }],
///     ..ChatRequest::default()
/// };
///
/// let count = counter.count_request(&request);
/// let before = counter.corrected(&count);
/// // … the request is made, and the provider says what it counted:
/// counter.observe(&count, &Usage { prompt_tokens: 507, ..Usage::default() });
/// assert!(counter.corrected(&count) > before);
/// ```
pub struct CalibratedCounter {
    inner: Arc<dyn TokenCounter>,
    calibration: Mutex<Calibration>,
    tools: ToolListCache<RequestCount>,
    messages: MessageCache<RequestCount>,
}

impl CalibratedCounter {
    /// Corrects `inner`, without previous observations.
    #[must_use]
    pub fn new(inner: Arc<dyn TokenCounter>) -> Self {
        Self::resumed(inner, Calibration::default())
    }

    /// Corrects `inner` with a saved calibration of the same model and counter.
    #[must_use]
    pub fn resumed(inner: Arc<dyn TokenCounter>, calibration: Calibration) -> Self {
        Self {
            inner,
            calibration: Mutex::new(calibration),
            tools: ToolListCache::default(),
            messages: MessageCache::within(MESSAGES_ROOM, size_of_val),
        }
    }

    /// Returns the calibration, to save it.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        *self.learnt()
    }

    /// Counts a request without correction. Pass the count to [`observe`](Self::observe) with the answer.
    #[must_use]
    pub fn count_request(&self, request: &ChatRequest) -> RequestCount {
        let count = |message: &_| count_message(&*self.inner, message);
        let messages = self.messages.of_each(request, count);
        let count = || count_tools(&*self.inner, &request.tools);
        let tools = self.tools.get(&request.tools, count);
        count_parts(&*self.inner, request, tools, messages)
    }

    /// Returns the corrected number of tokens.
    #[must_use]
    pub fn corrected(&self, count: &RequestCount) -> u32 {
        self.learnt().apply(count)
    }

    /// Learns from the usage of a request. `count` is that of [`count_request`](Self::count_request), not a corrected
    /// one: otherwise the correction would be applied to itself.
    pub fn observe(&self, count: &RequestCount, usage: &Usage) -> Observed {
        self.learnt().observe(count, usage)
    }

    /// Locks the calibration. A poisoned lock is usable, because no panic can leave a partly updated calibration.
    fn learnt(&self) -> MutexGuard<'_, Calibration> {
        self.calibration
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenCounter for CalibratedCounter {
    fn count(&self, text: &str) -> TokenCount {
        let counted = self.inner.count(text);
        self.learnt().scale(counted)
    }
}

impl fmt::Debug for CalibratedCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CalibratedCounter")
            .field("calibration", &self.calibration())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use dormouse_testing::CountTokens;

    use super::*;
    use crate::Estimate;

    fn usage(prompt_tokens: u32) -> Usage {
        Usage {
            prompt_tokens,
            ..Usage::default()
        }
    }

    #[test]
    fn reported_usage_corrects_counts_and_survives_a_restart() {
        let counter = CalibratedCounter::new(Arc::new(Estimate::default()));
        let count = RequestCount {
            texts: 1_000,
            ..RequestCount::default()
        };
        for _ in 0..100 {
            counter.observe(&count, &usage(2_000));
        }
        let text = "x".repeat(400);
        let counted = counter.count(&text);
        assert!((199..=201).contains(&counted.tokens) && !counted.exact);
        let again =
            CalibratedCounter::resumed(Arc::new(Estimate::default()), counter.calibration());
        assert_eq!(again.count(&text), counted);
    }

    #[test]
    fn an_exact_counter_is_never_calibrated() {
        let counter = CalibratedCounter::new(Arc::new(CountTokens));
        let count = RequestCount {
            texts: 1_000,
            framing: 7,
            messages: 1,
            exact_texts: true,
        };
        for _ in 0..20 {
            counter.observe(&count, &usage(3_000));
        }
        assert_eq!(
            counter.count("three little words"),
            TokenCount {
                tokens: 3,
                exact: true
            }
        );
    }
}
