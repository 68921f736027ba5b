//! Checks that an implementation keeps the promises of its port.
//!
//! Each suite is an async function. Await it in a test of the implementation, on any runtime. It panics at the first broken
//! promise and names it. What an implementation does beyond its port needs tests of its own.
//!
//! ```
//! use dormouse_testing::{MemoryLog, conformance};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let log = MemoryLog::new();
//! conformance::event_log(&log).await;
//! // Close and reopen a log on disk here.
//! conformance::event_log_reopened(&log).await;
//! # }
//! ```

mod chat_model;
mod embedder;
mod event_log;
mod senses;
mod tool_source;
mod vector_index;
mod world;

pub use chat_model::{
    BackendAnswer, ChatBackend, ChatStage, Cut, REQUEST_ID, chat_adapter, chat_model,
};
pub use embedder::embedder;
pub use event_log::{AnswerLoss, event_log, event_log_in_doubt, event_log_reopened};
pub use senses::{SensesFixture, SensesLeft, senses, senses_reopened};
pub use tool_source::{tool_source, tool_source_reopened};
pub use vector_index::{Exactness, vector_index, vector_index_reopened};
pub use world::{FeedFixture, ListenerFixture, WorldFixture, world, world_reopened};
