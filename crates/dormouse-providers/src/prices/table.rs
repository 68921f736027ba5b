//! The table of prices.

use std::sync::LazyLock;

use dormouse_contracts::{ModelName, ProviderId, Usage, Usd, invariant};
use serde::Deserialize;

use super::{Cost, CostSource, Price, PriceEntry, PriceError, PriceProblem};
use crate::model_pattern::{Fit, ModelPattern};

/// The provider id of the offline model.
const OFFLINE: &str = "offline";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    prices: Vec<PriceEntry>,
}

// A test parses the whole file, so no entry is skipped here.
static LISTED: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let file = serde_json::from_str::<File>(include_str!("prices.json"));
    invariant!(
        file.map(|file| file.prices),
        "a test parses the table, so it is valid"
    )
    .iter()
    .filter_map(|entry| Row::read(entry, Price::listed).ok())
    .collect()
});

#[derive(Clone, Debug)]
struct Row {
    provider: ProviderId,
    pattern: ModelPattern,
    price: Price,
}

type Read = fn(&PriceEntry) -> Result<(ModelPattern, Price), PriceError>;

impl Row {
    fn read(entry: &PriceEntry, read: Read) -> Result<Self, PriceError> {
        let (pattern, price) = read(entry)?;
        Ok(Self {
            provider: entry.provider.clone(),
            pattern,
            price,
        })
    }
}

/// The prices of all providers' models.
///
/// The list prices of this crate have the date on which they were read; vendors change theirs without notice. OpenRouter,
/// Ollama and local servers are not included: OpenRouter reports the cost of each request, and the others have no price
/// per token. Users add prices with [`with_overrides`](Self::with_overrides). A table with few added prices is cheap to
/// clone.
///
/// # Examples
///
/// ```
/// use dormouse_contracts::{ModelName, ProviderId, Usage};
/// use dormouse_providers::{Cost, PriceTable};
///
/// let table = PriceTable::listed();
/// let usage = Usage { prompt_tokens: 1_000, completion_tokens: 100, ..Usage::default() };
/// let openai = ProviderId::try_new("openai")?;
///
/// let cost = table.cost(&openai, &ModelName::try_new("gpt-4.1-mini")?, &usage);
/// assert_eq!(cost.amount().map(|it| it.to_string()).as_deref(), Some("$0.000560"));
///
/// let cost = table.cost(&openai, &ModelName::try_new("nobody-knows-it")?, &usage);
/// assert_eq!(cost, Cost::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PriceTable {
    configured: Vec<Row>,
}

impl PriceTable {
    /// Returns the list prices of this crate.
    #[must_use]
    pub fn listed() -> Self {
        Self::default()
    }

    /// Adds prices of the user. A matching one wins over all list prices.
    ///
    /// # Errors
    ///
    /// [`PriceError`] for the first entry that is invalid, or for the same model as an earlier one.
    pub fn with_overrides<'a>(
        mut self,
        entries: impl IntoIterator<Item = &'a PriceEntry>,
    ) -> Result<Self, PriceError> {
        for entry in entries {
            let row = Row::read(entry, Price::configured)?;
            let same = |other: &Row| other.provider == row.provider && other.pattern == row.pattern;
            if self.configured.iter().any(same) {
                return Err(PriceError::new(entry, PriceProblem::Duplicate));
            }
            self.configured.push(row);
        }
        Ok(self)
    }

    /// Returns the price of a model, if it is known. The provider's own name may precede the model's, as in `openai/gpt-4.1`;
    /// another vendor's may not, since resellers have their own prices.
    #[must_use]
    pub fn price(&self, provider: &ProviderId, model: &ModelName) -> Option<&Price> {
        let name = model.as_str();
        let bare = name
            .strip_prefix(provider.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(name);
        best_of(&self.configured, provider, name, bare)
            .or_else(|| best_of(&LISTED, provider, name, bare))
    }

    /// Returns the cost of a request: as reported by the provider ([`Usage::cost`]), or computed from the table. The offline
    /// model is free.
    #[must_use]
    pub fn cost(&self, provider: &ProviderId, model: &ModelName, usage: &Usage) -> Cost {
        if let Some(amount) = usage.cost {
            return Cost::Known {
                amount,
                source: CostSource::ByProvider,
            };
        }
        let Some(price) = self.price(provider, model) else {
            return free_or_unknown(provider);
        };
        let (amount, source) = (price.cost(usage), price.cost_source());
        match price.dearer_beyond() {
            Some(limit) if usage.prompt_tokens > limit => Cost::AtLeast { amount, source },
            _ => Cost::Known { amount, source },
        }
    }

    /// Returns the number of entries, including the user's.
    #[must_use]
    pub fn len(&self) -> usize {
        self.configured.len() + LISTED.len()
    }

    /// Whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn free_or_unknown(provider: &ProviderId) -> Cost {
    if provider.as_str() == OFFLINE {
        Cost::Known {
            amount: Usd::ZERO,
            source: CostSource::Nobody,
        }
    } else {
        Cost::Unknown
    }
}

/// Returns the price with the best match; of equal matches, one for the full name wins over one for the bare name.
fn best_of<'a>(
    rows: &'a [Row],
    provider: &ProviderId,
    name: &str,
    bare: &str,
) -> Option<&'a Price> {
    rows.iter()
        .filter(|row| row.provider == *provider)
        .filter_map(|row| {
            let whole = row.pattern.fit(name);
            let fit = whole.max(row.pattern.fit(bare))?;
            Some(((fit, whole.is_some()), &row.price))
        })
        .max_by_key(|(fit, _): &((Fit, bool), &Price)| *fit)
        .map(|(_, price)| price)
}

#[cfg(test)]
mod tests;
