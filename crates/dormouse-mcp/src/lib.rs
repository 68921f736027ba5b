//! A memory for any agent that speaks the Model Context Protocol, and tools of its servers for assistants.
//!
//! Layer 4. [`MemoryServer`] offers one [`Memory`](dormouse_memory::Memory) over a stream, such as standard input and output:
//! the tools `remember`, `recall`, `why`, `forget` and `restore`, with trust and audiences. It speaks the protocol of
//! 2026-07-28, and the ones before it that begin with `initialize`.
//!
//! With the feature `client`, `McpTools` offers the tools of servers of others to assistants.
//!
//! Read in this order: [`MemoryServer`], [`MemoryLimits`], `McpTools`. Of the private modules, `tools` is what a call of the memory
//! does, without the protocol, `server` is the protocol, and `client` is the other side of it: no type of its library is in a
//! signature.
//!
//! Stability: experimental; the names of tools and arguments are kept once released.

mod arguments;
#[cfg(feature = "client")]
mod client;
mod server;
mod tools;

#[cfg(feature = "client")]
pub use client::{
    AcceptError, AcceptedTool, KnownToolsError, McpServer, McpServerError, McpServerState,
    McpServerStatus, McpToolPolicy, McpToolState, McpToolStatus, McpTools, McpTransport,
    SecretText,
};
pub use server::{MemoryServer, ServeError, ServeMemoryError};
pub use tools::{FollowsLog, MemoryLimits};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
