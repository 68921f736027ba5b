//! `dormouse memory import` and `export`: records as JSON lines.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::Trust;
use dormouse_host::MemoryImport;
use dormouse_memory::{ExportError, ImportClaims, ImportError, ImportLines, Imported, LineError};
use serde::Serialize;

use crate::{
    command::{
        CommandError, CommandFailure, CommandStdout, MemoryFile, Missing, Printing, callers_host,
        callers_path, importer, memory_exit, progress, remark, stdout,
    },
    exit::{Exit, file_exit},
    grammar::counted,
    neutralise::escape_json,
};

/// Records could not be imported or exported.
#[derive(Debug, thiserror::Error)]
enum TransferError {
    /// The file to import.
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The command came through the control socket, which passes no standard input.
    #[error(
        "standard input is not passed to the program that has the memory open; write the lines into a file and name it"
    )]
    NoInput,
    /// The file to export into.
    #[error(
        "{} could not be created; an existing file is never overwritten. Name a new file in a folder that exists",
        path.display()
    )]
    Create {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Some records may be imported.
    #[error(
        "the import stopped; the records imported so far are kept, and importing the same file again adds the rest"
    )]
    Import(#[source] ImportError),
    /// Nothing was exported.
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl CommandFailure for TransferError {
    fn exit(&self) -> Exit {
        match self {
            Self::Export(ExportError::Memory(error)) => memory_exit(error),
            Self::Read { source, .. } | Self::Create { source, .. } => file_exit(source),
            Self::NoInput => Exit::Usage,
            Self::Import(_) | Self::Export(_) => Exit::Failure,
        }
    }
}

/// How many refused lines are reported one by one to people. The others are counted.
const REPORTED: u64 = 10;

/// A line that was not imported, as JSON.
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
    /// The events that added records; each batch of lines is one.
    events: Vec<u64>,
}

fn undo_note(events: &[u64]) -> String {
    let numbers: Vec<_> = events.iter().map(ToString::to_string).collect();
    let noun = if events.len() == 1 { "event" } else { "events" };
    format!(
        "added by {noun} {}, which `dormouse memory undo` takes back",
        numbers.join(", ")
    )
}

/// Explains lines that the operator did not vouch for.
const NOT_BELIEVED: &str = "their trust is at most 0.40, so no answer is based on them; `--trust SCORE` sets the \
trust of a file";

/// What a file may claim, by the flags of the command.
pub(super) fn claims(trust: Option<Trust>, own: bool) -> ImportClaims {
    match (own, trust) {
        (true, trust) => ImportClaims::Own {
            at_most: trust.unwrap_or(Trust::FULL),
        },
        (false, Some(at_most)) => ImportClaims::Foreign { at_most },
        (false, None) => ImportClaims::default(),
    }
}

/// Who may learn the content of a line without an audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unnamed {
    /// Everyone, as the operator says.
    Everyone,
    /// Nobody: only the assistant knows it.
    Nobody,
}

impl From<bool> for Unnamed {
    fn from(is_public: bool) -> Self {
        match is_public {
            true => Self::Everyone,
            false => Self::Nobody,
        }
    }
}

