//! The tools of an assistant: their registry, the check of a model's calls, the effect of a call on the loop, tools of
//! your own, and a router that combines several sources of tools.
//!
//! A model's tool call is unchecked text. [`Registry::check`] turns it into a [`CheckedCall`], whose arguments fit the
//! tool's schema, or into a [`ToolCallError`], whose text helps the model to correct the call.
//!
//! A [`Tool`] is a tool that you write, and a [`Toolbox`] is a source of such tools. A [`ToolRouter`] combines a world
//! and further sources into one source.
//!
//! This crate does no I/O and fetches no schema. It calls only the tools that you put into a toolbox.
//!
//! Stability: the types are stable. [`ToolCallError`] and [`RegistryError`] may get new variants, and the wording of
//! their texts may change.

mod call;
mod category;
mod closest;
mod effort;
mod excerpt;
mod kind;
mod parse;
mod problem;
mod registry;
mod router;
mod schema;
mod tool;
mod toolbox;

pub use call::{CheckedCall, ToolCallError};
pub use category::{LoopEffect, after};
pub use closest::closest;
pub use excerpt::Excerpt;
pub use kind::JsonKind;
pub use problem::Problem;
pub use registry::{Registry, RegistryError};
pub use router::{NamedToolSource, RoutedTool, RouterError, ToolRouter};
pub use tool::{Tool, ToolInfo};
pub use toolbox::{EffectOutcomes, Toolbox, ToolboxError, check_reach};

/// The crate that derives the schemas of arguments, re-exported so that a [`Tool`] uses the matching version.
pub use schemars;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
