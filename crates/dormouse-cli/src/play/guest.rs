//! A visit over the control socket to an assistant that already runs. It ends without ending the assistant.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_engine::Handle;
use dormouse_host::{EndedError, FolderWorld, Host, Tail};
use tokio::{
    select,
    sync::{mpsc, watch},
    time::{sleep, timeout},
};

use super::{
    Chosen, HASTE, Pace, PlayError, PlayerFeed, Session, Tasks, Unwritten, VisitEnd, Visited,
    addressee, memory_notices::MemoryNotices, operator::Flow, piped, ready, server,
    session::is_set, slow, terminal, visited,
};
use crate::{
    args::Play,
    command::{self, Places},
    exit::Exit,
    input::lines::Line,
    item::Item,
    plain::Style,
    screen::{Format, Screen, Surface},
};

/// How long the shutdown of the program waits for the line under way.
const LINE: Duration = Duration::from_millis(500);

/// A visitor at the other end of the control socket.
pub(crate) struct Guest {
    /// The command.
    pub(crate) play: Play,
    /// How text is shown at a terminal; `None` for a pipe.
    pub(crate) terminal: Option<Style>,
    /// The lines of input.
    pub(crate) lines: mpsc::Receiver<io::Result<Line>>,
    /// Where output goes.
    pub(crate) surface: Arc<Mutex<dyn Surface>>,
    /// Called with each line that was carried out, and with the next prompt.
    pub(crate) on_done: Box<dyn Fn(u64, Option<String>) + Send + Sync>,
    /// Set when the visitor is gone.
    pub(crate) gone: watch::Receiver<bool>,
    /// Set when the program puts its assistants away.
    pub(crate) ending: watch::Receiver<bool>,
    /// The places of files for commands of the visitor.
    pub(crate) places: Places,
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest")
            .field("play", &self.play)
            .finish_non_exhaustive()
    }
}

