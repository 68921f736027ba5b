//! What the detector finds, what it leaves alone, and how well it does both.
#![expect(clippy::unwrap_used, reason = "a test that goes wrong ends in a panic")]

mod about_itself;
mod agreement;
mod corpus;
mod disguises;
mod figures;
mod harmless;
mod limits;
mod logins;
mod properties;
