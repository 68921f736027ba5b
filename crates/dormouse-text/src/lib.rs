//! Safe handling of text from outside. The functions are pure, and the crate depends on no other crate of the
//! workspace.
//!
//! Read in this order: [`is_hidden`] (the only table of hidden characters), [`escape_hidden`] and
//! [`escape_hidden_json`] (printing), [`one_line`], [`beginning`], [`beginning_bytes`] and [`shortened`] (cutting),
//! [`is_name_character`], [`NameFlaw`], [`NameSkeleton`], [`fold_look_alikes`] and [`mentions`] (names), [`escape_id`]
//! and [`unescape_id`] (ids), [`escape_template_tokens`] (prompts), [`error_chain`] (errors).
//!
//! Stability: the API may change; the tables follow Unicode, so a later version may be stricter about a text.

mod hidden;

mod chain;
mod cut;
mod escape;

mod mention;
mod name;
mod template;

pub use chain::error_chain;
pub use cut::{beginning, beginning_bytes, floor_char_boundary, one_line, shortened};
pub use escape::{escape, escape_hidden, escape_hidden_json, escape_id, unescape_id};
pub use hidden::{is_blank, is_default_ignorable, is_hidden};
pub use mention::mentions;
pub use name::{NameFlaw, NameSkeleton, fold_look_alikes, is_name_character};
pub use template::escape_template_tokens;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
