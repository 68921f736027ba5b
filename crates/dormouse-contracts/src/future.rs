//! Names for the boxed futures, streams and errors that ports return.

use std::{error::Error, future::Future, pin::Pin};

use futures_core::Stream;

/// A boxed, sendable future, as ports behind `dyn` return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed, sendable stream.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// The cause of an error. Only the adapter knows its type.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;
