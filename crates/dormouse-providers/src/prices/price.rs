//! The price of one model, and the cost of a request.

use std::fmt;

use dormouse_contracts::{ProviderId, Usage, Usd};
use dormouse_text::beginning;
use serde::{Deserialize, Serialize};

use super::{CostSource, PriceDate};
use crate::model_pattern::{ModelPattern, ModelPatternError};

/// A price in the user's configuration or in `prices.json`, in US dollars per million tokens, as vendors publish them. In
/// TOML:
///
/// ```toml
/// [[prices]]
/// provider = "openrouter"
/// model = "openai/gpt-4.1*"
/// input = 2.0
/// output = 8
/// cached_input = 0.5
/// ```
///
/// or in JSON:
///
/// ```
/// let entry: dormouse_providers::PriceEntry = serde_json::from_str(
///     r#"{ "provider": "local", "model": "*", "input": 0, "output": 0 }"#,
/// )?;
/// assert_eq!(entry.model, "*");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceEntry {
    /// The provider: `openai`, `anthropic`, `openrouter`, `ollama`, `local`, or any other provider id.
    pub provider: ProviderId,
    /// The model. A name matches itself and its dated snapshots (`gpt-5` also matches `gpt-5-2025-08-07`, not `gpt-5-mini`); a
    /// `*` at the end matches every name with that prefix. The better match wins.
    pub model: String,
    /// Per million prompt tokens.
    pub input: f64,
    /// Per million reply tokens, including thoughts.
    pub output: f64,
    /// Per million prompt tokens that are read from a cache; defaults to [`PriceEntry::input`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Per million prompt tokens that are written to a cache; defaults to [`PriceEntry::input`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// The longest prompt, in tokens, that these prices apply to; absent if longer prompts do not cost more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearer_beyond: Option<u32>,
    /// The date of the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<PriceDate>,
    /// The source of the price.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// A price in a [`PriceEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PriceField {
    /// [`PriceEntry::input`].
    Input,
    /// [`PriceEntry::output`].
    Output,
    /// [`PriceEntry::cached_input`].
    CachedInput,
    /// [`PriceEntry::cache_write`].
    CacheWrite,
}

impl fmt::Display for PriceField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::CachedInput => "cached_input",
            Self::CacheWrite => "cache_write",
        })
    }
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceProblem {
    /// The model pattern is invalid.
    #[error(transparent)]
    Model(#[from] ModelPatternError),
    /// A price is not a number.
    #[error("{0} is not a number")]
    NotANumber(PriceField),
    /// A price is negative.
    #[error("{0} is negative; use 0 if it is free")]
    Negative(PriceField),
    /// A price is implausibly high.
    #[error(
        "{0} is more than $10,000 for a million tokens; is it the price of a single token or of a thousand?"
    )]
    Absurd(PriceField),
    /// A price has too many decimals.
    #[error("{0} has more than six digits after the point")]
    TooPrecise(PriceField),
    /// The same model of the same provider has another price.
    #[error("two entries set it; expected one")]
    Duplicate,
    /// A list price has no date.
    #[error("it has no date")]
    NoDate,
}

/// An invalid price entry.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the price of {provider} {model:?}: {problem}")]
pub struct PriceError {
    provider: ProviderId,
    model: String,
    problem: PriceProblem,
}

impl PriceError {
    pub(super) fn new(entry: &PriceEntry, problem: PriceProblem) -> Self {
        Self {
            provider: entry.provider.clone(),
            model: beginning(&entry.model, 80).to_owned(),
            problem,
        }
    }

    /// Returns what is wrong with it.
    #[must_use]
    pub fn problem(&self) -> PriceProblem {
        self.problem
    }
}

/// The prices of one model's tokens, each in picodollars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    input: Usd,
    output: Usd,
    cached_input: Usd,
    cache_write: Usd,
    dearer_beyond: Option<u32>,
    cost_source: CostSource,
    source: String,
}

impl Price {
    /// Reads a price from the user's configuration.
    pub(super) fn configured(entry: &PriceEntry) -> Result<(ModelPattern, Self), PriceError> {
        Self::read(entry, CostSource::ByConfiguration)
            .map_err(|problem| PriceError::new(entry, problem))
    }

    /// Reads a list price.
    pub(super) fn listed(entry: &PriceEntry) -> Result<(ModelPattern, Self), PriceError> {
        entry
            .as_of
            .ok_or(PriceProblem::NoDate)
            .and_then(|as_of| Self::read(entry, CostSource::ByTable { as_of }))
            .map_err(|problem| PriceError::new(entry, problem))
    }

