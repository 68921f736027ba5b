//! The facade as a user meets it.

#[cfg(test)]
mod own_world;