/// Lets the guest visit an assistant, which is awake meanwhile.
pub(crate) async fn attend(
    host: &Host<FolderWorld>,
    chosen: &Chosen,
    guest: Guest,
) -> Result<Exit, PlayError> {
    let Guest {
        play,
        terminal,
        lines,
        surface,
        on_done,
        gone,
        ending,
        places,
    } = guest;
    let (data, config) = (host.folder(), host.config());
    let failed = |error| PlayError::composing(data, error);
    let key = visited::key_of(host, play.assistant.as_ref());
    let key = key.await.map_err(failed)?;
    let resident = host.wake(&key).await.map_err(failed)?;
    let visited = Visited::of(host, places, &resident, &play.player)
        .await
        .map_err(failed)?;
    let format = match (play.json, terminal) {
        (true, _) => Format::Json,
        (false, style) => Format::Text(style.unwrap_or(Style::Plain)),
    };
    let (screen, writer) = Screen::open(surface, format).map_err(PlayError::System)?;
    let (mut feed, shown) = PlayerFeed::open(&visited, &screen).await?;
    let unwritten = match terminal {
        Some(_) => Unwritten::IsRefused,
        None => Unwritten::Waits,
    };
    let handle = visited.handle.clone();
    let state = handle.inspect().await.ok_or(EndedError::Asked)?;
    let clear = command::clear_command(data, &visited.key);
    let retry = command::retry_command(data, &visited.key);
    let name = visited.resident.name.clone();
    let mut tasks = Tasks::default();
    let events = Tail::new(host.log(), &visited.key, &handle, handle.status().seq);
    screen
        .show(ready(data, (config, chosen), &visited, &state, &clear))
        .await;
    tasks.print_accepted(resident.accepted(), screen.clone());
    tasks.print_events(
        events,
        addressee(play.json, chosen, &visited, &clear),
        MemoryNotices::new(&visited),
        screen.clone(),
    );
    let slow = slow(&visited, &server(chosen));
    tasks.report_slowness(handle.clone(), name.clone(), slow, screen.clone());
    tasks.report_stalls(handle.clone(), name.clone(), screen.clone());
    if terminal.is_some() {
        tasks.follow_status(handle.clone(), name, screen.clone());
    }
    let player = visited.player.id.clone();
    let session = Session::new(&visited, &screen, (shown, unwritten));
    let mut session = session
        .of_guest()
        .with_pumped(resident.pumped())
        .with_ending(ending.clone());
    drop(visited);
    let (leaving, last_line) = (session.leaving(), session.last_line());
    let mut carried_out = session.last_line();
    let report = async {
        while carried_out.changed().await.is_ok() {
            let line = *carried_out.borrow_and_update();
            on_done(line, None);
        }
        std::future::pending().await
    };
    let drive = async {
        match terminal {
            Some(_) => type_lines(&mut session, lines, &on_done).await,
            None => {
                let pace = if play.json {
                    Pace::AtOnce
                } else {
                    Pace::InTurn
                };
                piped::drive(&mut session, pace, lines).await
            }
        }
    };
    let ended = select! {
        biased;
        () = is_set(gone) => Ok(VisitEnd::ReaderGone),
        () = screen.failed() => Ok(VisitEnd::ReaderGone),
        () = has_ended(handle.clone()) => Err(EndedError::Asked.into()),
        ended = drive => ended,
        () = must_end(ending, &leaving) => Ok(VisitEnd::Signal(Exit::Failure)),
        error = feed.run() => Err(error.into()),
        () = report => Err(EndedError::Asked.into()),
    };
    let is_misread = session.is_misread();
    let hasty = ended.as_ref().map_or(true, VisitEnd::is_hasty);
    let mut waits = true;
    let close = async {
        if let Some(stuck) = session.stuck() {
            screen.show(stuck.rejected()).await;
        }
        if matches!(ended, Ok(VisitEnd::Signal(_))) {
            let mut text =
                "The program that runs the assistants ends. Messages are kept.".to_owned();
            if terminal.is_none() {
                let last = *last_line.borrow();
                on_done(last, None);
                text += &format!(
                    " Lines of the input up to {last} were carried out; send the others again."
                );
            }
            screen.show(Item::Notice { text }).await;
        }
        let waiting = session.waiting().await;
        waits = waiting.count > 0;
        drop(session);
        tasks.end_at(handle.status().seq).await;
        let drained = feed.drain().await;
        drop(feed);
        let end = ended.as_ref().ok();
        if let Some(end) = end.and_then(|ended| ended.item(&waiting, retry, clear)) {
            screen.show(end).await;
        }
        drop(screen);
        let written = writer.finish().await;
        drained.map_err(PlayError::from)?;
        written.map_err(PlayError::Output)
    };
    let closed = match hasty {
        true => timeout(HASTE, close).await.unwrap_or(Ok(())),
        false => close.await,
    };
    // A visitor who is cut off, or does not wait for an answer, stays in the world, so that the answer is kept for the
    // next visit.
    let has_left = matches!(ended, Ok(VisitEnd::Rest(_) | VisitEnd::Quit));
    if has_left
        && !waits
        && let Ok(sandbox) = host.world().sandbox()
        && let Err(error) = sandbox.leave(&player).await
    {
        tracing::warn!(%error, "a visitor who left is still in the world");
    }
    let ended = ended?;
    closed?;
    ended.exit_of(is_misread)
}

/// Carries out typed lines, each followed by the next prompt.
async fn type_lines(
    session: &mut Session,
    mut lines: mpsc::Receiver<io::Result<Line>>,
    on_done: &(dyn Fn(u64, Option<String>) + Send + Sync),
) -> Result<VisitEnd, PlayError> {
    // What happened before this visit is printed first.
    session.all_shown().await;
    on_done(0, Some(terminal::prompt(&session.status())));
    loop {
        let next = select! {
            biased;
            () = session.ending() => return Ok(VisitEnd::Signal(Exit::Failure)),
            next = lines.recv() => next,
        };
        let Some(line) = next else {
            break;
        };
        let Line { number, text } = line.map_err(PlayError::Input)?;
        if session.line(number, text).await == Flow::Quit {
            break;
        }
        let prompt = terminal::next_prompt(session).await;
        on_done(number, Some(prompt));
    }
    Ok(VisitEnd::Quit)
}

/// Waits until the program ends and the line under way has had enough time.
async fn must_end(ending: watch::Receiver<bool>, leaving: &watch::Sender<bool>) {
    is_set(ending).await;
    leaving.send_replace(true);
    sleep(LINE).await;
}

async fn has_ended(mut handle: Handle) {
    while handle.status_changed().await.is_some() {}
}
