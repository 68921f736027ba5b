//! Writing with a model: from what was heard to facts.
//!
//! Remembering does not need this: what is heard becomes a record at once. Facts are made from such records when there is
//! time. Nothing here asks a model or changes the memory: the caller asks, and writes the change into its log, or applies it
//! to a memory that follows no log ([`Memory::make`](crate::Memory::make)). For each batch of sources:
//!
//! 1. [`Memory::unread_sources`](crate::Memory::unread_sources) and [`batches`]: what is to be read.
//! 2. [`Batch::request`]: one request for all sources of the batch. The model returns facts about the world and the people
//!    in it, in the third person and each with its sources; never about the assistant (persona protection).
//!    [`Batch::read`] reads its reply.
//! 3. [`Memory::plan_extraction`](crate::Memory::plan_extraction) decides for each fact: add, supersede, link or ignore. A
//!    pure rule decides. Only if a record is about the same subject and says something else, there is one more request about
//!    all such cases of the batch ([`ExtractionPlan::question`], [`ExtractionPlan::judged`]).
//! 4. [`ExtractionPlan::into_change`]: everything that follows, as one [`MemoryChange::Extracted`](crate::MemoryChange). It
//!    also marks the sources as read.
//!
//! So a crash loses at most replies that were not logged yet, and repeating a step writes nothing twice. If the model
//! fails or returns no list of facts, the sources stay as they are. [`Attempts`] counts the failures; after three of
//! them a source is skipped.
//!
//! A fact has the lowest trust of its sources and of every other line of the batch that supplies what these lack
//! ([`dormouse_retrieval::support`]), and never supersedes a record of higher trust. A fact that a model makes never
//! removes the record of what was heard from recall.

mod attempts;
mod decide;
mod extract;
mod judge;
mod plan;
mod reply;
mod settings;
mod source;

use dormouse_contracts::{ChatRequest, Message, Purpose, Task};

pub use attempts::Attempts;
pub use decide::{Decided, Decision, Extracted, decide};
pub use extract::ExtractedFacts;
pub use plan::ExtractionPlan;
pub use settings::ExtractionSettings;
pub use source::{Batch, Source, batches};

/// A request about remembered records: one reply, at temperature 0. `task` repeats the messages as data.
#[must_use]
pub fn request_of(messages: Vec<Message>, task: Task, reply_tokens: u32) -> ChatRequest {
    ChatRequest {
        messages,
        temperature: Some(0.0),
        max_tokens: Some(reply_tokens),
        purpose: Purpose::Consolidation,
        task: Some(Box::new(task)),
        ..ChatRequest::default()
    }
}

#[cfg(test)]
mod tests;
