//! The crate as its users see it.

mod life;
mod wire;
