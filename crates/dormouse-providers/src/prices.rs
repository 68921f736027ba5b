//! The cost of requests: a table of list prices, the cost of a request, and sums with known and unknown parts.
//!
//! A cost that the provider reports always wins. Otherwise it follows from the user's prices
//! ([`PriceTable::with_overrides`]), or from the list prices in `prices.json`, each with date and source. An unknown price
//! is [`Cost::Unknown`], never zero.
//!
//! Not modelled: batch discounts, other service tiers, regions, long-lived caches, storage costs of caches, temporary
//! prices, and server-side tools. If prompts beyond some length cost more per token, the entry has that length. A
//! request beyond it costs [`Cost::AtLeast`] the computed amount.

mod cost;
mod date;
mod ledger;
mod price;
mod table;

pub use cost::{Cost, CostSource};
pub use date::{PriceDate, PriceDateError};
pub use ledger::{Ledger, LedgerKey, Tally};
pub use price::{Price, PriceEntry, PriceError, PriceField, PriceProblem};
pub use table::PriceTable;
