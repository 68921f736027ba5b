//! A command that is carried out by the running program: it sends what was typed, and prints what comes back.

use std::{
    env,
    io::{self, BufReader, IsTerminal, Write},
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use dormouse_host::DataFolder;
use tokio::{
    runtime, select,
    sync::{mpsc, oneshot},
};

use super::{
    socket,
    wire::{self, FromServer, FromVisitor, Greeting, PROTOCOL, Request, TerminalStyle, WireError},
};
use crate::{
    args::{Command, CommandLine},
    command::user_name,
    diagnostics::Diagnostics,
    exit::Exit,
    input::lines::{Line, Lines as InputLines, source},
    log::Log,
    memory::Memory,
    plain::Style,
    play::Terminal,
    provider::command::Provider,
    screen::{Stdout, Surface},
    settings::Settings,
    signals::Signals,
};

/// How long the running program may take to greet. It does so once all its residents have moved in.
const GREETING: Duration = Duration::from_secs(60);

/// How long the terminal may accept no output at the end.
const PATIENCE: Duration = Duration::from_millis(300);

/// How a command is carried out while assistants run in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the program that runs them.
    There,
    /// In this process: it needs no file that is in use.
    Here,
    /// Not at all, for this reason.
    Alone(&'static str),
}

/// How this command is carried out while assistants run.
pub(super) fn way(command: &Command) -> Way {
    match command {
        Command::Play(play) if play.replay.is_some() => {
            Way::Alone("a replay takes its replies from a recording")
        }
        Command::Play(play) if play.script.is_some() => {
            Way::Alone("a script runs on a clock of its own")
        }
        Command::Play(play) if !play.provider.is_default() => {
            Way::Alone("the running assistants have their models already")
        }
        Command::Run(_) | Command::Serve(_) => {
            Way::Alone("the assistants of the folder run already")
        }
        Command::Record(_) => Way::Alone("a recording needs models of its own"),
        Command::Forget(forget) if forget.dry_run || forget.requests => Way::Here,
        Command::Forget(_) => Way::Alone("forgetting must rewrite every file"),
        Command::Log(Log::Salvage { from: None, .. }) => {
            Way::Alone("a log can be salvaged only while no program writes to it")
        }
        Command::Log(Log::Salvage { .. }) => Way::Here,
        Command::Log(Log::Move(_)) => Way::Alone("a life can be moved only while nobody lives it"),
        Command::Memory(Memory::Rebuild { .. } | Memory::Migrate(_)) => {
            Way::Alone("the memory can be rebuilt only while no program uses it")
        }
        Command::Provider(Provider::Retry { .. } | Provider::Spent { .. }) => Way::There,
        Command::Provider(_) => Way::Here,
        // The environment and the file of the running program apply.
        Command::Config(
            Settings::List { .. }
            | Settings::Show { .. }
            | Settings::Set { .. }
            | Settings::Unset { .. },
        ) => Way::There,
        Command::Mcp(mcp) if mcp.is_about_tools() => Way::There,
        Command::Config(_)
        | Command::Init
        | Command::Token(_)
        | Command::Evennia(_)
        | Command::Mcp(_)
        | Command::Completions(_)
        | Command::Manual(_) => Way::Here,
        Command::Play(_)
        | Command::Interact(_)
        | Command::Audit(_)
        | Command::Exec(_)
        | Command::Prompt(_)
        | Command::Assistant(_)
        | Command::Backup(_)
        | Command::Tools(_)
        | Command::Log(_)
        | Command::Memory(_)
        | Command::Otel(_)
        | Command::Doctor(_)
        | Command::Emergency(_)
        | Command::Goal(_)
        | Command::History(_)
        | Command::Budget(_)
        | Command::Approvals(_)
        | Command::Approve(_)
        | Command::Deny(_)
        | Command::Export(_)
        | Command::Entity(_)
        | Command::Commitment(_)
        | Command::Delegation(_)
        | Command::Project(_)
        | Command::Note(_)
        | Command::Journal(_)
        | Command::Sleep(_)
        | Command::Wake(_)
        | Command::Night(_) => Way::There,
    }
}

/// Where a command was carried out.
#[derive(Debug)]
pub(crate) enum Reached {
    /// Nobody runs the assistants of the folder, or the command does not need them: carry it out here.
    Nobody,
    /// The running program carried it out.
    Done(Exit),
}

/// The command was not carried out, or that is unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReachError {
    #[error(
        "`dormouse run` (process {pid}) has {} open, and {why}: end that program with `kill {pid}`, then run this command again",
        data.path().display()
    )]
    Alone {
        why: &'static str,
        pid: u32,
        data: DataFolder,
    },
    #[error(
        "the program that runs the assistants (process {pid}) is version {theirs}, and this is {}: use the same version",
        env!("CARGO_PKG_VERSION")
    )]
    Version { theirs: String, pid: u32 },
    #[error("the program that runs the assistants refuses: {why}")]
    Refused { why: String, exit: u8 },
    #[error("the program that runs the assistants does not speak the control protocol")]
    Protocol(#[source] WireError),
    #[error(
        "the program that runs the assistants has ended. What it did is kept; whether the command was carried out is unknown"
    )]
    Ended,
    #[error(
        "the program that runs the assistants has ended at once. Lines of the input up to {done} were carried out; \
         `dormouse log show` shows whether later ones were"
    )]
    VisitEnded { done: u64 },
    #[error(
        "the argument {0:?} is not UTF-8, and cannot be sent to the program that runs the assistants"
    )]
    NotUtf8(std::ffi::OsString),
    #[error("the control socket failed")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Visit(#[from] crate::play::PlayError),
}

