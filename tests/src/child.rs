//! A process that cannot outlive its test.

use std::{
    process::{ExitStatus, Stdio},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// How long any one wait for a process may take. Reaching it is a failure of the test.
pub const LIMIT: Duration = Duration::from_secs(300);

/// A running process with its input and output in hand. Dropping it kills that process, and no other.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What has been read of a line that is not whole yet.
    partial: Vec<u8>,
}

impl Child {
    /// Starts a process. Where its standard error goes is up to `command`.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[track_caller]
    #[must_use]
    pub fn spawn(mut command: Command) -> Self {
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn().expect("the process starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("its output is piped"));
        Self {
            process,
            input,
            output,
            partial: Vec::new(),
        }
    }

    /// Writes a line to its input. Whether anybody reads it is not known: the process may have ended.
    pub async fn write(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let written = timeout(LIMIT, input.write_all(format!("{line}\n").as_bytes())).await;
            // A process that has ended does not read, and the test sees that by its output.
            drop(written.expect("a process that lives reads its input"));
        }
    }

    /// Ends its input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The next whole line of its output; nothing at the end. A line cut short by the end counts as nothing.
    /// Dropping the future loses nothing.
    ///
    /// # Panics
    ///
    /// If there is neither within [`LIMIT`].
    pub async fn line(&mut self) -> Option<Vec<u8>> {
        let read = self.output.read_until(b'\n', &mut self.partial);
        let read = timeout(LIMIT, read).await.expect("output within the limit");
        read.expect("the output can be read");
        let line = std::mem::take(&mut self.partial);
        line.ends_with(b"\n").then_some(line)
    }

    /// The next line of its output, which is JSON.
    ///
    /// # Panics
    ///
    /// If the line is not JSON, and as [`Child::line`].
    pub async fn json(&mut self) -> Option<Value> {
        let line = self.line().await?;
        Some(parsed(&line))
    }

    /// The next line, which is JSON, if it comes within `patience`.
    ///
    /// # Panics
    ///
    /// As [`Child::json`] does.
    pub async fn json_within(&mut self, patience: Duration) -> Option<Value> {
        timeout(patience, self.json()).await.ok().flatten()
    }

    /// Kills it as `kill -9` does, and answers what it had still printed as JSON, and how it ended.
    ///
    /// # Panics
    ///
    /// If it cannot be killed within [`LIMIT`], and as [`Child::json`] does.
    pub async fn kill(self) -> (Vec<Value>, ExitStatus) {
        let (lines, status) = self.kill_and_read().await;
        (lines.iter().map(|line| parsed(line)).collect(), status)
    }

    /// Kills it as `kill -9` does, and answers the whole lines it had still printed, and how it ended.
    ///
    /// # Panics
    ///
    /// If it cannot be killed within [`LIMIT`], and as [`Child::line`] does.
    pub async fn kill_and_read(mut self) -> (Vec<Vec<u8>>, ExitStatus) {
        self.process.start_kill().expect("one may kill one's child");
        let status = self.ended().await;
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        (lines, status)
    }

    /// Closes its input. Returns everything that it still prints, as JSON, and its exit status.
    ///
    /// # Panics
    ///
    /// If it does not end within [`LIMIT`] after its last line, and as [`Child::json`] does.
    pub async fn finish(mut self) -> (Vec<Value>, ExitStatus) {
        self.close_input();
        let printed = self.rest().await;
        (printed, self.ended().await)
    }

    /// Its number, while it runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Ends its input, passes over all it still prints, and answers how it ends.
    ///
    /// # Panics
    ///
    /// As [`Child::finish`] does.
    pub async fn end(mut self) -> ExitStatus {
        self.close_input();
        while self.line().await.is_some() {}
        self.ended().await
    }

    async fn rest(&mut self) -> Vec<Value> {
        let mut printed = Vec::new();
        while let Some(line) = self.json().await {
            printed.push(line);
        }
        printed
    }

    async fn ended(&mut self) -> ExitStatus {
        let ended = timeout(LIMIT, self.process.wait()).await;
        ended
            .expect("a process that was killed, or has closed its output, ends")
            .expect("its end can be awaited")
    }
}

fn parsed(line: &[u8]) -> Value {
    let parsed = serde_json::from_slice(line);
    parsed.unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(line)))
}
