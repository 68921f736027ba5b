//! What the crate promises, by its public interface.

mod damage;
mod diary;
mod killed;
mod opening;
mod writing;
