//! Sums of usage and cost.

use std::{collections::BTreeMap, fmt};

use dormouse_contracts::{ModelName, ProviderId, Purpose, Usage, Usd};
use serde::{Deserialize, Serialize};

use super::Cost;

/// The key of an entry in a [`Ledger`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LedgerKey {
    /// The provider.
    pub provider: ProviderId,
    /// The configured model.
    pub model: ModelName,
    /// The purpose of the requests.
    pub purpose: Purpose,
}

/// Usage, and the known part of its cost.
///
/// Displays as `$0.012300 and 3 requests of unknown price`. An incomplete sum always says that it is incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All requests.
    pub requests: u64,
    /// Requests without reported usage; their tokens are in no sum.
    pub without_usage: u64,
    /// Prompt tokens, including cached ones.
    pub prompt_tokens: u64,
    /// Reply tokens, including thoughts.
    pub completion_tokens: u64,
    /// Prompt tokens that were read from a cache.
    pub cached_tokens: u64,
    /// Prompt tokens that were written to a cache.
    pub cache_write_tokens: u64,
    /// Reply tokens that were thoughts.
    pub reasoning_tokens: u64,
    /// The sum of the known costs.
    pub known: Usd,
    /// Requests in that sum of which only the minimum cost is known.
    pub at_least: u64,
    /// Requests with unknown cost.
    pub unknown: u64,
}

impl Tally {
    fn of(usage: Usage, cost: Cost) -> Self {
        Self {
            requests: 1,
            without_usage: 0,
            prompt_tokens: usage.prompt_tokens.into(),
            completion_tokens: usage.completion_tokens.into(),
            cached_tokens: usage.cached_tokens.into(),
            cache_write_tokens: usage.cache_write_tokens.into(),
            reasoning_tokens: usage.reasoning_tokens.into(),
            known: cost.amount().unwrap_or(Usd::ZERO),
            at_least: matches!(cost, Cost::AtLeast { .. }).into(),
            unknown: matches!(cost, Cost::Unknown).into(),
        }
    }

    /// Returns the sum of both; counters saturate.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            without_usage: self.without_usage.saturating_add(other.without_usage),
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self
                .completion_tokens
                .saturating_add(other.completion_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            known: self.known.plus(other.known),
            at_least: self.at_least.saturating_add(other.at_least),
            unknown: self.unknown.saturating_add(other.unknown),
        }
    }

    /// Whether [`Tally::known`] is the whole cost.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.at_least == 0 && self.unknown == 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = match self.unknown {
            0 => String::new(),
            count => format!("{} of unknown price", requests(count)),
        };
        let known = match self.at_least {
            0 => self.known.to_string(),
            _ => format!("at least {}", self.known),
        };
        f.pad(&match (self.requests == self.unknown, unknown.is_empty()) {
            (_, true) => known,
            (true, false) => unknown,
            (false, false) => format!("{known} and {unknown}"),
        })
    }
}

fn requests(count: u64) -> String {
    format!("{count} request{}", if count == 1 { "" } else { "s" })
}

/// Usage and cost, by provider, model and purpose.
///
/// It only adds up what it is given: it has no clock and no prices. The key contains the configured model and not the
/// name that a server reports, so the number of configured models bounds the size. The JSON form is a list of entries.
///
/// # Examples
///
/// ```
/// use dormouse_contracts::{ModelName, ProviderId, Purpose, Usage};
/// use dormouse_providers::{Ledger, LedgerKey, PriceTable};
///
/// let key = LedgerKey {
///     provider: ProviderId::try_new("local")?,
///     model: ModelName::try_new("tiny")?,
///     purpose: Purpose::Answer,
/// };
/// let usage = Usage { prompt_tokens: 10, completion_tokens: 2, ..Usage::default() };
/// let mut ledger = Ledger::default();
/// ledger.record(&key, &usage, PriceTable::listed().cost(&key.provider, &key.model, &usage));
/// assert_eq!(ledger.total().to_string(), "1 request of unknown price");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(LedgerKey, Tally)>", into = "Vec<(LedgerKey, Tally)>")]
pub struct Ledger {
    lines: BTreeMap<LedgerKey, Tally>,
}

impl Ledger {
    /// Adds one request.
    pub fn record(&mut self, key: &LedgerKey, usage: &Usage, cost: Cost) {
        self.add(key, Tally::of(*usage, cost));
    }

    /// Adds one request without reported usage: its tokens and its cost are unknown.
    pub fn record_without_usage(&mut self, key: &LedgerKey) {
        let tally = Tally::of(Usage::default(), Cost::Unknown);
        self.add(
            key,
            Tally {
                without_usage: 1,
                ..tally
            },
        );
    }

    /// Adds all entries of another ledger.
    pub fn merge(&mut self, other: &Self) {
        for (key, tally) in &other.lines {
            self.add(key, *tally);
        }
    }

    fn add(&mut self, key: &LedgerKey, tally: Tally) {
        match self.lines.get_mut(key) {
            Some(line) => *line = line.plus(tally),
            None => drop(self.lines.insert(key.clone(), tally)),
        }
    }

    /// Returns all entries, ordered by provider, model and purpose.
    pub fn lines(&self) -> impl Iterator<Item = (&LedgerKey, &Tally)> {
        self.lines.iter()
    }

    /// Returns the sum of the entries whose key matches.
    #[must_use]
    pub fn sum(&self, of: impl Fn(&LedgerKey) -> bool) -> Tally {
        let lines = self.lines.iter().filter(|(key, _)| of(key));
        lines.fold(Tally::default(), |sum, (_, tally)| sum.plus(*tally))
    }

    /// Returns the sum of all entries.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.sum(|_| true)
    }
}

impl From<Vec<(LedgerKey, Tally)>> for Ledger {
    fn from(lines: Vec<(LedgerKey, Tally)>) -> Self {
        let mut ledger = Self::default();
        for (key, tally) in &lines {
            ledger.add(key, *tally);
        }
        ledger
    }
}

impl From<Ledger> for Vec<(LedgerKey, Tally)> {
    fn from(ledger: Ledger) -> Self {
        ledger.lines.into_iter().collect()
    }
}

/// One line for each provider, model and purpose, then the total.
impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, tally) in &self.lines {
            let LedgerKey {
                provider,
                model,
                purpose,
            } = key;
            writeln!(
                f,
                "{provider} {model} {purpose}, {}: {tally}",
                requests(tally.requests)
            )?;
        }
        write!(f, "total: {}", self.total())
    }
}

#[cfg(test)]
mod tests;
