//! `dormouse play`: a terminal or a pipe acts as a player in the assistant's world.

use std::{
    io::{self, IsTerminal},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse::WorldContinuity;
use dormouse_providers::{Accounts, ModelSwitch, ServedBy};
use dormouse_sandbox::Sandbox;
use dormouse_store::RedbLog;
use tokio::{runtime, select, sync::mpsc, time::timeout};

use crate::{
    args::{Play, Record},
    command::{self, Places},
    compose::{ComposeError, Host, host},
    config::{Config, privacy},
    data::DataFolder,
    describe,
    diagnostics::Diagnostics,
    exit::Exit,
    grammar::counted,
    item::{Item, Ready},
    lines::Lines,
    plain::Style,
    provider::{self, Chosen},
    record::{self, Tape},
    screen::{Format, Reader, Screen, Stdout, Surface, Writer},
};

mod error;
mod event_notices;
mod feed;
mod memory_notices;
mod operator;
mod piped;
mod pump;
mod session;
mod signals;
mod tasks;
mod terminal;
mod visit_end;
mod waiting;

pub(crate) use error::{PlayError, continuity_exit, world_exit};

use event_notices::Addressee;
use feed::PlayerFeed;
use memory_notices::MemoryNotices;
use piped::Pace;
use pump::Pump;
use session::{Session, Unwritten};
use signals::Signals;
use tasks::Tasks;
use terminal::Terminal;
use visit_end::VisitEnd;

/// How long the end of a visit may take after a signal.
const HASTE: Duration = Duration::from_secs(2);

/// How long the reader of the output may read nothing after a signal. After that the program no longer waits for the
/// reader. Together with the rest of the work this takes well under a second.
const STALLED: Duration = Duration::from_millis(300);

/// Visits the assistant until the input ends or somebody leaves.
pub(crate) fn run(
    places: &Places,
    play: &Play,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let data = DataFolder::locate(places.data.as_deref())?;
    let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
    let Some(file) = &play.replay else {
        let environment = provider::environment();
        let chosen = provider::select(&play.provider, &config.provider, &environment)?;
        return attend(&data, &config, &chosen, play, &Tape::None, diagnostics);
    };
    let (tape, flags) = record::replay(file, &play.provider)?;
    let environment = provider::environment().with_any_key();
    let mut chosen = provider::select(&flags, &config.provider, &environment)?;
    chosen.why = format!("answers come from the recording {}", file.display());
    let play = Play {
        provider: flags,
        ..play.clone()
    };
    attend(&data, &config, &chosen, &play, &tape, diagnostics)
}

/// The same, and records the exchanges with models.
pub(crate) fn record(
    places: &Places,
    record: &Record,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let data = DataFolder::locate(places.data.as_deref())?;
    let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
    let environment = provider::environment();
    let chosen = provider::select(&record.play.provider, &config.provider, &environment)?;
    let (service, _) = chosen.name();
    let recorder = record::recorder(record, &service, &chosen.keys())?;
    let tape = Tape::Recording(recorder.clone());
    let exit = attend(&data, &config, &chosen, &record.play, &tape, diagnostics);
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
        summary.push_str("; the offline model asks no server, and answers alike in a replay");
    }
    if random > 0 {
        let places = counted(count(random), "place looks", "places look");
        summary.push_str(&format!(
            "; {places} random: look through it before you give it away"
        ));
    }
    diagnostics.report(&Lines::from(summary).to_string());
    exit
}