    fn read(
        entry: &PriceEntry,
        cost_source: CostSource,
    ) -> Result<(ModelPattern, Self), PriceProblem> {
        let pattern = ModelPattern::try_new(&entry.model)?;
        let input = per_token(entry.input, PriceField::Input)?;
        let or_input =
            |price: Option<f64>, field| price.map_or(Ok(input), |it| per_token(it, field));
        let price = Self {
            input,
            output: per_token(entry.output, PriceField::Output)?,
            cached_input: or_input(entry.cached_input, PriceField::CachedInput)?,
            cache_write: or_input(entry.cache_write, PriceField::CacheWrite)?,
            dearer_beyond: entry.dearer_beyond,
            cost_source,
            source: entry.source.clone(),
        };
        Ok((pattern, price))
    }

    /// Returns the price of a prompt token.
    #[must_use]
    pub fn input(&self) -> Usd {
        self.input
    }

    /// Returns the price of a reply token.
    #[must_use]
    pub fn output(&self) -> Usd {
        self.output
    }

    /// Returns the price of a prompt token that is read from a cache.
    #[must_use]
    pub fn cached_input(&self) -> Usd {
        self.cached_input
    }

    /// Returns the price of a prompt token that is written to a cache.
    #[must_use]
    pub fn cache_write(&self) -> Usd {
        self.cache_write
    }

    /// Returns the longest prompt, in tokens, that these prices apply to; `None` if there is no limit.
    #[must_use]
    pub fn dearer_beyond(&self) -> Option<u32> {
        self.dearer_beyond
    }

    /// Returns where the price comes from.
    #[must_use]
    pub fn cost_source(&self) -> CostSource {
        self.cost_source
    }

    /// Returns the source of the price as text; may be empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the cost of a request: cached tokens, tokens written to a cache, other prompt tokens and reply tokens, each at
    /// their price. The result is exact and saturates.
    ///
    /// Thinking tokens are reply tokens; if a provider reports more thinking tokens than reply tokens, the larger number is
    /// used. If the cached and cache-write tokens together exceed the prompt, the report is wrong and the whole prompt is
    /// charged in full. For a prompt longer than [`Price::dearer_beyond`] the result is a lower bound.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Usd {
        let about_cache = u64::from(usage.cached_tokens) + u64::from(usage.cache_write_tokens);
        let prompt = u64::from(usage.prompt_tokens);
        let (cached, written) = if about_cache <= prompt {
            (usage.cached_tokens, usage.cache_write_tokens)
        } else {
            (0, 0)
        };
        let plain = prompt - u64::from(cached) - u64::from(written);
        let reply = usage.completion_tokens.max(usage.reasoning_tokens);
        self.input
            .times(plain)
            .plus(self.cached_input.times(cached.into()))
            .plus(self.cache_write.times(written.into()))
            .plus(self.output.times(reply.into()))
    }
}

/// For example `$2 in, $0.5 cached, $8 out for a million tokens, by the list prices of 2026-09-07`.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let million = |token: Usd| token.times(1_000_000).dollars();
        write!(f, "${} in, ", million(self.input))?;
        if self.cached_input != self.input {
            write!(f, "${} cached, ", million(self.cached_input))?;
        }
        if self.cache_write != self.input {
            write!(f, "${} to cache, ", million(self.cache_write))?;
        }
        write!(f, "${} out for a million tokens", million(self.output))?;
        if let Some(limit) = self.dearer_beyond {
            write!(f, ", for prompts of up to {limit} tokens")?;
        }
        write!(f, ", {}", self.cost_source)
    }
}

/// Converts dollars per million tokens to picodollars per token. One dollar per million tokens is a million picodollars
/// per token, so a price with six decimals is exact.
fn per_token(per_million: f64, field: PriceField) -> Result<Usd, PriceProblem> {
    if per_million.is_nan() {
        return Err(PriceProblem::NotANumber(field));
    }
    if per_million < 0.0 {
        return Err(PriceProblem::Negative(field));
    }
    if per_million > 10_000.0 {
        return Err(PriceProblem::Absurd(field));
    }
    let picos = per_million * 1e6;
    if (picos - picos.round()).abs() > 1e-3 {
        return Err(PriceProblem::TooPrecise(field));
    }
    Ok(Usd::from_picos(picos.round() as u64))
}

#[cfg(test)]
mod tests;
