//! A chat model that needs no server, no key and no language model: deterministic, able to do little, and honest about
//! both.
//!
//! Layer 2. [`OfflineModel`] is all there is. It follows fixed rules on the structured part of a request
//! ([`TurnContext`](dormouse_contracts::TurnContext)) and parses no prompt.
//!
//! Stability: the constructor is kept; the wording of the answers is not.

mod act;
mod done;
mod event;
mod intent;
mod memories;
mod model;
mod offer;
mod phrasing;
mod place;
mod turn;

pub use model::OfflineModel;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
