//! `dormouse play`: the terminal, or a pipe, is a player in the world the assistant lives in.

use std::{
    io::{self, IsTerminal},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_contracts::BoxError;
use dormouse_engine::{Activity, Rest, RunError};
use tokio::{runtime, select, task::JoinSet, time::timeout};

use crate::{
    args::{Places, Play},
    compose::{ComposeError, household},
    config::{Config, ConfigError},
    data::{DataError, DataFolder},
    diagnostics::Diagnostics,
    exit::Exit,
    item::{End, Item, Ready},
    plain::Style,
    provider::{self, Chosen, Environment, ProviderError},
    screen::{Condition, Format, Screen, Stdout, Surface, Writer},
};

mod feed;
mod piped;
mod pump;
mod session;
mod signals;
mod terminal;

use feed::{PlayerFeed, WatchError};
use pump::{Pump, PumpError, Pumped};
use session::{Session, SessionError};
use signals::Signals;

/// How long ending may take once somebody wants it at once.
const HASTE: Duration = Duration::from_secs(3);

/// A visit failed. What was accepted is on disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("the assistant has ended")]
    Assistant(#[from] RunError),
    #[error("the assistant has ended although nobody asked it to")]
    Ended,
    #[error("a part of the program has failed")]
    Task(#[source] tokio::task::JoinError),
    #[error("messages could not be handed to the assistant")]
    Pump(#[from] PumpError),
    #[error("the world could not be watched")]
    Watch(#[from] WatchError),
    #[error("input could not be read")]
    Input(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[source] io::Error),
    #[error("the operating system refuses")]
    System(#[source] io::Error),
    #[error("the terminal cannot be used")]
    Terminal(#[source] BoxError),
}

impl PlayError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Provider(_) => Exit::Usage,
            Self::Compose(error) => compose_exit(error),
            Self::Session(SessionError::OldWorld { .. }) => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}

fn compose_exit(error: &ComposeError) -> Exit {
    match error {
        ComposeError::Log(error) => crate::log::open_exit(error),
        ComposeError::World(error) => world_exit(error),
        ComposeError::Mismatch { .. } | ComposeError::Wake(_) | ComposeError::Replay(_) => {
            Exit::Damaged
        }
        ComposeError::Join { .. }
        | ComposeError::Id(_)
        | ComposeError::Provider(_)
        | ComposeError::Limits(_) => Exit::Usage,
        ComposeError::Data(_) => Exit::Failure,
    }
}

/// The exit code for a world that cannot be opened.
pub(crate) fn world_exit(error: &dormouse_sandbox::OpenError) -> Exit {
    use dormouse_sandbox::OpenError;
    match error {
        OpenError::InUse { .. } => Exit::InUse,
        OpenError::Empty { .. }
        | OpenError::Foreign { .. }
        | OpenError::NewerFormat { .. }
        | OpenError::Damaged { .. }
        | OpenError::Repaired { .. } => Exit::Damaged,
        _ => Exit::Failure,
    }
}

/// How a visit came to its end.
#[derive(Debug)]
enum Ending {
    /// The input is at its end, and the assistant came to rest so.
    Rest(Rest),
    /// Somebody left.
    Quit,
    /// A signal came.
    Signal(Exit),
    /// Nobody reads what is printed.
    ReaderGone,
}

/// Visits the assistant until the input ends or somebody leaves.
pub(crate) fn run(
    places: &Places,
    play: &Play,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let data = DataFolder::locate(places.data.as_deref())?;
    let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
    let chosen = provider::select(&play.provider, &config.provider, &Environment::of_process())?;
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(PlayError::System)?;
    let result = runtime.block_on(Box::pin(visit(&data, &config, &chosen, play, diagnostics)));
    // The thread that reads the input may be waiting for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// What runs besides the visit itself.
#[derive(Debug)]
enum Task {
    Assistant(Result<(), RunError>),
    Pump(Result<(), PumpError>),
    /// Events are told, or the status is followed.
    Telling,
}

async fn visit(
    data: &DataFolder,
    config: &Config,
    chosen: &Chosen,
    play: &Play,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let mut signals = Signals::listen().map_err(PlayError::System)?;
    let household = household(data, config, chosen, play.tool_calling, &play.player).await?;
    let interactive = !play.json && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut terminal = if interactive {
        Some(terminal::Terminal::open(data)?)
    } else {
        None
    };
    let (screen, writer) = open_screen(play, terminal.as_ref())?;
    if interactive {
        diagnostics.divert(&screen);
    }
    let (pump, pumped) = Pump::new(&household, &screen);
    let mut feed = PlayerFeed::new(&household, &screen);
    let mut session = Session::new(&household, &screen, pumped);
    screen.show(ready(data, chosen, &session)).await;

    let (log, sandbox, handle) = (household.log, household.sandbox, household.handle);
    let mut tasks = JoinSet::new();
    let assistant = household.assistant;
    tasks.spawn(async { Task::Assistant(assistant.run().await) });
    tasks.spawn(async { Task::Pump(pump.run().await) });
    let (mut events, teller) = (household.events, screen.clone());
    tasks.spawn(async move {
        while let Some(recorded) = events.recv().await {
            teller.show(Item::Event((&*recorded).into())).await;
        }
        Task::Telling
    });
    if interactive {
        let (handle, screen) = (handle.clone(), screen.clone());
        tasks.spawn(async move {
            terminal::follow_status(handle, screen).await;
            Task::Telling
        });
    }

    let ending = select! {
        biased;
        signal = signals.next() => Ok(Ending::Signal(signal)),
        condition = screen.failed() => Ok(match condition {
            Condition::ReaderGone | Condition::Open | Condition::Failed => Ending::ReaderGone,
        }),
        error = failed(&mut tasks) => Err(error),
        error = feed.run() => Err(error.into()),
        ending = drive(&mut session, terminal.as_mut()) => ending,
    };

    diagnostics.restore();
    let haste = !matches!(ending, Ok(Ending::Rest(_) | Ending::Quit));
    let waiting = session.waiting();
    drop(session);
    let closing = async {
        handle.shut_down().await;
        drop(handle);
        end_tasks(&mut tasks).await;
        let drained = feed.drain().await;
        drop(feed);
        if let Ok(Some(end)) = ending.as_ref().map(|ending| end_of(ending, waiting)) {
            screen
                .show(Item::End {
                    reason: end,
                    waiting: waiting.count,
                })
                .await;
        }
        drop(screen);
        drained
    };
    let closed = if haste {
        timeout(HASTE, closing).await.unwrap_or(Ok(()))
    } else {
        closing.await
    };
    drop(tasks);
    if let Some(terminal) = terminal {
        terminal.restore();
    }
    let written = finish_writing(writer, haste).await;
    let shut = tokio::task::spawn_blocking(move || {
        drop(sandbox);
        log.close();
    });
    drop(shut.await);
    let ending = ending?;
    closed?;
    written.map_err(PlayError::Output)?;
    exit_of(&ending)
}

async fn finish_writing(writer: Writer, haste: bool) -> io::Result<()> {
    if haste {
        timeout(HASTE, writer.finish()).await.unwrap_or(Ok(()))
    } else {
        writer.finish().await
    }
}

fn open_screen(
    play: &Play,
    terminal: Option<&terminal::Terminal>,
) -> Result<(Screen, Writer), PlayError> {
    let (surface, format): (Arc<Mutex<dyn Surface>>, _) = match terminal {
        Some(terminal) => (terminal.surface(), Format::Text(Style::of_terminal())),
        None if play.json => (Arc::new(Mutex::new(Stdout)), Format::Json),
        None => (Arc::new(Mutex::new(Stdout)), Format::Text(Style::Plain)),
    };
    Screen::open(surface, format).map_err(PlayError::System)
}

async fn drive(
    session: &mut Session,
    terminal: Option<&mut terminal::Terminal>,
) -> Result<Ending, PlayError> {
    match terminal {
        Some(terminal) => terminal.drive(session).await,
        None => piped::drive(session).await,
    }
}

/// Waits until something that should go on has ended.
async fn failed(tasks: &mut JoinSet<Task>) -> PlayError {
    loop {
        match tasks.join_next().await {
            Some(Ok(Task::Assistant(Ok(())))) => return PlayError::Ended,
            Some(Ok(Task::Assistant(Err(error)))) => return error.into(),
            Some(Ok(Task::Pump(Err(error)))) => return error.into(),
            // The others end when the assistant does, whose own end says why.
            Some(Ok(Task::Pump(Ok(())) | Task::Telling)) => {}
            Some(Err(error)) => return PlayError::Task(error),
            None => return PlayError::Ended,
        }
    }
}

/// Waits for the assistant and for those who tell about it; whoever only waits for the world is ended.
async fn end_tasks(tasks: &mut JoinSet<Task>) {
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(Task::Assistant(Err(error))) => {
                tracing::error!(%error, "the assistant ended with an error")
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "a part of the program has failed"),
        }
        if tasks.len() <= 1 {
            // The pump waits for the world, which says nothing more.
            break;
        }
    }
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
}

/// What waits, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    count: usize,
    stopped: bool,
}

fn end_of(ending: &Ending, waiting: Waiting) -> Option<End> {
    Some(match ending {
        Ending::Rest(Rest::Settled) => End::Settled,
        Ending::Rest(Rest::Stopped(_)) => End::Stopped,
        Ending::Rest(Rest::Disabled) => End::Disabled,
        Ending::Quit if waiting.stopped => End::Stopped,
        Ending::Quit if waiting.count == 0 => End::Settled,
        Ending::Quit | Ending::Signal(_) => End::Interrupted,
        // Somebody else's end, which is told as an error, or to nobody.
        Ending::Rest(_) | Ending::ReaderGone => return None,
    })
}

fn exit_of(ending: &Ending) -> Result<Exit, PlayError> {
    match ending {
        Ending::Rest(Rest::Stopped(_)) => Ok(Exit::Stopped),
        Ending::Rest(Rest::Gone) => Err(PlayError::Ended),
        Ending::Signal(exit) => Ok(*exit),
        Ending::Rest(_) | Ending::Quit | Ending::ReaderGone => Ok(Exit::Success),
    }
}

fn ready(data: &DataFolder, chosen: &Chosen, session: &Session) -> Item {
    let (provider, model) = chosen.name();
    let status = session.status();
    if let Activity::Stopped(_) = &status.activity {
        tracing::warn!("the assistant is stopped by its emergency stop; /clear clears it");
    }
    Item::Ready(Ready {
        assistant: session.key().to_string(),
        name: session.resident().to_owned(),
        player: session.player().to_owned(),
        provider,
        model,
        why: chosen.why.clone(),
        data: data.path().display().to_string(),
        seq: status.seq.0,
        waiting: status.waiting,
    })
}

/// A lock whose holder panicked is still good here: what it guards is replaced whole.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
