//! Writes down what was ranked for each question, so that anyone can score the ranking.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use serde::Serialize;

use crate::{contender::Ranking, error::EvalError};

/// What was ranked for one question, and the evidence that answers it.
#[derive(Debug, Serialize)]
pub(super) struct Receipt<'a> {
    pub(super) question: &'a str,
    pub(super) conversation: &'a str,
    pub(super) category: &'a str,
    pub(super) ranking: Ranking,
    pub(super) ranked: Vec<Ranked<'a>>,
    pub(super) gold: Vec<&'a str>,
}

/// A ranked turn or session.
#[derive(Debug, Serialize)]
pub(super) struct Ranked<'a> {
    id: &'a str,
    score: f32,
}

impl<'a> From<(&'a str, f32)> for Ranked<'a> {
    fn from((id, score): (&'a str, f32)) -> Self {
        Self { id, score }
    }
}

/// The file for the receipts, if they are wanted.
pub(super) struct Receipts(Option<BufWriter<File>>);

impl Receipts {
    /// Writes no receipts.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Writes receipts to this file and replaces its content. It must not be the file that is evaluated.
    pub(super) fn into(path: &Path, evaluated: &Path) -> Result<Self, EvalError> {
        let same = path
            .canonicalize()
            .ok()
            .is_some_and(|path| evaluated.canonicalize().ok() == Some(path));
        if same {
            return Err(EvalError::SameFile {
                path: path.to_owned(),
            });
        }
        let file = File::create(path).map_err(|source| EvalError::Receipts {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self(Some(BufWriter::new(file))))
    }

    pub(super) fn write(&mut self, receipt: &Receipt<'_>) -> Result<(), EvalError> {
        if let Some(file) = &mut self.0 {
            serde_json::to_writer(&mut *file, receipt)?;
            file.write_all(b"\n").map_err(EvalError::Output)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), EvalError> {
        match &mut self.0 {
            Some(file) => file.flush().map_err(EvalError::Output),
            None => Ok(()),
        }
    }
}
