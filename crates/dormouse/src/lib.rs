//! Being laid down.
