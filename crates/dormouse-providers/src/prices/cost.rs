//! What one request cost, and who says so.

use std::fmt;

use dormouse_contracts::Usd;
use serde::{Deserialize, Serialize};

use super::PriceDate;

/// Who says what a request cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CostSource {
    /// The provider, in its answer.
    ByProvider,
    /// The list prices that come with this crate.
    ByTable {
        /// When they were read.
        as_of: PriceDate,
    },
    /// The prices that a user gave.
    ByConfiguration,
    /// Nobody is paid: the model is part of this program.
    Nobody,
}

impl fmt::Display for CostSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByProvider => f.write_str("as the provider says"),
            Self::ByTable { as_of } => write!(f, "by the list prices of {as_of}"),
            Self::ByConfiguration => f.write_str("by the configured prices"),
            Self::Nobody => f.write_str("nobody is paid"),
        }
    }
}

/// What a request cost. What is not known is no zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// This much.
    Known {
        /// How much.
        amount: Usd,
        /// Who says so.
        source: CostSource,
    },
    /// This much or more: the prompt is so long that a token of it costs more than the table says.
    AtLeast {
        /// How much by the lower price.
        amount: Usd,
        /// Who says so.
        source: CostSource,
    },
    /// Nobody knows.
    #[default]
    Unknown,
}

impl Cost {
    /// What is known of it, if anything: the amount, or the least it can be.
    #[must_use]
    pub fn amount(&self) -> Option<Usd> {
        match self {
            Self::Known { amount, .. } | Self::AtLeast { amount, .. } => Some(*amount),
            Self::Unknown => None,
        }
    }
}

/// As `$0.000123, by the list prices of 2026-11-05`, `at least …` or `unknown`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { amount, source } => write!(f, "{amount}, {source}"),
            Self::AtLeast { amount, source } => write!(f, "at least {amount}, {source}"),
            Self::Unknown => f.pad("unknown"),
        }
    }
}
