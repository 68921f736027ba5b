//! The Model Context Protocol for what a crate offers, a memory for any agent that speaks it, and tools of its servers for assistants.
//!
//! Layer 4. A [`Surface`] offers tools, resources and prompts without knowing the protocol. [`MemoryServer`] offers one [`Memory`](dormouse_memory::Memory) over a stream, such as standard input and output:
//! the tools `remember`, `recall`, `why`, `forget` and `restore`, with trust and audiences. It speaks the protocol of
//! 2026-07-28, and the ones before it that begin with `initialize`.
//!
//! With the feature `client`, `McpTools` offers the tools of servers of others to assistants.
//!
//! Read in this order: [`Surface`], [`MemoryServer`], [`MemoryLimits`], `McpTools`. Of the private modules, `tools` is what a call of the
//! memory does, without the protocol, `handler` is the protocol, and `client` is the other side of it: no type of its library is in
//! a signature. The feature `http` adds `answer`, for a service that listens itself.
//!
//! Stability: experimental; the names of tools and arguments are kept once released.

mod arguments;
#[cfg(feature = "client")]
mod client;
mod handler;
#[cfg(feature = "http")]
mod http;
mod memory;
mod server;
mod surface;
mod tools;

#[cfg(feature = "client")]
pub use client::{
    AcceptError, AcceptedTool, KnownToolsError, McpAgreement, McpRequestCounts, McpRequests,
    McpServer, McpServerError, McpServerState, McpServerStatus, McpToolPolicy, McpToolState,
    McpToolStatus, McpTools, McpTransport, ModelForServers, SecretText,
};
#[cfg(feature = "http")]
pub use http::{SESSION_HEADER, answer, resource_updated};
pub use server::{MemoryServer, ServeError, ServeMemoryError};
pub use surface::{
    CallProgress, OfferedPrompt, OfferedResource, OfferedTool, Surface, SurfaceAnswer,
    SurfaceError, ToolEffect, read_arguments,
};
pub use tools::{FollowsLog, MemoryLimits};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
