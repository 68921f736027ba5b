//! Applies the functions of this crate to each line of standard input, and prints the results.

use std::io::{self, BufRead, Write};

use dormouse_text::{NameFlaw, escape_hidden, escape_template_tokens, is_blank};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        writeln!(out, "printed:   {}", escape_hidden(&line))?;
        writeln!(
            out,
            "prompted:  {}",
            escape_template_tokens(&escape_hidden(&line))
        )?;
        writeln!(out, "blank:     {}", is_blank(&line))?;
        writeln!(out, "as a name: {:?}", NameFlaw::of(&line))?;
    }
    Ok(())
}