impl ReachError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Alone { .. } => Exit::InUse,
            Self::Version { .. } | Self::NotUtf8(_) => Exit::Usage,
            Self::Refused { exit, .. } => Exit::of_number(*exit),
            Self::Visit(error) => error.exit(),
            Self::Protocol(_) | Self::Ended | Self::VisitEnded { .. } | Self::Io(_) => {
                Exit::Failure
            }
        }
    }
}

/// Asks the program that runs the assistants of this folder to carry out the command, if there is one.
pub(crate) fn reach(
    data: &DataFolder,
    CommandLine { command, .. }: &CommandLine,
    diagnostics: &Diagnostics,
) -> Result<Reached, ReachError> {
    let way = way(command);
    if way == Way::Here {
        return Ok(Reached::Nobody);
    }
    let Some(stream) = socket::connect(data) else {
        return Ok(Reached::Nobody);
    };
    stream.set_read_timeout(Some(GREETING))?;
    let mut source = BufReader::new(stream.try_clone()?);
    let pid = match wire::read::<Greeted>(&mut source) {
        Ok(Some(Greeted::Greeting(Greeting {
            dormouse,
            version,
            pid,
        }))) => {
            if dormouse != PROTOCOL || version != env!("CARGO_PKG_VERSION") {
                return Err(ReachError::Version {
                    theirs: version,
                    pid,
                });
            }
            pid
        }
        Ok(Some(Greeted::Refused(FromServer::Refused { why, exit }))) => {
            return Err(ReachError::Refused { why, exit });
        }
        Ok(Some(Greeted::Refused(_)) | None) => return Err(ReachError::Ended),
        Err(error) => return Err(ReachError::Protocol(error)),
    };
    if let Way::Alone(why) = way {
        let data = data.clone();
        return Err(ReachError::Alone { why, pid, data });
    }
    stream.set_read_timeout(None)?;
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let terminal = match command {
        Command::Play(play) if is_terminal && !play.json && play.line.is_none() => {
            Some(Terminal::open(data)?)
        }
        _ => None,
    };
    let style = terminal.as_ref().map(|_| match Style::of_terminal() {
        Style::Coloured => TerminalStyle::Coloured,
        Style::Plain | Style::Indented => TerminalStyle::Indented,
    });
    wire::write(&mut &stream, &request(style)?)?;
    let exit = match command {
        Command::Play(play) => {
            let input = play.line.clone();
            visit((stream, source), terminal, input, diagnostics)?
        }
        _ => match print(&mut source, &mut Stdout, |_, _| {})? {
            Some(exit) => exit,
            None => return Err(ReachError::Ended),
        },
    };
    Ok(Reached::Done(exit))
}

/// The first line of the running program.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Greeted {
    Greeting(Greeting),
    Refused(FromServer),
}

fn request(terminal: Option<TerminalStyle>) -> Result<Request, ReachError> {
    let args = env::args_os().skip(1).map(|arg| {
        let text = arg.into_string();
        text.map_err(ReachError::NotUtf8)
    });
    Ok(Request {
        dormouse: PROTOCOL,
        args: args.collect::<Result<_, _>>()?,
        folder: env::current_dir()?.to_string_lossy().into_owned(),
        user: user_name(),
        terminal,
    })
}

