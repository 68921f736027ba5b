//! What requests cost: a table of list prices, what follows from it for one request, and sums that keep the unknown apart.
//!
//! What the provider itself says a request cost always counts. Without that the table is asked, which holds the list
//! prices of `prices.json` with a date and a source each, under whatever the user says of prices
//! ([`PriceTable::with_overrides`]). A price nobody knows is [`Cost::Unknown`], never zero.
//!
//! Not modelled: discounts for batches, dearer or slower service tiers, regions, caches kept longer than the provider's
//! shortest time, the rent of caches, prices for a limited time, and what tools on the provider's side cost. Where a longer
//! prompt is charged more for each token, the entry says from which length on, and such a request costs
//! [`Cost::AtLeast`] what is computed.

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
