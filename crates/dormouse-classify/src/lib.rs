//! Decides what an assistant does with a perceived message (TRIGGER, CONTEXT, CAPTURE or IGNORE) and how far it trusts
//! it.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no globals, no heap allocation. The rules
//! read [`Attested`](dormouse_contracts::Attested) (the facts that the server vouches for) and the operator's
//! [`ClassifyConfig`]. They cannot read the words of a message, so no rule can depend on what a text claims. The words
//! contribute one fact, through [`find_mention`]: whether they contain the assistant's key as an @mention. That fact
//! may wake the assistant, but it is not an argument of [`source_trust`].
//!
//! [`classify`] takes no words, so this does not compile:
//!
//! ```compile_fail,E0308
//! # use dormouse_classify::{classify, Classification, ClassifyConfig, Mention};
//! # use dormouse_contracts::Perception;
//! fn decide(perception: &Perception, config: &ClassifyConfig) -> Classification {
//!     classify(&perception.words, Mention::NotAddressed, config)
//! }
//! ```
//!
//! neither does passing the whole perception, which includes the words:
//!
//! ```compile_fail,E0308
//! # use dormouse_classify::{classify, Classification, ClassifyConfig, Mention};
//! # use dormouse_contracts::Perception;
//! fn decide(perception: &Perception, config: &ClassifyConfig) -> Classification {
//!     classify(perception, Mention::NotAddressed, config)
//! }
//! ```
//!
//! while the same call with the attested half compiles:
//!
//! ```
//! # use dormouse_classify::{classify, Classification, ClassifyConfig, Mention};
//! # use dormouse_contracts::Perception;
//! fn decide(perception: &Perception, config: &ClassifyConfig) -> Classification {
//!     classify(&perception.attested, Mention::NotAddressed, config)
//! }
//! ```
//!
//! Stability: the rules, their order and their serialised names are stable, because logs contain them. New fields of
//! [`ClassifyConfig`] will have a default that changes nothing.

mod classification;
mod config;
mod mention;
mod rules;
mod trust;

pub use classification::{Classification, MessageVerdict, Rule};
pub use config::{ChannelAction, ChannelConfig, ClassifyConfig, RoomPolicy};
pub use mention::{Mention, find_mention};
pub use rules::classify;
pub use trust::{SenderHistory, source_trust, trust_with_history};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
