//! `[[prices]]`: the price of a model that the program does not know, or for which it has a wrong price.

use dormouse_contracts::ProviderId;
use dormouse_providers::{PriceDate, PriceEntry, PriceTable};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};

use super::{
    numbers::{Dollars, TokenCount},
    provider::served_by,
    words,
};

/// One entry of `[[prices]]`. Each field is checked while it is read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceSection {
    /// Who serves the model
    #[serde(deserialize_with = "provider")]
    #[schemars(schema_with = "words::kind")]
    provider: ProviderId,
    /// A name, or the start of names and a *
    model: String,
    /// Dollars for a million tokens of a prompt
    input: Dollars,
    /// Dollars for a million tokens of a reply
    output: Dollars,
    /// Dollars for a million tokens of a prompt that the provider had in its cache
    #[schemars(with = "Dollars")]
    #[serde(default)]
    cached_input: Option<Dollars>,
    /// Dollars for a million prompt tokens that the provider stores in its cache
    #[schemars(with = "Dollars")]
    #[serde(default)]
    cache_write: Option<Dollars>,
    /// The length of prompts in tokens beyond which the prices are higher
    #[schemars(with = "TokenCount")]
    #[serde(default)]
    dearer_beyond: Option<TokenCount>,
    /// The day of the price
    #[schemars(with = "String")]
    #[serde(default)]
    as_of: Option<PriceDate>,
    /// Where the price is published
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
