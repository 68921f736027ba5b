//! A server that is a program.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_resilience::deadline;
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};

use super::StartError;
use crate::client::settings::SecretText;

/// The bytes that are kept of what a server writes for people.
const WORDS_LIMIT: usize = 1_024;

/// The program, which is killed when this is dropped, with the programs that it started.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    /// Its group, which it leads. Others may be in it when it has ended.
    #[cfg(unix)]
    group: Option<i32>,
}

/// Its input and output.
pub(super) struct Streams {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

impl Program {
    pub(super) fn start(
        program: &Path,
        arguments: &[String],
        environment: &BTreeMap<String, SecretText>,
    ) -> Result<(Self, Streams), StartError> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().kill_on_drop(true);
        command.envs(environment.iter().map(|(name, value)| (name, &value.0)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A signal from the terminal is for us: we end the server, in order.
        #[cfg(unix)]
        command.process_group(0);
        let failed = |source| StartError::Program {
            program: program.to_owned(),
            source,
        };
        let mut child = command.spawn().map_err(failed)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let started = Self {
            // Known only until it has ended.
            #[cfg(unix)]
            group: child.id().and_then(|id| i32::try_from(id).ok()),
            child,
        };
        match streams {
            (Some(input), Some(output), Some(errors)) => {
                let streams = Streams {
                    input,
                    output,
                    errors,
                };
                Ok((started, streams))
            }
            _ => Err(failed(io::Error::other("it has no input or output"))),
        }
    }

    /// Waits until it ends, at most so long, and then kills it.
    pub(super) async fn end(mut self, grace: Duration) {
        // Killed below if it is late.
        deadline(grace, self.child.wait()).await.ok();
    }
}

#[cfg(unix)]
impl Drop for Program {
    fn drop(&mut self) {
        use nix::{
            sys::signal::{Signal, killpg},
            unistd::Pid,
        };
        if let Some(group) = self.group {
            // It may have ended meanwhile, with all that it started.
            killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
        }
    }
}

/// The end of what a server writes to its standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Reads until the server ends, so that it can go on writing.
    pub(super) async fn listen(self, mut errors: ChildStderr) {
        let mut read = [0; 512];
        while let Ok(length @ 1..) = errors.read(&mut read).await {
            let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            words.extend(read.iter().take(length));
            let before = words.len().saturating_sub(WORDS_LIMIT);
            words.drain(..before);
        }
    }

    pub(super) fn text(&self) -> Option<String> {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}
