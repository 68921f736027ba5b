//! `dormouse play`: a terminal or a pipe acts as a player in the assistant's world.

use std::{
    io::{self, IsTerminal},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::Perception;
use dormouse_engine::{Accepted, State};
use dormouse_host::{
    DataFolder, FolderWorld, Host, HostError, HostSettings, OnAccepted, Woken, WorldContinuity,
    dialects::LearningNotice,
};
use dormouse_providers::{Accounts, ModelSwitch, ServedBy};
use dormouse_sandbox::{Sandbox, landmarks};
use dormouse_store::RedbLog;
use tokio::{runtime, select, sync::mpsc, time::timeout};

use crate::{
    args::{Play, Record},
    command::{self, Places},
    config::{Config, privacy},
    describe,
    diagnostics::Diagnostics,
    exit::Exit,
    grammar::counted,
    item::{Item, Message, Ready},
    lines::Lines,
    plain::Style,
    provider::{self, Chosen},
    recall,
    record::{self, Tape},
    screen::{Format, Reader, Screen, Stdout, Surface, Writer},
    signals::Signals,
};

mod error;
mod event_notices;
mod feed;
mod guest;
mod memory_notices;
mod operator;
mod others;
mod piped;
mod script;
mod session;
mod tasks;
mod terminal;
mod visit_end;
mod visited;
mod waiting;

pub(crate) use error::PlayError;
pub(crate) use guest::{Guest, attend as attend_guest};
pub(crate) use terminal::Terminal;

use event_notices::Addressee;
use feed::PlayerFeed;
use memory_notices::MemoryNotices;
use piped::Pace;
use session::{Session, Unwritten};
use tasks::Tasks;
use visit_end::VisitEnd;
use visited::Visited;

/// How long ending a visit may take after a signal.
const HASTE: Duration = Duration::from_secs(2);

/// How long the reader of the output may read nothing after a signal. After that the program no longer waits for the
/// reader. Together with the rest of the work this takes well under a second.
const STALLED: Duration = Duration::from_millis(300);

/// Visits the assistant until the input ends or the player leaves.
pub(crate) fn run(
    places: &Places,
    play: &Play,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    if let Some(file) = &play.script {
        return script::run(places, file, play.json);
    }
    let data = crate::data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    let Some(file) = &play.replay else {
        let environment = provider::environment();
        let chosen = provider::select(&play.provider.selection(), &config.provider, &environment)?;
        return attend(
            (&data, places),
            &config,
            &chosen,
            play,
            &Tape::None,
            diagnostics,
        );
    };
    let (tape, flags) = record::replay(file, &play.provider)?;
    let environment = provider::environment().with_any_key();
    let mut chosen = provider::select(&flags.selection(), &config.provider, &environment)?;
    chosen.why = format!("answers come from the recording {}", file.display());
    let play = Play {
        provider: flags,
        ..play.clone()
    };
    attend((&data, places), &config, &chosen, &play, &tape, diagnostics)
}

/// Visits in the same way, and records the exchanges with models.
pub(crate) fn record(
    places: &Places,
    record: &Record,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    let environment = provider::environment();
    let chosen = provider::select(
        &record.play.provider.selection(),
        &config.provider,
        &environment,
    )?;
    let (service, _) = chosen.name();
    let recorder = record::recorder(record, &service, &chosen.keys())?;
    let tape = Tape::Recording(recorder.clone());
    let exit = attend(
        (&data, places),
        &config,
        &chosen,
        &record.play,
        &tape,
        diagnostics,
    );
    // Even if the visit failed, the exchanges until then are worth keeping. Without any exchange, an empty file would
    // only block the next attempt.
    if exit.is_err() && recorder.cassette().exchanges.is_empty() {
        return exit;
    }
    let record::Written { exchanges, random } = record::save(&recorder, record)?;
    let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
    let exchanges = counted(count(exchanges), "exchange", "exchanges");
    let mut summary = format!("{exchanges} recorded in {}", record.file.display());
    if chosen.server().is_none() {
        summary.push_str("; the offline model asks no server, and answers the same in a replay");
    }
    if random > 0 {
        let places = counted(count(random), "place looks", "places look");
        summary.push_str(&format!(
            "; {places} random: read through the file before you share it with anybody"
        ));
    }
    diagnostics.report(&Lines::from(summary).to_string());
    exit
}

fn attend(
    (data, places): (&DataFolder, &Places),
    config: &Config,
    chosen: &Chosen,
    play: &Play,
    tape: &Tape,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(PlayError::System)?;
    let (sender, switches) = mpsc::unbounded_channel();
    let models = provider::assemble(
        chosen,
        &config.provider,
        &config.prices,
        &tape.network(provider::network(&config.provider)?),
        // The receiver may have ended already.
        move |switch| drop(sender.send(switch.clone())),
    )?;
    let (sender, learnt) = mpsc::unbounded_channel();
    let mut settings = HostSettings::with_models(config.clone(), provider::environment(), models);
    settings.tool_calling = play.provider.tool_calling;
    // A recording contains only requests to models, and a replay sends no request, so neither uses an encoder.
    if matches!(tape, Tape::None) {
        settings.embedder = chosen.embedder();
    }
    // A replay teaches nothing new: the recorded visit already did.
    settings.learns = play.replay.is_none();
    // The receiver may have ended already.
    settings.on_learnt = Box::new(move |notice| drop(sender.send(notice)));
    let places = Places {
        data: Some(data.path().to_owned()),
        ..places.clone()
    };
    let whom = (&*play.player, play.assistant.as_ref());
    let visited = Visited::open(data, places, settings, whom);
    let visit = visit(
        data,
        (config, chosen),
        visited,
        Reports { switches, learnt },
        tape,
        play,
        diagnostics,
    );
    let result = runtime.block_on(Box::pin(visit));
    // The thread that reads the input may be waiting for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// The reports during a visit.
struct Reports {
    switches: mpsc::UnboundedReceiver<ModelSwitch>,
    learnt: mpsc::UnboundedReceiver<LearningNotice>,
}

async fn visit(
    data: &DataFolder,
    (config, chosen): (&Config, &Chosen),
    visited: impl Future<Output = Result<(Visited, Woken, Host<FolderWorld>), HostError>>,
    Reports { switches, learnt }: Reports,
    tape: &Tape,
    play: &Play,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let mut signals = Signals::listen().map_err(PlayError::System)?;
    diagnostics.limit_waiting().map_err(PlayError::System)?;
    let (visited, woken, host) = visited
        .await
        .map_err(|error| PlayError::composing(data, error))?;
    let is_typed = !play.json && play.line.is_none();
    let interactive = is_typed && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut terminal = interactive.then(|| Terminal::open(data)).transpose()?;
    let (screen, writer) = open_screen(play, terminal.as_ref())?;
    let (mut feed, shown) = PlayerFeed::open(&visited, &screen).await?;
    let unwritten = match interactive {
        true => Unwritten::IsRefused,
        false => Unwritten::Waits,
    };
    let clear = command::clear_command(data, &visited.key);
    let retry = command::retry_command(data, &visited.key);
    let addressee = addressee(play.json, chosen, &visited, &clear);
    let slow = slow(&visited, &server(chosen));
    let memory_notices = MemoryNotices::new(&visited);
    screen
        .show(ready(
            data,
            (config, chosen),
            &visited,
            woken.state(),
            &clear,
        ))
        .await;

    let (log, sandbox) = (visited.log.clone(), visited.sandbox.clone());
    let (handle, resident) = (visited.handle.clone(), visited.resident.clone());
    let accounts = host.accounts().clone();
    let session = Session::new(&visited, &screen, (shown, unwritten));
    let events = woken.events.again();
    drop((visited.memory, visited.host));
    let mut running = woken.start(printing_accepted(&screen));
    let mut session = session.with_pumped(running.pumped());
    let mut tasks = Tasks::default();
    tasks.print_events(events, addressee, memory_notices, screen.clone());
    tasks.report_learning(learnt, screen.clone());
    tasks.report_switches(switches, screen.clone());
    tasks.report_slowness(handle.clone(), resident.name.clone(), slow, screen.clone());
    tasks.report_stalls(handle.clone(), resident.name.clone(), screen.clone());
    if interactive {
        diagnostics.divert(&screen);
        tasks.follow_status(handle.clone(), resident.name, screen.clone());
    }
    let pace = if play.json {
        Pace::AtOnce
    } else {
        Pace::InTurn
    };

    let ending = select! {
        biased;
        signal = signals.next() => Ok(VisitEnd::Signal(signal)),
        () = screen.failed() => Ok(VisitEnd::ReaderGone),
        error = running.failed() => Err(error.into()),
        // Polled before the feed: what the player did is printed before its consequences.
        ending = drive(&mut session, terminal.as_mut(), (pace, play.line.clone())) => ending,
        error = feed.run() => Err(error.into()),
    };

    diagnostics.restore();
    let is_misread = session.is_misread();
    let hasty = ending.as_ref().map_or(true, VisitEnd::is_hasty);
    let reader = writer.reader();
    let closed = hurry(&mut signals, hasty, &reader, async {
        if let Some(stuck) = session.stuck() {
            screen.show(stuck.rejected()).await;
        }
        let waiting = session.waiting().await;
        drop(session);
        drop(handle);
        running.end().await;
        host.close().await;
        // The host holds the senders of the reports about models.
        drop(host);
        tasks.end().await;
        let drained = feed.drain().await;
        drop(feed);
        // A replay costs nothing: its calls were paid for when the recording was made.
        let spent = play.replay.is_none().then(|| spent(&accounts)).flatten();
        for text in [spent, tape.left()].into_iter().flatten() {
            screen.show(Item::Notice { text }).await;
        }
        let ended = ending.as_ref().ok();
        if let Some(end) = ended.and_then(|ending| ending.item(&waiting, retry, clear)) {
            screen.show(end).await;
        }
        drop(screen);
        drained
    });
    let closed = closed.await.unwrap_or(Ok(()));
    let written = hurry(&mut signals, hasty, &reader, writer.finish())
        .await
        .unwrap_or(Ok(()));
    if let Some(terminal) = terminal {
        terminal.restore(&reader, STALLED);
    }
    close(log, sandbox).await;
    let ending = ending?;
    closed?;
    written.map_err(PlayError::Output)?;
    ending.exit_of(is_misread)
}

/// Finishes the rest of the work. After a signal it takes at most [`HASTE`], and does not wait for a reader that has
/// stopped reading.
async fn hurry<T>(
    signals: &mut Signals,
    hasty: bool,
    reader: &Reader,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    if !hasty {
        select! {
            done = &mut work => return Some(done),
            _ = signals.next() => {}
        }
    }
    // Items that cannot be printed would also delay the assistant and its last writes to the log.
    let reading = async {
        reader.give_up_once_stalled(STALLED).await;
        std::future::pending::<()>().await;
    };
    select! {
        done = timeout(HASTE, work) => done.ok(),
        () = reading => None,
    }
}

/// Closes log and world. This blocks until pending writes are done.
async fn close(log: RedbLog, sandbox: Sandbox) {
    let closing = tokio::task::spawn_blocking(move || {
        drop(sandbox);
        log.close();
    });
    if let Err(error) = closing.await {
        tracing::error!(%error, "log and world could not be closed properly");
    }
}

/// Prints each message that the assistant accepted.
fn printing_accepted(screen: &Screen) -> OnAccepted {
    let screen = screen.clone();
    Box::new(move |perception: &Perception, accepted: &Accepted| {
        let screen = screen.clone();
        let message = Message::new(perception, accepted);
        Box::pin(async move {
            if let Some(message) = message {
                screen.show(Item::Message(message)).await;
            }
        })
    })
}

fn open_screen(play: &Play, terminal: Option<&Terminal>) -> Result<(Screen, Writer), PlayError> {
    let (surface, format): (Arc<Mutex<dyn Surface>>, _) = match terminal {
        Some(terminal) => (terminal.surface(), Format::Text(Style::of_terminal())),
        None if play.json => (Arc::new(Mutex::new(Stdout)), Format::Json),
        None => (Arc::new(Mutex::new(Stdout)), Format::Text(Style::Plain)),
    };
    Screen::open(surface, format).map_err(PlayError::System)
}

async fn drive(
    session: &mut Session,
    terminal: Option<&mut Terminal>,
    (pace, line): (Pace, Option<String>),
) -> Result<VisitEnd, PlayError> {
    match terminal {
        Some(terminal) => terminal.drive(session).await,
        None => piped::drive(session, pace, piped::read_input(line)?).await,
    }
}

fn addressee(json: bool, chosen: &Chosen, visited: &Visited, clear: &str) -> Addressee {
    if json {
        return Addressee::Program;
    }
    Addressee::People {
        name: visited.resident.name.clone(),
        server: server(chosen),
        clear: clear.to_owned(),
    }
}

/// Who serves the model, and where.
fn server(chosen: &Chosen) -> String {
    let (provider, _) = chosen.name();
    match chosen.server() {
        Some(url) => format!("{provider} at {url}"),
        None => provider,
    }
}

/// The notice that an answer takes longer.
fn slow(visited: &Visited, server: &str) -> String {
    let name = &visited.resident.name;
    let seconds = visited.slow_after.as_secs();
    format!(
        "{name} takes longer: no answer after {seconds} s (the model is {server}). The message is kept."
    )
}

fn ready(
    data: &DataFolder,
    (config, chosen): (&Config, &Chosen),
    visited: &Visited,
    state: &State,
    clear: &str,
) -> Item {
    let (provider, model) = chosen.name();
    let stopped = state.stop.stopped();
    Item::Ready(Ready {
        assistant: visited.key.to_string(),
        name: visited.resident.name.clone(),
        player: visited.player.name.clone(),
        provider,
        model,
        why: chosen.why.clone(),
        data: data.path().display().to_string(),
        // The state may already include the new configuration, which is not in the log yet.
        seq: visited.handle.status().seq.0,
        waiting: describe::waiting(state),
        privacy: privacy(&config.read_for(&visited.key, state).0.memory, &landmarks()),
        embedder: recall::by_provider(config, &visited.embedder),
        new_world: visited.continuity == WorldContinuity::NotMet,
        stopped: stopped.map(|stopped| describe::stop_cause(&stopped.cause)),
        clear: clear.to_owned(),
    })
}

/// What was spent on models that are not offline, if anything.
fn spent(accounts: &Accounts) -> Option<String> {
    let total = accounts
        .ledger()
        .sum(|key| key.provider.as_str() != ServedBy::Offline.as_str());
    let requests = counted(
        u32::try_from(total.requests).unwrap_or(u32::MAX),
        "request",
        "requests",
    );
    (total.requests > 0).then(|| {
        let (prompt, reply) = (total.prompt_tokens, total.completion_tokens);
        format!(
            "This visit took {requests}, with {prompt} tokens of prompts and {reply} tokens of replies: {total}."
        )
    })
}
