//! The cost of one request, and its source.

use std::fmt;

use dormouse_contracts::Usd;
use serde::{Deserialize, Serialize};

use super::PriceDate;

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CostSource {
    /// The provider reported it.
    ByProvider,
    /// The list prices of this crate.
    ByTable {
        /// The date of the price.
        as_of: PriceDate,
    },
    /// The user's prices.
    ByConfiguration,
    /// The offline model, which is free.
    Nobody,
}

impl fmt::Display for CostSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByProvider => f.write_str("as the provider says"),
            Self::ByTable { as_of } => write!(f, "by the list prices of {as_of}"),
            Self::ByConfiguration => f.write_str("by the configured prices"),
            Self::Nobody => f.write_str("free of charge"),
        }
    }
}

/// The cost of a request. An unknown cost is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// Exactly this amount.
    Known {
        /// The amount.
        amount: Usd,
        /// Its source.
        source: CostSource,
    },
    /// This amount or more: the provider charges more per token for a long prompt, and the table has only the lower
    /// price.
    AtLeast {
        /// The amount at the lower price.
        amount: Usd,
        /// Its source.
        source: CostSource,
    },
    /// Not known.
    #[default]
    Unknown,
}

impl Cost {
    /// Returns the known amount, or the lower bound.
    #[must_use]
    pub fn amount(&self) -> Option<Usd> {
        match self {
            Self::Known { amount, .. } | Self::AtLeast { amount, .. } => Some(*amount),
            Self::Unknown => None,
        }
    }
}

/// For example `$0.000123, by the list prices of 2026-11-05`, `at least …` or `unknown`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { amount, source } => write!(f, "{amount}, {source}"),
            Self::AtLeast { amount, source } => write!(f, "at least {amount}, {source}"),
            Self::Unknown => f.pad("unknown"),
        }
    }
}
