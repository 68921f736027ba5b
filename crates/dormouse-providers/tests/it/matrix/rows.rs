//! The faults.

mod addresses;
mod bodies;
mod connections;
mod endless;
mod error_bodies;
mod events;
mod pauses;
mod tls;

use super::cell::Row;

/// All of them, in the order of the table.
pub(crate) fn all() -> Vec<Row> {
    [
        addresses::rows(),
        tls::rows(),
        connections::rows(),
        bodies::rows(),
        endless::rows(),
        events::rows(),
        error_bodies::rows(),
        pauses::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
