//! The Model Context Protocol for what a crate offers, and a memory for any agent that speaks it.
//!
//! Layer 4. A [`Surface`] offers tools, resources and prompts without knowing the protocol. [`MemoryServer`] offers one [`Memory`](dormouse_memory::Memory) over a stream, such as standard input and output:
//! the tools `remember`, `recall`, `why`, `forget` and `restore`, with trust and audiences. It speaks the protocol of
//! 2026-07-28, and the ones before it that begin with `initialize`.
//!
//! Read in this order: [`Surface`], [`MemoryServer`], [`MemoryLimits`]. Of the private modules, `tools` is what a call does, without the
//! protocol, and `handler` is the protocol: no type of its library is in a signature. The feature `http` adds `answer`, for a
//! service that listens itself.
//!
//! Stability: experimental; the names of tools and arguments are kept once released.

mod arguments;
mod handler;
#[cfg(feature = "http")]
mod http;
mod memory;
mod server;
mod surface;
mod tools;

#[cfg(feature = "http")]
pub use http::answer;
pub use server::{MemoryServer, ServeError, ServeMemoryError};
pub use surface::{
    CallProgress, OfferedPrompt, OfferedResource, OfferedTool, Surface, SurfaceAnswer,
    SurfaceError, ToolEffect, read_arguments,
};
pub use tools::{FollowsLog, MemoryLimits};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
