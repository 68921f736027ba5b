//! Reads a reply from standard input as text and says what it holds; without one (from a terminal, or an empty one), reads
//! the whole corpus and prints how much of it is read.
//!
//! `cargo run -p dormouse-dialects --features corpus --example read -- < reply.txt`

#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::io::{self, IsTerminal as _, Read as _};

use dormouse_contracts::ChatReply;
use dormouse_dialects::{
    ToolCalling,
    corpus::{families, rates, table},
    read,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut content = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().read_to_string(&mut content)?;
    }
    if content.trim().is_empty() {
        print!("{}", table(&rates(&families()?)));
        return Ok(());
    }
    let reply = ChatReply {
        content,
        ..ChatReply::default()
    };
    for calling in [ToolCalling::Native, ToolCalling::Fallback] {
        let reading = read(&reply, calling, |_| true);
        println!("{calling}: {reading:#?}");
    }
    Ok(())
}