/// Imports records. Lines that are not records are reported and skipped, and the exit code says so.
pub(super) async fn import(
    file: &MemoryFile,
    from: &Path,
    claims: ImportClaims,
    unnamed: Unnamed,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let lines = reader(from)?;
    let mut memory = file.open_to_change(Missing::Create).await?;
    let mut lines = ImportLines::new(lines, claims);
    let mut import = MemoryImport::new(importer(), unnamed == Unnamed::Everyone);
    let mut ended = false;
    while !ended {
        let batch = lines.next_batch().map_err(TransferError::Import)?;
        ended = batch.ended;
        let reported = import.imported.refused;
        let refused = import.take(&mut memory, batch).await?;
        for ((line, error), number) in refused.into_iter().zip(reported..) {
            if printing == Printing::Json || number < REPORTED {
                report_refused(printing, line, &error)?;
            }
        }
        let stored = counted(import.imported.added, "record", "records");
        progress(&format!("{stored} stored"));
    }
    let MemoryImport {
        imported, events, ..
    } = import;
    if printing == Printing::Text && imported.refused > REPORTED {
        let others = counted(imported.refused - REPORTED, "other line", "other lines");
        remark(&format!(
            "{others} refused likewise; `--json` lists all of them with their reasons"
        ));
    }
    let summary = Summary {
        r#type: "imported",
        imported,
        events,
    };
    printing.print(&summary, || {
        let Imported {
            lines,
            added,
            known,
            refused,
        } = imported;
        let lines = counted(lines, "line", "lines");
        let text = format!("{lines}: {added} added, {known} already known, {refused} refused");
        let note = (claims == ImportClaims::default()).then(|| NOT_BELIEVED.to_owned());
        match summary.events.as_slice() {
            [] => vec![text],
            events => [text, undo_note(events)].into_iter().chain(note).collect(),
        }
    })?;
    Ok(match imported.refused {
        0 => Exit::Success,
        _ => Exit::Failure,
    })
}

fn reader(from: &Path) -> Result<Box<dyn BufRead + Send>, TransferError> {
    if from.as_os_str() == "-" {
        if callers_host().is_some() {
            return Err(TransferError::NoInput);
        }
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(callers_path(from)).and_then(|file| {
        // Opening a folder succeeds; reading it does not.
        let is_folder = file.metadata()?.is_dir();
        if is_folder {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(file)
    });
    let file = file.map_err(|source| TransferError::Read {
        path: from.to_owned(),
        source,
    })?;
    Ok(Box::new(BufReader::new(file)))
}

fn report_refused(printing: Printing, line: u64, error: &LineError) -> Result<(), CommandError> {
    let refused = Refused {
        r#type: "refused",
        line,
        reason: error.to_string(),
    };
    match printing {
        Printing::Json => printing.print(&refused, String::new)?,
        Printing::Text => remark(&format!("line {line}: {}", refused.reason)),
    }
    Ok(())
}

/// Writes the records into a new file, or to standard output.
pub(super) async fn export(file: &MemoryFile, into: Option<PathBuf>) -> Result<Exit, CommandError> {
    // A dash means standard output, as it means standard input for `import`.
    let into = into.filter(|path| path.as_os_str() != "-");
    let into = into.map(|path| callers_path(&path));
    let memory = file.view(Printing::Text).await?;
    let exported = match &into {
        None => {
            let out = EscapedStdout(BufWriter::new(stdout()));
            memory.export(out).await.map_err(TransferError::Export)?
        }
        Some(path) => {
            let new = File::create_new(path).map_err(|source| TransferError::Create {
                path: path.clone(),
                source,
            })?;
            let mut out = BufWriter::new(new);
            let exported = memory.export(&mut out).await;
            let exported = exported.and_then(|exported| {
                out.get_ref().sync_all()?;
                Ok(exported)
            });
            exported.map_err(|error| {
                // Removes a partial export, because it could be mistaken for a complete one.
                drop(fs::remove_file(path));
                TransferError::Export(error)
            })?
        }
    };
    remark(&format!(
        "{} written; {} withdrawn or folded, and left out",
        counted(exported.records, "record", "records"),
        exported.left_out
    ));
    Ok(memory.exit())
}

/// Standard output for whole lines of JSON, which escapes the characters that control a terminal.
struct EscapedStdout(BufWriter<CommandStdout>);

impl Write for EscapedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match str::from_utf8(bytes) {
            Ok(lines) => {
                for line in lines.split_inclusive('\n') {
                    let (json, line_end) = line.split_at(line.trim_end_matches('\n').len());
                    self.0.write_all(escape_json(json).as_bytes())?;
                    self.0.write_all(line_end.as_bytes())?;
                }
            }
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
