//! Parses a reply from standard input and prints its content. If standard input is a terminal or empty, it parses a few
//! built-in replies instead; with the feature `corpus`, it parses the whole corpus and prints how many calls were
//! parsed.
//!
//! `cargo run -p dormouse-dialects --example read -- < reply.txt`

#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::{
    error::Error,
    io::{self, IsTerminal as _, Read as _},
};

use dormouse_contracts::ChatReply;
use dormouse_dialects::{ToolCalling, parse_reply};

fn main() -> Result<(), Box<dyn Error>> {
    let mut content = String::new();
    if !io::stdin().is_terminal() {
        io::stdin().read_to_string(&mut content)?;
    }
    if content.trim().is_empty() {
        return without_input();
    }
    for calling in [ToolCalling::Native, ToolCalling::Fallback] {
        show(&content, calling);
    }
    Ok(())
}

fn show(content: &str, calling: ToolCalling) {
    let reply = ChatReply {
        content: content.to_owned(),
        ..ChatReply::default()
    };
    println!("{calling}: {:#?}", parse_reply(&reply, calling, |_| true));
}

#[cfg(feature = "corpus")]
fn without_input() -> Result<(), Box<dyn Error>> {
    use dormouse_dialects::corpus::{families, rates, table};

    print!("{}", table(&rates(&families()?)));
    Ok(())
}

#[cfg(not(feature = "corpus"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "with the feature `corpus` it can fail"
)]
fn without_input() -> Result<(), Box<dyn Error>> {
    for content in [
        "<tool_call>{\"name\": \"say\", \"arguments\": {\"message\": \"hi\"}}</tool_call>",
        "You wrote <tool_call>{\"name\": \"say\", \"arguments\": {}}</tool_call>, and I will not.",
        "<think>She greets me.</think>",
    ] {
        println!("{content}");
        show(content, ToolCalling::Native);
    }
    Ok(())
}
