//! The registry of an assistant's tools, the check of a model's tool calls, and the effect of a call on the loop.
//!
//! A model's tool call is unchecked text. [`Registry::check`] turns it into a [`CheckedCall`], whose arguments fit the
//! tool's schema, or into a [`ToolCallError`], whose text helps the model to correct the call.
//!
//! This crate calls no tool, does no I/O and fetches no schema.
//!
//! Stability: the types are stable. [`ToolCallError`] and [`RegistryError`] may get new variants, and the wording of
//! their texts may change.

mod call;
mod category;
mod closest;
mod excerpt;
mod kind;
mod parse;
mod problem;
mod registry;
mod schema;

pub use call::{CheckedCall, ToolCallError};
pub use category::{LoopEffect, after};
pub use closest::closest;
pub use excerpt::Excerpt;
pub use kind::JsonKind;
pub use problem::Problem;
pub use registry::{Registry, RegistryError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
