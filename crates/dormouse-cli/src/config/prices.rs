//! `[[prices]]`: the price of a model that the program does not know, or for which it has a wrong price.

use dormouse_contracts::ProviderId;
use dormouse_providers::{PriceDate, PriceEntry, PriceTable};
use serde::{Deserialize, Deserializer, de::Error};

use super::{
    numbers::{Dollars, TokenCount},
    provider::served_by,
};

/// One `[[prices]]`, each field checked where it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceSection {
    #[serde(deserialize_with = "provider")]
    provider: ProviderId,
    model: String,
    input: Dollars,
    output: Dollars,
    cached_input: Option<Dollars>,
    cache_write: Option<Dollars>,
    dearer_beyond: Option<TokenCount>,
    as_of: Option<PriceDate>,
    #[serde(default)]
    source: String,
}

/// The provider must be one that this program has, because a price of any other would never be used.
fn provider<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ProviderId, D::Error> {
    let by = served_by(deserializer)?;
    ProviderId::try_new(by.as_str()).map_err(Error::custom)
}

/// Reads all prices.
pub(super) fn prices<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<PriceEntry>, D::Error> {
    let sections = Vec::<PriceSection>::deserialize(deserializer)?;
    let entries: Vec<_> = sections.into_iter().map(PriceEntry::from).collect();
    // Checks that concern several fields or several prices.
    PriceTable::listed()
        .with_overrides(&entries)
        .map_err(Error::custom)?;
    Ok(entries)
}

impl From<PriceSection> for PriceEntry {
    fn from(section: PriceSection) -> Self {
        let dollars = |price: Option<Dollars>| price.map(|Dollars(price)| price);
        Self {
            provider: section.provider,
            model: section.model,
            input: section.input.0,
            output: section.output.0,
            cached_input: dollars(section.cached_input),
            cache_write: dollars(section.cache_write),
            dearer_beyond: section.dearer_beyond.map(|tokens| tokens.0),
            as_of: section.as_of,
            source: section.source,
        }
    }
}
