//! A memory for any agent that speaks the Model Context Protocol.
//!
//! Layer 4. [`MemoryServer`] offers one [`Memory`](dormouse_memory::Memory) over a stream, such as standard input and output:
//! the tools `remember`, `recall`, `why`, `forget` and `restore`, with trust and audiences. It speaks the protocol of
//! 2026-07-28, and the ones before it that begin with `initialize`.
//!
//! Read in this order: [`MemoryServer`], [`MemoryLimits`]. Of the private modules, `tools` is what a call does, without the
//! protocol, and `server` is the protocol: no type of its library is in a signature.
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
    OfferedPrompt, OfferedResource, OfferedTool, Progress, Surface, SurfaceAnswer, SurfaceError,
    ToolEffect, read_arguments,
};
pub use tools::{FollowsLog, MemoryLimits};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
