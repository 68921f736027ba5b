//! Input that is not a terminal: one line is one act, and the end of input waits for pending answers.

use std::{
    io::{self, BufReader},
    thread,
};

use tokio::sync::mpsc;

use super::{
    Ending, PlayError,
    session::{Flow, Session},
};
use crate::input::lines::{Line, Lines};

/// How many lines are read ahead of the one that is being carried out.
const AHEAD: usize = 16;

/// When the next line is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As soon as the one before is carried out, for programs that keep track by themselves.
    AtOnce,
    /// Once the assistant is at rest, so that what is printed reads as it happened.
    InTurn,
}

/// Carries out every line, then waits until the assistant has come to rest.
pub(super) async fn drive(session: &mut Session, pace: Pace) -> Result<Ending, PlayError> {
    let mut lines = read(Lines::new(BufReader::new(io::stdin())))?;
    while let Some(line) = lines.recv().await {
        let Line { number, text } = line.map_err(PlayError::Input)?;
        match session.line(number, text).await {
            // However it comes to rest, stopped or switched off, the next line is carried out.
            Flow::Go if pace == Pace::InTurn => drop(session.settle().await),
            Flow::Go => {}
            Flow::Quit => return Ok(Ending::Quit),
        }
    }
    Ok(Ending::Rest(session.settle().await))
}

/// Reads in a thread of its own, which ends with the process: nothing can interrupt a blocking read.
fn read(
    mut lines: Lines<BufReader<io::Stdin>>,
) -> Result<mpsc::Receiver<io::Result<Line>>, PlayError> {
    let (sender, receiver) = mpsc::channel(AHEAD);
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
