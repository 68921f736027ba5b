//! A chat model without a server, a key or a language model. It is simple and deterministic, and it tells
//! users that it is not a language model.
//!
//! Layer 2. [`OfflineModel`] follows fixed rules on the structured part of a request
//! ([`TurnContext`](dormouse_contracts::TurnContext)) and parses no prompt.
//!
//! Stability: the constructor is stable; the wording of the answers is not.

mod act;
mod done;
mod english;
mod errand;
mod event;
mod facts;
mod intent;
mod itself;
mod later;
mod memories;
mod model;
mod moment;
mod offer;
mod pattern;
mod persona;
mod phrasing;
mod place;
mod promise;
mod promises;
mod task;
mod turn;
mod why;
mod words;

pub use model::OfflineModel;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
