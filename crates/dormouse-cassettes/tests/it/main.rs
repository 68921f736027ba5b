//! Recording, scrubbing, checking, saving and replaying, by the public interface alone.

mod checking;
mod files;
mod recording;
mod replaying;
mod support;
