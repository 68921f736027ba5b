//! The registry of tools an assistant may use, the check of the calls a model makes, and what a call does to the loop.
//!
//! A model's tool call is text that nobody has checked: [`Registry::check`] turns it into a [`CheckedCall`], or
//! into a [`CallError`] whose text is written for the model to read and correct itself by. Whoever holds a
//! [`CheckedCall`] holds arguments that fit the tool's schema.
//!
//! Nothing here calls a tool, does I/O or fetches a schema.
//!
//! Stability: the types are stable; [`CallError`] and [`RegistryError`] may grow variants, and the wording of their
//! texts may change.

mod call;
mod category;
mod closest;
mod excerpt;
mod parse;
mod problem;
mod registry;

pub use call::{CallError, CheckedCall};
pub use category::{LoopEffect, after};
pub use excerpt::Excerpt;
pub use parse::JsonKind;
pub use problem::Problem;
pub use registry::{Registry, RegistryError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
