//! Input that is not a terminal: one line is one act, and the end of input waits for pending answers.
//!
//! Up to [`LINES_AHEAD`] lines and [`BYTES_AHEAD`] bytes are read ahead, so that a command to the program acts as soon
//! as it is read. Other lines keep their order.

use std::{io, pin::pin, sync::Arc, thread};

use tokio::{
    select,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
};

use super::{
    error::PlayError,
    operator::{Flow, Operator},
    session::{Phase, Session},
    visit_end::VisitEnd,
};
use crate::{
    exit::Exit,
    input::{
        self, Command, Input,
        lines::{Line, Lines, source},
    },
};

/// How many lines are read ahead of the one that is carried out.
const LINES_AHEAD: usize = 256;

/// How many bytes these lines may have in total.
const BYTES_AHEAD: usize = 1 << 20;

/// When the next line is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As soon as the line before is carried out, for programs that keep track by themselves.
    AtOnce,
    /// Once the assistant is at rest, so that the output reads in the order of events.
    InTurn,
}

/// A line in the queue, and the room that it takes there.
#[derive(Debug)]
struct Queued {
    line: io::Result<Line>,
    _room: OwnedSemaphorePermit,
}

/// The input end of the queue.
struct Queue {
    lines: mpsc::Sender<Queued>,
    room: Arc<Semaphore>,
    phase: watch::Sender<Phase>,
}

/// No task carries out lines any more.
struct Closed;

impl Queue {
    fn new(phase: watch::Sender<Phase>) -> (Self, mpsc::Receiver<Queued>) {
        let (lines, queued) = mpsc::channel(LINES_AHEAD);
        let room = Arc::new(Semaphore::new(BYTES_AHEAD));
        (Self { lines, room, phase }, queued)
    }

    /// Puts a line in. Waits while there is no room for it.
    async fn put(&self, line: io::Result<Line>) -> Result<(), Closed> {
        let room = Arc::clone(&self.room).acquire_many_owned(length(&line));
        let _room = room.await.map_err(|_closed| Closed)?;
        let queued = Queued { line, _room };
        self.lines.send(queued).await.map_err(|_unsent| Closed)?;
        self.phase.send_if_modified(|phase| {
            let begins = *phase == Phase::Idle;
            if begins {
                *phase = Phase::CarryingOut;
            }
            begins
        });
        Ok(())
    }

    /// Waits until every line that can be carried out now has been carried out.
    async fn quiet(&self) {
        let mut phase = self.phase.subscribe();
        // This has a sender, so it ends only when the phase changes.
        drop(phase.wait_for(|phase| *phase != Phase::CarryingOut).await);
    }
}

/// Carries out every line, then waits until the assistant has come to rest.
pub(super) async fn drive(
    session: &mut Session,
    pace: Pace,
    lines: mpsc::Receiver<io::Result<Line>>,
) -> Result<VisitEnd, PlayError> {
    let (queue, queued) = Queue::new(session.phase());
    let (operator, leaving) = (session.operator().clone(), session.leaving());
    let mut reading = pin!(read_ahead(lines, &operator, &leaving, queue));
    let mut carrying_out = pin!(carry_out(session, queued, pace));
    select! {
        biased;
        ending = &mut carrying_out => ending,
        () = &mut reading => carrying_out.await,
    }
}

/// Puts lines into the queue, and carries out commands that act at once. Ends at the end of input, or when the player
/// leaves.
async fn read_ahead(
    mut lines: mpsc::Receiver<io::Result<Line>>,
    operator: &Operator,
    leaving: &watch::Sender<bool>,
    queue: Queue,
) {
    while let Some(line) = lines.recv().await {
        if let Some(command) = command_at_once(&line, operator.assistant()) {
            queue.quiet().await;
            if operator.carry_out(command).await == Flow::Quit {
                leaving.send_replace(true);
                return;
            }
            continue;
        }
        if let Err(Closed) = queue.put(line).await {
            return;
        }
    }
}

fn command_at_once(line: &io::Result<Line>, assistant: &str) -> Option<Command> {
    let text = line.as_ref().ok()?.text.as_ref().ok()?;
    match input::parse(text, assistant) {
        Ok(Input::Command(command)) if command.acts_at_once() => Some(command),
        Ok(_) | Err(_) => None,
    }
}

/// How many bytes of the queue a line takes, at most the whole queue.
fn length(line: &io::Result<Line>) -> u32 {
    let text = line.as_ref().ok().and_then(|line| line.text.as_ref().ok());
    let bytes = text.map_or(0, String::len).min(BYTES_AHEAD);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

async fn carry_out(
    session: &mut Session,
    mut queued: mpsc::Receiver<Queued>,
    pace: Pace,
) -> Result<VisitEnd, PlayError> {
    // What happened before this visit is printed first.
    session.all_shown().await;
    let phase = session.phase();
    loop {
        let next = select! {
            biased;
            () = session.ending() => return Ok(VisitEnd::Signal(Exit::Failure)),
            next = queued.recv() => next,
        };
        let Some(Queued { line, .. }) = next else {
            break;
        };
        phase.send_replace(Phase::CarryingOut);
        let Line { number, text } = line.map_err(PlayError::Input)?;
        if session.line(number, text).await == Flow::Quit {
            return Ok(VisitEnd::Quit);
        }
        if pace == Pace::InTurn && !session.is_leaving() {
            phase.send_replace(Phase::Waiting);
            // The next line is carried out even if the assistant is at rest because it is stopped or switched off.
            session.settle_or_leave().await;
        }
        if queued.is_empty() {
            phase.send_replace(Phase::Idle);
        }
    }
    if session.is_leaving() {
        session.hand_over().await;
        return Ok(VisitEnd::Quit);
    }
    let ending = session.ending();
    select! {
        biased;
        () = ending => Ok(VisitEnd::Signal(Exit::Failure)),
        rest = session.settle() => Ok(VisitEnd::Rest(rest)),
    }
}

/// Reads standard input, or the only line, in a thread of its own, which ends with the process: nothing can interrupt a blocking read.
pub(super) fn read_input(
    line: Option<String>,
) -> Result<mpsc::Receiver<io::Result<Line>>, PlayError> {
    let mut lines = Lines::new(source(line));
    let (sender, receiver) = mpsc::channel(1);
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            while let Some(line) = lines.next_line().transpose() {
                let failed = line.is_err();
                if sender.blocking_send(line).is_err() || failed {
                    return;
                }
            }
        })
        .map_err(PlayError::System)?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use tokio::task::unconstrained;

    use super::*;

    /// How many lines of this length are read ahead while none is carried out.
    async fn read_ahead_of(length: usize) -> usize {
        let (queue, mut queued) = Queue::new(watch::Sender::new(Phase::Idle));
        let flood = async {
            for number in 1..=20_000 {
                let text = Ok("x".repeat(length));
                if queue.put(Ok(Line { number, text })).await.is_err() {
                    return;
                }
            }
        };
        // The call waits only when the queue is full.
        select! {
            biased;
            () = unconstrained(flood) => {}
            () = std::future::ready(()) => {}
        }
        let mut count = 0;
        while queued.try_recv().is_ok() {
            count += 1;
        }
        count
    }

    #[tokio::test]
    async fn a_flood_is_read_ahead_within_a_number_of_lines_and_of_bytes() {
        assert_eq!(read_ahead_of(10).await, LINES_AHEAD);
        assert_eq!(read_ahead_of(65_536).await, BYTES_AHEAD / 65_536);
    }
}
