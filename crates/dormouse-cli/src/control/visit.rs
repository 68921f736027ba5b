//! A visitor who is connected to the running program.

use std::{
    io::{self, BufReader},
    os::unix::net::UnixStream,
    sync::{Arc, Mutex},
    thread,
};

use dormouse_host::{FolderWorld, Host};
use tokio::sync::{mpsc, watch};

use super::{
    server::{Hall, Output},
    wire::{self, FromServer, FromVisitor, TerminalStyle},
};
use crate::{
    args::Play,
    command::{CallerOutput, Places},
    exit::{Exit, Report},
    input::lines::Line,
    plain::Style,
    play::{Guest, attend_guest},
    screen::Surface,
};

/// The screen of a visitor.
struct SocketSurface(Arc<Output>);

impl Surface for SocketSurface {
    fn put(&mut self, text: String) -> io::Result<()> {
        self.0.out(text.as_bytes())
    }
}

/// Runs a visit, until the input, the connection or the program ends.
pub(super) fn attend(
    (hall, host): (&Arc<Hall>, &Host<FolderWorld>),
    play: Play,
    style: Option<TerminalStyle>,
    source: BufReader<UnixStream>,
    output: &Arc<Output>,
) -> Exit {
    // If this cannot be written, the visitor is gone, so it does not matter.
    let complain = |text: String| drop(output.err(&format!("dormouse: {text}\n")));
    let Some(_entered) = hall.enter(&play.player) else {
        complain(format!(
            "somebody visits as {} already; choose another name with --as NAME",
            play.player
        ));
        return Exit::Usage;
    };
    let (gone, is_gone) = watch::channel(false);
    let (sender, lines) = mpsc::channel(1);
    let reader = Arc::clone(output);
    let reading = thread::Builder::new()
        .name("visitor".to_owned())
        .spawn(move || read_lines(source, sender, &gone, &reader));
    if let Err(error) = reading {
        complain(format!("no thread for the visit could be started: {error}"));
        return Exit::Failure;
    }
    let done = Arc::clone(output);
    let guest = Guest {
        play,
        terminal: style.map(|style| match style {
            TerminalStyle::Indented => Style::Indented,
            TerminalStyle::Coloured => Style::Coloured,
        }),
        lines,
        surface: Arc::new(Mutex::new(SocketSurface(Arc::clone(output)))),
        // The task that prints notices that the visitor is gone.
        on_done: Box::new(move |line, prompt| drop(done.send(&FromServer::Done { line, prompt }))),
        gone: is_gone,
        ending: hall.ending.subscribe(),
        places: Places {
            data: Some(hall.host.folder().path().to_owned()),
            config: hall.config.clone(),
        },
    };
    let visit = attend_guest(host, &hall.chosen, guest);
    match hall.runtime.block_on(Box::pin(visit)) {
        Ok(exit) => exit,
        Err(error) => {
            complain(Report(&error).to_string());
            error.exit()
        }
    }
}

/// Reads lines of input until they end. If the connection ends before that, or an invalid message arrives, the visitor
/// counts as gone.
fn read_lines(
    mut source: BufReader<UnixStream>,
    lines: mpsc::Sender<io::Result<Line>>,
    gone: &watch::Sender<bool>,
    output: &Output,
) {
    loop {
        let line = match wire::read(&mut source) {
            Ok(Some(FromVisitor::Line { number, text })) => Line {
                number,
                text: Ok(text),
            },
            Ok(Some(FromVisitor::Unusable { number, why })) => Line {
                number,
                text: Err(why),
            },
            Ok(Some(FromVisitor::End)) => break,
            Ok(None) => {
                gone.send_replace(true);
                return;
            }
            Err(error) => {
                // If the connection failed, nobody reads this.
                drop(output.err(&format!("dormouse: {}\n", Report(&error))));
                gone.send_replace(true);
                return;
            }
        };
        if lines.blocking_send(Ok(line)).is_err() {
            return;
        }
    }
    drop(lines);
    // A visitor may also disconnect while the last answers are awaited.
    drop(wire::read::<FromVisitor>(&mut source));
    gone.send_replace(true);
}
