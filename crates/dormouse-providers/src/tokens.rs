//! Token counts: exact if the vocabulary is known, estimated otherwise, and corrected by the usage that providers
//! report.

use std::sync::Arc;

use dormouse_contracts::{ModelName, ProviderId, TokenCounter};

mod cached;
mod calibrated;
mod calibration;
mod estimate;
mod family;
mod kind;
mod limits;
mod request;
#[cfg(feature = "tiktoken")]
mod tiktoken;

pub use cached::CachedCounter;
pub use calibrated::CalibratedCounter;
pub use calibration::{Calibration, Observed};
pub use estimate::{Estimate, EstimateError};
pub use family::{Family, FamilyEstimate};
pub use limits::{context_window, output_limit};
pub use request::{RequestCount, count_request};
#[cfg(feature = "tiktoken")]
pub use tiktoken::Tiktoken;

/// Returns the best counter for a model. If the model's vocabulary is known and the feature `tiktoken` is on, the
/// counter is exact; otherwise it is the [`FamilyEstimate`] of the model's family. A provider's prefix such as
/// `openai/` is ignored. The vocabulary is loaded at the first count: see [`warm`].
///
/// # Examples
///
/// ```
/// use dormouse_contracts::{ModelName, ProviderId, TokenCounter};
/// use dormouse_providers::token_counter_for;
///
/// let counter = token_counter_for(&ProviderId::try_new("ollama")?, &ModelName::try_new("llama3.2")?);
/// let counted = counter.count("How many tokens is this?");
/// assert!((4..=8).contains(&counted.tokens) && !counted.exact);
/// # Ok::<(), dormouse_contracts::IdError>(())
/// ```
#[must_use]
pub fn token_counter_for(provider: &ProviderId, model: &ModelName) -> Arc<dyn TokenCounter> {
    #[cfg(feature = "tiktoken")]
    if let Some(exact) = Tiktoken::for_model(model) {
        return Arc::new(exact);
    }
    Arc::new(FamilyEstimate::new(Family::of(provider, model)))
}

/// Loads the vocabulary of `counter`, so that the first count does not have to. That takes about 0.1 s and 50 MB, once
/// per process. Call this at start, on a thread that may block. Estimates load nothing.
pub fn warm(counter: &dyn TokenCounter) {
    let _loaded = counter.count("tea");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(provider: &str, model: &str, text: &str) -> dormouse_contracts::TokenCount {
        let provider = ProviderId::try_new(provider).unwrap();
        let counter = token_counter_for(&provider, &ModelName::try_new(model).unwrap());
        warm(&*counter);
        counter.count(text)
    }

    #[test]
    fn an_unknown_model_is_estimated() {
        let counted = counted(
            "local",
            "dormouse-7b",
            "The dormouse is asleep in the teapot.",
        );
        assert!(
            (7..=13).contains(&counted.tokens) && !counted.exact,
            "{counted:?}"
        );
    }

    #[cfg(feature = "tiktoken")]
    #[test]
    fn a_known_model_is_counted_exactly_also_behind_a_providers_prefix() {
        for (provider, name) in [
            ("openai", "gpt-4.1-mini"),
            ("openrouter", "openai/gpt-4.1-mini"),
            ("openrouter", "openai/gpt-4o:free"),
            ("openai", "ft:gpt-4o:alice::1"),
            ("ollama", "gpt-oss:20b"),
        ] {
            let counted = counted(provider, name, "hello world");
            assert!(counted.tokens == 2 && counted.exact, "{name}");
        }
    }
}
