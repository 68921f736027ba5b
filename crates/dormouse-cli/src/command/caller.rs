//! Who gave a command: the user of this process, a user of the control socket, or a player.
//!
//! A command runs on one thread from its beginning to its end, so this is known by thread. A command from the socket or
//! from a player uses the files that the running program has open, and prints to the socket or to the player's screen.

use std::{
    cell::RefCell,
    fmt,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, Habitat};
use dormouse_host::{Awake, FolderWorld, Host, HostError};

use super::error::CommandError;

/// A caller at the other end of the control socket, or a player.
#[derive(Clone)]
pub(crate) struct Caller {
    /// The running assistants.
    pub(crate) host: Host<dyn Habitat>,
    /// The world of these assistants, if it is the one of the folder.
    pub(crate) world: Option<FolderWorld>,
    /// The name of the user, for the log.
    pub(crate) user: Option<String>,
    /// The folder in which the command was typed.
    pub(crate) folder: PathBuf,
    /// Where output goes.
    pub(crate) out: Arc<dyn CallerOutput>,
    /// The assistant that a command without such a flag is about, if it is not the configured one.
    pub(crate) about: Option<AssistantId>,
    /// The visited assistant, if it is not a resident of the host.
    pub(crate) visited: Option<(AssistantId, Awake)>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("user", &self.user)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// The output of a caller.
pub(crate) trait CallerOutput: Send + Sync {
    /// Prints bytes on the caller's standard output.
    fn out(&self, bytes: &[u8]) -> io::Result<()>;

    /// Prints text on the caller's standard error.
    fn err(&self, text: &str) -> io::Result<()>;
}

thread_local! {
    static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
}

/// Carries out `work`, a command, for this caller.
pub(crate) fn carry_out_for<T>(caller: Caller, work: impl FnOnce() -> T) -> T {
    CALLER.replace(Some(caller));
    let done = work();
    CALLER.replace(None);
    done
}

fn with<T>(ask: impl FnOnce(Option<&Caller>) -> T) -> T {
    CALLER.with_borrow(|caller| ask(caller.as_ref()))
}

/// The running assistants, if the command came through the control socket.
pub(crate) fn host() -> Option<Host<dyn Habitat>> {
    with(|caller| caller.map(|caller| caller.host.clone()))
}

/// The world that the running assistants live in, if the command came through the control socket and it is the world of the
/// folder.
pub(crate) fn world() -> Option<FolderWorld> {
    with(|caller| caller.and_then(|caller| caller.world.clone()))
}

/// Wakes the assistant, or keeps it awake, if the command came through the control socket. `None` if it is archived,
/// and for commands of this process, because then no program runs it.
pub(crate) async fn resident(key: &AssistantId) -> Result<Option<Awake>, CommandError> {
    let visited = with(|caller| caller.and_then(|caller| caller.visited.clone()));
    if let Some((_, awake)) = visited.filter(|(visited, _)| visited == key) {
        return Ok(Some(awake));
    }
    match host() {
        Some(host) => match host.wake(key).await {
            Err(HostError::Archived { .. }) => Ok(None),
            woken => Ok(Some(woken?.into())),
        },
        None => Ok(None),
    }
}

/// The assistant that the caller's command is about, if the caller can name only one.
pub(crate) fn about() -> Option<AssistantId> {
    with(|caller| caller.and_then(|caller| caller.about.clone()))
}

/// The name of the user at the other end, if the command came through the control socket.
pub(crate) fn user() -> Option<Option<String>> {
    with(|caller| caller.map(|caller| caller.user.clone()))
}

/// The file that the user means: a relative path begins in the folder in which the command was typed.
pub(crate) fn path(path: &Path) -> PathBuf {
    with(|caller| match caller {
        Some(caller) => caller.folder.join(path),
        None => path.to_owned(),
    })
}

/// Standard output of this process, or of the caller.
pub(crate) enum CommandStdout {
    Own(io::Stdout),
    Callers(Arc<dyn CallerOutput>),
}

impl fmt::Debug for CommandStdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandStdout").finish_non_exhaustive()
    }
}

/// Where the command prints its result.
pub(crate) fn stdout() -> CommandStdout {
    with(|caller| match caller {
        Some(caller) => CommandStdout::Callers(Arc::clone(&caller.out)),
        None => CommandStdout::Own(io::stdout()),
    })
}

impl Write for CommandStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Own(out) => out.write(bytes),
            Self::Callers(out) => out.out(bytes).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Own(out) => out.flush(),
            Self::Callers(_) => Ok(()),
        }
    }
}

/// Prints a text of whole lines on standard error.
pub(super) fn complain(text: &str) {
    let out = with(|caller| caller.map(|caller| Arc::clone(&caller.out)));
    let written = match out {
        Some(out) => out.err(text),
        None => io::stderr().write_all(text.as_bytes()),
    };
    // If standard error is closed, nobody reads it.
    drop(written);
}

/// Standard error, if it is a terminal of this process.
pub(super) fn stderr_terminal() -> Option<io::Stderr> {
    let err = io::stderr();
    (host().is_none() && err.is_terminal()).then_some(err)
}
