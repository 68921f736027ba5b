//! What the crate promises, through its public interface.

mod exact;
