//! Records in and out.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use dormouse_memory::{ImportStep, Imported};
use serde::Serialize;

use super::{CommandError, Form, Place, Teller, adding::reason, opening};
use crate::{
    exit::Exit,
    neutralise::{escape_json, indented, neutralise},
    view::Printing,
};

#[derive(Serialize)]
struct Refused {
    r#type: &'static str,
    line: u64,
    reason: String,
}

#[derive(Serialize)]
struct Summary {
    r#type: &'static str,
    #[serde(flatten)]
    imported: Imported,
}

/// Brings records in. Lines that are none are told and passed over, and the exit code says so.
pub(super) async fn import(place: &Place, from: &Path, form: Form) -> Result<Exit, CommandError> {
    let lines = reader(from)?;
    let teller = Teller::new(form.json);
    let memory = place.open_or_make().await?;
    let mut failed = None;
    let imported = memory
        .import(lines, &reason("imported"), |step| {
            let told = told(&teller, form, step);
            failed = failed.take().or(told.err());
        })
        .await
        .map_err(CommandError::Import)?;
    if let Some(error) = failed {
        return Err(error);
    }
    let summary = Summary {
        r#type: "imported",
        imported,
    };
    teller.tell(&summary, || {
        let Imported {
            lines,
            added,
            known,
            refused,
        } = imported;
        format!("{lines} lines: {added} added, {known} there already, {refused} refused")
    })?;
    Ok(match imported.refused {
        0 => Exit::Success,
        _ => Exit::Failure,
    })
}

fn reader(from: &Path) -> Result<Box<dyn BufRead + Send>, CommandError> {
    if from.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(from).and_then(|file| {
        // Opening a folder succeeds, and reading it does not.
        let is_folder = file.metadata()?.is_dir();
        if is_folder {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(file)
    });
    let file = file.map_err(|source| CommandError::Read {
        path: from.to_owned(),
        source,
    })?;
    Ok(Box::new(BufReader::new(file)))
}

fn told(teller: &Teller, form: Form, step: ImportStep) -> Result<(), CommandError> {
    match step {
        ImportStep::Refused { line, error } => {
            let refused = Refused {
                r#type: "refused",
                line,
                reason: error.to_string(),
            };
            if form.json {
                return teller.tell(&refused, String::new);
            }
            let reason = indented(&neutralise(&refused.reason));
            // If standard error is closed there is nobody to tell.
            drop(writeln!(io::stderr(), "dormouse: line {line}: {reason}"));
        }
        ImportStep::Stored(imported) => {
            opening::tell_line(&format!("{} records stored", imported.added));
        }
        _ => {}
    }
    Ok(())
}

/// Writes records out: into a new file, or to standard output.
pub(super) async fn export(place: &Place, into: Option<PathBuf>) -> Result<Exit, CommandError> {
    // As elsewhere, and as for `import`, a dash is no file.
    let into = into.filter(|path| path.as_os_str() != "-");
    let memory = place.look(Printing::Text).await?;
    let exported = match &into {
        None => {
            let out = Safe(BufWriter::new(io::stdout()));
            memory.export(out).await?
        }
        Some(path) => {
            let file = File::create_new(path).map_err(|source| CommandError::Create {
                path: path.clone(),
                source,
            })?;
            let mut out = BufWriter::new(file);
            let exported = memory.export(&mut out).await;
            let exported = exported.and_then(|exported| {
                out.get_ref().sync_all()?;
                Ok(exported)
            });
            match exported {
                Ok(exported) => exported,
                Err(error) => {
                    // A part of an export is none, and would be taken for one.
                    drop(fs::remove_file(path));
                    return Err(error.into());
                }
            }
        }
    };
    // If standard error is closed there is nobody to tell.
    drop(writeln!(
        io::stderr(),
        "{} records written, {} left out because they are withdrawn or folded",
        exported.records,
        exported.left_out
    ));
    Ok(Exit::Success)
}

/// Standard output, to which whole lines of JSON are written so that nothing in them steers a terminal.
struct Safe(BufWriter<io::Stdout>);

impl Write for Safe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match str::from_utf8(bytes) {
            Ok(line) => {
                let json = line.trim_end_matches('\n');
                self.0.write_all(escape_json(json).as_bytes())?;
                let ends = line.get(json.len()..).unwrap_or_default();
                self.0.write_all(ends.as_bytes())?;
            }
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
