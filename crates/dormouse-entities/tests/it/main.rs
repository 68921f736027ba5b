//! The crate as its users see it.
#![expect(clippy::unwrap_used, reason = "what the tests are made of is valid")]

mod life;
mod wire;
