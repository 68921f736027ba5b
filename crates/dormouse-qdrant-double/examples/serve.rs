//! Runs a server that other programs can query, until it reads a line: `serve < /dev/null` ends at once.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::io;

use dormouse_qdrant_double::QdrantDouble;

fn main() -> io::Result<()> {
    let server = QdrantDouble::start()?;
    server.make("memories", 3);
    println!("{} has {:?}", server.url(), server.collections());
    io::stdin().read_line(&mut String::new())?;
    println!("it got {} calls", server.calls());
    Ok(())
}
