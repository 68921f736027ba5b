//! Test support: a Qdrant server in process, that fails as it is told.
//!
//! It speaks the real protocol over a real connection on the loopback interface, made from the server side of
//! qdrant-client's own generated code; behind it is a map. It answers what [`Qdrant`](crate::Qdrant) asks and refuses
//! the rest, in the words of a server where the adapter reads them. It is not an index to use: a search sorts all points.
//!
//! For dev-dependencies only, behind the feature `double`.

mod collections;
mod fault;
mod filter;

mod points;
mod rpc;
mod server;
mod store;

pub use fault::Fault;
pub use server::{AfterRestart, QdrantDouble};
