//! Running the program in a folder of its own.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// A folder for the files of a test.
pub(crate) struct Folder(tempfile::TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// The one line of the output, parsed.
    pub(crate) fn report(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The program in this folder, without the environment variables of this machine that could change its result.
pub(crate) fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dormouse-eval"));
    command.args(args).current_dir(folder.path()).env_clear();
    command.stdin(Stdio::null());
    command
}

/// Runs to the end.
pub(crate) fn run(folder: &Folder, args: &[&str]) -> Run {
    let output = command(folder, args).output().unwrap();
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