fn attend(
    data: &DataFolder,
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
    let host = host(
        data,
        config,
        models,
        play.provider.tool_calling,
        &play.player,
    );
    let visit = visit(
        data,
        (config, chosen),
        host,
        (switches, tape),
        play,
        diagnostics,
    );
    let result = runtime.block_on(Box::pin(visit));
    // The thread that reads the input may be waiting for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

async fn visit(
    data: &DataFolder,
    (config, chosen): (&Config, &Chosen),
    host: impl Future<Output = Result<Host, ComposeError>>,
    (switches, tape): (mpsc::UnboundedReceiver<ModelSwitch>, &Tape),
    play: &Play,
    diagnostics: &Diagnostics,
) -> Result<Exit, PlayError> {
    let mut signals = Signals::listen().map_err(PlayError::System)?;
    diagnostics.limit_waiting().map_err(PlayError::System)?;
    let host = host.await?;
    let interactive = !play.json && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut terminal = interactive.then(|| Terminal::open(data)).transpose()?;
    let (screen, writer) = open_screen(play, terminal.as_ref())?;
    let (pump, pumped) = Pump::new(&host, &screen);
    let (mut feed, shown) = PlayerFeed::open(&host, &screen).await?;
    let unwritten = match interactive {
        true => Unwritten::IsRefused,
        false => Unwritten::Waits,
    };
    let mut session = Session::new(&host, &screen, pumped, shown, unwritten);
    let clear = command::clear_command(data, &host.key);
    let retry = command::retry_command(data, &host.key);
    let addressee = addressee(play, chosen, &host, &clear);
    let slow = slow(&host, &server(chosen));
    let memory_notices = MemoryNotices::new(&host);
    screen
        .show(ready(data, (config, chosen), &host, &clear))
        .await;

    let Host {
        log,
        sandbox,
        handle,
        assistant,
        events,
        resident,
        accounts,
        learning,
        ..
    } = host;
    // A replay teaches nothing new: it was learnt when the recording was made.
    let learning = play.replay.is_none().then_some(learning);
    let printing = (addressee, learning, memory_notices);
    let mut tasks = Tasks::start(assistant, pump, events, printing, screen.clone());
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
        error = tasks.failed() => Err(error),
        // Polled before the feed: what the player did is printed before its consequences.
        ending = drive(&mut session, terminal.as_mut(), pace) => ending,
        error = feed.run() => Err(error.into()),
    };

    diagnostics.restore();
    let hasty = ending.as_ref().map_or(true, VisitEnd::is_hasty);
    let reader = writer.reader();
    let closed = hurry(&mut signals, hasty, &reader, async {
        if let Some(stuck) = session.stuck() {
            screen.show(stuck.rejected()).await;
        }
        let waiting = session.waiting().await;
        drop(session);
        handle.shut_down().await;
        drop(handle);
        tasks.end().await;
        let drained = feed.drain().await;
        drop(feed);
        // The calls of a replay were paid when the recording was made.
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
    ending.exit()
}

/// Finishes the rest of the work. After a signal it takes at most [`HASTE`], and does not wait for a reader that reads
/// nothing.
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
    // Items that cannot be printed would also delay the assistant, and with it the last writes to its log.
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
        tracing::error!(%error, "log and world were not closed as they should be");
    }
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
    pace: Pace,
) -> Result<VisitEnd, PlayError> {
    match terminal {
        Some(terminal) => terminal.drive(session).await,
        None => piped::drive(session, pace).await,
    }
}

fn addressee(play: &Play, chosen: &Chosen, host: &Host, clear: &str) -> Addressee {
    if play.json {
        return Addressee::Program;
    }
    Addressee::People {
        name: host.resident.name.clone(),
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
fn slow(host: &Host, server: &str) -> String {
    let name = &host.resident.name;
    let seconds = host.slow_after.as_secs();
    format!(
        "{name} takes longer: no answer after {seconds} s (the model is {server}). The message is kept."
    )
}

fn ready(
    data: &DataFolder,
    (config, chosen): (&Config, &Chosen),
    host: &Host,
    clear: &str,
) -> Item {
    let (provider, model) = chosen.name();
    let state = host.assistant.state();
    let stopped = state.stop.stopped();
    Item::Ready(Ready {
        assistant: host.key.to_string(),
        name: host.resident.name.clone(),
        player: host.player.name.clone(),
        provider,
        model,
        why: chosen.why.clone(),
        data: data.path().display().to_string(),
        // What it lives under from now on is in its state, but not in its log yet.
        seq: host.handle.status().seq.0,
        waiting: describe::waiting(state),
        privacy: privacy(&config.memory),
        new_world: host.continuity == WorldContinuity::NotMet,
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
