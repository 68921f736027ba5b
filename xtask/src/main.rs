//! Being laid down.
fn main() {}
