//! The price of one model, and what it says of one request.

use std::fmt;

use dormouse_contracts::{ProviderId, Usage, Usd};
use dormouse_text::beginning;
use serde::{Deserialize, Serialize};

use super::{CostSource, PriceDate};
use crate::model_pattern::{ModelPattern, ModelPatternError};

/// What a user, or the file `prices.json`, says of a price. In United States dollars for a million tokens, as vendors
/// write them. In TOML:
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
    /// Who is paid: `openai`, `anthropic`, `openrouter`, `ollama`, `local`, or any other id of a provider.
    pub provider: ProviderId,
    /// Which model. A name stands for itself and its dated snapshots (`gpt-5` also for `gpt-5-2025-08-07`, not for
    /// `gpt-5-mini`); with a `*` at its end it stands for every name that begins so. The better fit wins.
    pub model: String,
    /// A million tokens of a prompt.
    pub input: f64,
    /// A million tokens of a reply, thoughts included.
    pub output: f64,
    /// A million tokens of a prompt that came from a cache; like [`PriceEntry::input`] where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// A million tokens of a prompt that were put into a cache; like [`PriceEntry::input`] where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// The longest prompt in tokens for which these prices hold, where longer ones are dearer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearer_beyond: Option<u32>,
    /// When it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<PriceDate>,
    /// Where it was read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// A number of a [`PriceEntry`].
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
    /// The name of the model.
    #[error(transparent)]
    Model(#[from] ModelPatternError),
    /// A price is no number.
    #[error("{0} is no number")]
    NotANumber(PriceField),
    /// A price is below zero.
    #[error("{0} is negative; 0 says that it costs nothing")]
    Negative(PriceField),
    /// A price is higher than any there is.
    #[error(
        "{0} is more than $10,000 for a million tokens; is it the price of a single token or of a thousand?"
    )]
    Absurd(PriceField),
    /// A price has more digits than are counted.
    #[error("{0} has more than six digits after the point")]
    TooFine(PriceField),
    /// The same model of the same provider has a price already.
    #[error("there are two prices for it")]
    Twice,
    /// An entry that comes with the program says not when it was read.
    #[error("it has no date")]
    NoDate,
}

/// An entry that is no price.
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

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> PriceProblem {
        self.problem
    }
}

/// What tokens of one model cost, each to a millionth of a millionth of a dollar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    input: Usd,
    output: Usd,
    cached_input: Usd,
    cache_write: Usd,
    dearer_beyond: Option<u32>,
    said_by: CostSource,
    source: String,
}

impl Price {
    /// A price that a user gave.
    pub(super) fn configured(entry: &PriceEntry) -> Result<(ModelPattern, Self), PriceError> {
        Self::read(entry, CostSource::ByConfiguration)
            .map_err(|problem| PriceError::new(entry, problem))
    }

    /// A price that comes with the program.
    pub(super) fn listed(entry: &PriceEntry) -> Result<(ModelPattern, Self), PriceError> {
        entry
            .as_of
            .ok_or(PriceProblem::NoDate)
            .and_then(|as_of| Self::read(entry, CostSource::ByTable { as_of }))
            .map_err(|problem| PriceError::new(entry, problem))
    }

    fn read(entry: &PriceEntry, said_by: CostSource) -> Result<(ModelPattern, Self), PriceProblem> {
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
            said_by,
            source: entry.source.clone(),
        };
        Ok((pattern, price))
    }

    /// One token of a prompt.
    #[must_use]
    pub fn input(&self) -> Usd {
        self.input
    }

    /// One token of a reply.
    #[must_use]
    pub fn output(&self) -> Usd {
        self.output
    }

    /// One token of a prompt that came from a cache.
    #[must_use]
    pub fn cached_input(&self) -> Usd {
        self.cached_input
    }

    /// One token of a prompt that was put into a cache.
    #[must_use]
    pub fn cache_write(&self) -> Usd {
        self.cache_write
    }

    /// The longest prompt for which it holds; longer ones are dearer. `None` where length makes no difference.
    #[must_use]
    pub fn dearer_beyond(&self) -> Option<u32> {
        self.dearer_beyond
    }

    /// Who says so.
    #[must_use]
    pub fn said_by(&self) -> CostSource {
        self.said_by
    }

    /// Where it was read, in words; empty where that was not said.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What a request of this size costs: tokens from a cache, tokens put into one, all other tokens of the prompt, and
    /// those of the reply, each at its own price; exact, and no more than the greatest amount there is.
    ///
    /// Thoughts are tokens of the reply. Where a provider counts more of them than there are tokens in the reply, they
    /// count instead of it. Where more tokens are said to concern a cache than the prompt has, that is not believed, and
    /// the whole prompt is charged in full. For a prompt beyond [`Price::dearer_beyond`] the amount is too low.
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

/// As `$2 in, $0.5 cached, $8 out for a million tokens, by the list prices of 2026-09-07`.
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
            write!(f, " of prompts up to {limit} tokens")?;
        }
        write!(f, ", {}", self.said_by)
    }
}

/// A dollar for a million tokens is a million millionths of a millionth for one, so that a price with six digits after the
/// point is a whole number of them.
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
        return Err(PriceProblem::TooFine(field));
    }
    Ok(Usd::from_picos(picos.round() as u64))
}

#[cfg(test)]
mod tests;
