//! Decides what a perceived message is to an assistant: TRIGGER, CONTEXT, CAPTURE or IGNORE; and how far it is believed.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no globals, no heap. The rules see
//! [`Attested`](dormouse_contracts::Attested), what the server vouches for, and the operator's
//! [`ClassifyConfig`]; they have no access to the words of a message, so no rule can be written against what
//! a text claims. The words contribute one fact only, by way of [`find_mention`]: whether they hold the
//! assistant's key as an @mention. That fact may wake the assistant, and is no argument of [`source_trust`].
//!
//! [`classify`] takes no words, so this does not compile:
//!
//! ```compile_fail,E0308
//! # use dormouse_classify::{classify, Capture, Classification, ClassifyConfig, Mention};
//! # use dormouse_contracts::Perception;
//! fn decide(perception: &Perception, config: &ClassifyConfig) -> Classification {
//!     classify(&perception.words, Mention::NotAddressed, Capture::Inactive, config)
//! }
//! ```
//!
//! and neither does a verdict on the whole perception, words included:
//!
//! ```compile_fail,E0308
//! # use dormouse_classify::{classify, Capture, Classification, ClassifyConfig, Mention};
//! # use dormouse_contracts::Perception;
//! fn decide(perception: &Perception, config: &ClassifyConfig) -> Classification {
//!     classify(perception, Mention::NotAddressed, Capture::Inactive, config)
//! }
//! ```
//!
//! while the same call with the attested half does:
//!
//! ```
//! # use dormouse_classify::{classify, Capture, Classification, ClassifyConfig, Mention};
//! # use dormouse_contracts::Perception;
//! fn decide(perception: &Perception, config: &ClassifyConfig) -> Classification {
//!     classify(&perception.attested, Mention::NotAddressed, Capture::Inactive, config)
//! }
//! ```
//!
//! Stability: the rules, their order and their serialised names are stable, since logs hold them. Fields may
//! be added to [`ClassifyConfig`] with a default that changes nothing.

mod classification;
mod config;
mod mention;
mod rules;
mod trust;

pub use classification::{Classification, Rule, Verdict};
pub use config::{ChannelAction, ChannelConfig, ClassifyConfig, RoomPolicy};
pub use mention::{Mention, find_mention};
pub use rules::{Capture, classify};
pub use trust::source_trust;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