/// Prints the output until the end, and returns the exit code; `None` if the connection ended before.
fn print(
    source: &mut BufReader<UnixStream>,
    out: &mut dyn Surface,
    mut on_done: impl FnMut(u64, Option<String>),
) -> Result<Option<Exit>, ReachError> {
    loop {
        match wire::read(source) {
            Ok(Some(FromServer::Out(text))) => out.put(text)?,
            // If standard error is closed, nobody reads it.
            Ok(Some(FromServer::Err(text))) => drop(io::stderr().write_all(text.as_bytes())),
            Ok(Some(FromServer::Done { line, prompt })) => on_done(line, prompt),
            Ok(Some(FromServer::Refused { why, exit })) => {
                return Err(ReachError::Refused { why, exit });
            }
            Ok(Some(FromServer::Exit(exit))) => return Ok(Some(Exit::of_number(exit))),
            Ok(None) | Err(WireError::Io(_) | WireError::HalfLine) => return Ok(None),
            Err(error) => return Err(ReachError::Protocol(error)),
        }
    }
}

/// Runs a visit, until the running program says that it is over, or a signal arrives.
fn visit(
    (stream, mut source): (UnixStream, BufReader<UnixStream>),
    terminal: Option<Terminal>,
    input: Option<String>,
    diagnostics: &Diagnostics,
) -> Result<Exit, ReachError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let surface: Arc<Mutex<dyn Surface>> = match &terminal {
        Some(terminal) => terminal.surface(),
        None => Arc::new(Mutex::new(Stdout)),
    };
    let (ended, end) = oneshot::channel();
    let (prompted, prompts) = mpsc::unbounded_channel();
    let printing = move || {
        let mut done = 0;
        let mut out = Shared(surface);
        let printed = print(&mut source, &mut out, |line, prompt| {
            done = line.max(done);
            if let Some(prompt) = prompt {
                // The player may have left.
                drop(prompted.send(prompt));
            }
        });
        let exit = printed.and_then(|exit| exit.ok_or(ReachError::VisitEnded { done }));
        // A signal may have ended the visit.
        drop(ended.send(exit));
    };
    thread::Builder::new()
        .name("printing".to_owned())
        .spawn(printing)?;
    let result = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        diagnostics.limit_waiting()?;
        let end = async { end.await.unwrap_or(Err(ReachError::Ended)) };
        match terminal {
            None => {
                let mut lines = stream;
                thread::Builder::new()
                    .name("input".to_owned())
                    // If the connection fails, the thread that prints notices it.
                    .spawn(move || drop(send_input(&mut lines, input)))?;
                select! {
                    exit = signals.next() => Ok(exit),
                    exit = end => exit,
                }
            }
            Some(mut terminal) => {
                let exit = select! {
                    exit = signals.next() => Ok(exit),
                    exit = end => exit,
                    left = type_lines(&mut terminal, &stream, prompts) => left.map(|()| Exit::Success),
                };
                terminal.leave(PATIENCE);
                exit
            }
        }
    });
    // The thread that reads the input may be waiting for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    match result {
        // A reader that has closed the output does not count as a failure, as without a running program.
        Err(ReachError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Exit::Success)
        }
        result => result,
    }
}

struct Shared(Arc<Mutex<dyn Surface>>);

impl Surface for Shared {
    fn put(&mut self, text: String) -> io::Result<()> {
        let mut surface = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        surface.put(text)
    }
}

/// Sends each line of standard input, or the only one that there is.
fn send_input(stream: &mut UnixStream, input: Option<String>) -> io::Result<()> {
    let mut lines = InputLines::new(source(input));
    while let Some(Line { number, text }) = lines.next_line()? {
        let message = match text {
            Ok(text) => FromVisitor::Line { number, text },
            Err(why) => FromVisitor::Unusable { number, why },
        };
        wire::write(stream, &message)?;
    }
    wire::write(stream, &FromVisitor::End)
}

/// Sends each line that is typed, until the player leaves.
async fn type_lines(
    terminal: &mut Terminal,
    mut stream: &UnixStream,
    mut prompts: mpsc::UnboundedReceiver<String>,
) -> Result<(), ReachError> {
    let Some(first) = prompts.recv().await else {
        return std::future::pending().await;
    };
    let each = terminal.each_line(first, async |number, text| {
        let line = FromVisitor::Line { number, text };
        if wire::write(&mut stream, &line).is_ok()
            && let Some(prompt) = prompts.recv().await
        {
            return Some(prompt);
        }
        // The visit is over; the thread that prints reports why.
        std::future::pending().await
    });
    each.await?;
    Ok(())
}
