//! Recording, scrubbing, checking, saving and replaying, by the public interface alone.

mod replaying;
mod support;
