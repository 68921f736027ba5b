//! Shows what each profile finds in lines from standard input, and what is masked.
//!
//! `echo 'my password is hunter2' | cargo run -p dormouse-redact --example find_secrets`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::io::{self, BufRead as _};

use dormouse_redact::{RedactionProfile, mask, scan};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        for profile in RedactionProfile::ALL {
            println!("{profile:?}: {}", mask(&line, profile));
            for one in scan(line.as_bytes(), profile) {
                println!("    bytes {:?}: {}", one.range, one.kind.as_str());
            }
        }
    }
    Ok(())
}
