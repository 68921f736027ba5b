//! The models that an assistant can use: choosing them and assembling them.

mod choice;
mod error;
mod key;
mod models;
mod open;
mod selection;
#[cfg(test)]
mod tests;

pub use choice::{Chosen, Findings, ModelList, decide, find, select};
pub use error::ProviderError;
pub use models::{Models, assemble, named, network, price_table, service};
pub use open::open;
pub use selection::ModelSelection;
