//! Names for the boxed futures, streams and errors that ports return.

use std::{error::Error, future::Future, pin::Pin};

use futures_core::Stream;

/// A boxed, sendable future; what a port kept behind `dyn` returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed, sendable stream.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// The cause of an error, of a type only the adapter knows.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;
