//! Commands to the program. They need nothing from the player's session, so they work while a line is carried out.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use clap::error::ErrorKind;
use dormouse_contracts::{AssistantId, ReadEvents, Seq};
use dormouse_engine::{ClearError, Handle, RetryError, catch_up};
use dormouse_host::{Awake, FolderWorld, Host};
use dormouse_memory::{Derivation, Memory, Record};
use dormouse_providers::GuardedModel;
use dormouse_store::RedbLog;

use tokio::task::spawn_blocking;

use super::visited::Visited;
use crate::{
    args::CommandLine,
    command::{Caller, CallerOutput, Places, carry_out_for},
    describe,
    exit::{Report, in_short},
    grammar::{attributed, counted},
    input::{self, Command},
    item::Item,
    screen::Screen,
};

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It continues.
    Go,
    /// The player asked to leave.
    Quit,
}

/// How many records are read at a time.
const PAGE: usize = 1_000;
/// How many memories are shown: the newest ones.
const MEMORIES: usize = 100;

/// Carries out commands for one player.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    host: Host<FolderWorld>,
    places: Places,
    log: RedbLog,
    memory: Memory,
    handle: Handle,
    models: Vec<GuardedModel>,
    screen: Screen,
    key: AssistantId,
    /// The assistant's name.
    assistant: String,
    /// The player's name, recorded as the person who stops, clears or retries.
    player: String,
}

impl Operator {
    pub(super) fn new(visited: &Visited, screen: &Screen) -> Self {
        Self {
            host: visited.host.clone(),
            places: visited.places.clone(),
            log: visited.log.clone(),
            memory: visited.memory.clone(),
            handle: visited.handle.clone(),
            models: visited.models.clone(),
            screen: screen.clone(),
            key: visited.key.clone(),
            assistant: visited.resident.name.clone(),
            player: visited.player.name.clone(),
        }
    }

    /// The assistant's name.
    pub(super) fn assistant(&self) -> &str {
        &self.assistant
    }

    /// Carries out a command, and prints the result.
    pub(super) async fn carry_out(&self, command: Command) -> Flow {
        let lines = match command {
            Command::Quit => return Flow::Quit,
            Command::Help => vec![input::HELP.to_owned()],
            Command::Status => vec![self.status().await],
            Command::Memories => self.memories().await,
            Command::Log(count) => self.last_events(count).await,
            Command::Stop(reason) => vec![self.stop(reason).await],
            Command::Clear => vec![self.clear().await],
            Command::Retry => vec![self.retry().await],
            Command::Program(arguments) => self.program(arguments).await,
        };
        for text in lines {
            self.screen.show(Item::Notice { text }).await;
        }
        Flow::Go
    }

    async fn status(&self) -> String {
        // The memory reads the log when a turn begins, so it may lack the last turn. If it cannot be written, the
        // number is that of its present content.
        drop(catch_up(&self.log, &self.key, &self.memory).await);
        let stats = self.memory.stats().await.ok();
        describe::status(&self.handle.status(), stats.map(|stats| stats.in_use))
    }

    async fn stop(&self, reason: String) -> String {
        match self.handle.stop(self.player.clone(), reason).await {
            Ok(()) => {
                "The emergency stop is on. Messages are kept and answered after /clear.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    async fn clear(&self) -> String {
        match self.handle.clear_stop(self.player.clone()).await {
            Ok(()) => {
                "The emergency stop is cleared; messages that waited are answered now.".to_owned()
            }
            Err(ClearError::NotActive) => {
                "There is nothing to clear: the emergency stop is not on.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    /// Ends the pauses of the model, both in its guards and in the assistant.
    async fn retry(&self) -> String {
        for model in &self.models {
            model.guard().configuration_changed();
        }
        match self.handle.retry(self.player.clone()).await {
            Ok(()) => "The model is called again now.".to_owned(),
            Err(RetryError::NotWaiting) => {
                "There is no pause to end: the model can be called already.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    /// Carries out a command of the program for the player, with the files that are open here, and returns its output.
    async fn program(&self, arguments: Vec<String>) -> Vec<String> {
        let printed = Arc::new(Printed::default());
        let caller = Caller {
            host: self.host.in_any_world(),
            world: Some(self.host.world().clone()),
            user: Some(self.player.clone()),
            folder: std::env::current_dir().unwrap_or_default(),
            out: Arc::clone(&printed) as Arc<dyn CallerOutput>,
            about: Some(self.key.clone()),
            visited: Some((
                self.key.clone(),
                Awake::new(self.handle.clone(), self.memory.clone()),
            )),
        };
        let whose = ["--assistant".to_owned(), self.key.to_string()];
        let line = [&["dormouse".to_owned()][..], &arguments].concat();
        let of_this_one = [&*line, &whose].concat();
        let command = match CommandLine::read(of_this_one) {
            // The command has no such flag; then it is about the visited one anyway.
            Err(error) if error.kind() == ErrorKind::UnknownArgument => CommandLine::read(line),
            read => read,
        };
        let command = match command {
            Ok(CommandLine { command, .. }) => command,
            Err(error) => return lines(&in_short(&error.to_string())),
        };
        let places = self.places.clone();
        // Commands block, so they run on a blocking thread.
        let carried_out = move || carry_out_for(caller, || crate::carry_out(&places, command));
        let failed = match spawn_blocking(carried_out).await {
            Ok(carried_out) => carried_out.err().and_then(|failure| failure.report),
            Err(error) => Some(error.to_string()),
        };
        let mut text = printed.text();
        text.extend(failed);
        lines(&text)
    }

    /// The memories that were stored on purpose, newest last.
    async fn memories(&self) -> Vec<String> {
        if let Err(error) = catch_up(&self.log, &self.key, &self.memory).await {
            return vec![Report(&error).to_string()];
        }
        let mut stored = VecDeque::new();
        let mut in_use = 0;
        let mut after = None;
        loop {
            let page = match self.memory.records(after, PAGE).await {
                Ok(page) => page,
                Err(error) => return vec![Report(&error).to_string()],
            };
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            in_use += page.iter().filter(|record| record.is_in_use()).count();
            stored.extend(page.iter().filter(|it| is_stored(it)).map(to_text));
            let surplus = stored.len().saturating_sub(MEMORIES);
            stored.drain(..surplus);
        }
        match (stored.is_empty(), in_use) {
            (true, 0) => vec!["It remembers nothing yet.".to_owned()],
            (true, in_use) => {
                let heard = counted(in_use as u64, "line", "lines");
                vec![format!(
                    "Nobody has asked it to remember anything yet. It remembers {heard} that it heard or said; \
                     `dormouse memory list` prints them."
                )]
            }
            (false, _) => stored.into(),
        }
    }

    async fn last_events(&self, count: usize) -> Vec<String> {
        let after = Seq(self.handle.status().seq.0.saturating_sub(count as u64));
        match self.log.read(&self.key, after, count).await {
            Ok(events) if events.is_empty() => vec!["The log is empty.".to_owned()],
            Ok(events) => events.iter().map(describe::event).collect(),
            Err(error) => vec![Report(&error).to_string()],
        }
    }
}

/// The output of a command, standard output and standard error in their order.
#[derive(Debug, Default)]
struct Printed(Mutex<Vec<u8>>);

impl Printed {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl CallerOutput for Printed {
    fn out(&self, bytes: &[u8]) -> io::Result<()> {
        let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        printed.extend_from_slice(bytes);
        Ok(())
    }

    fn err(&self, text: &str) -> io::Result<()> {
        self.out(text.as_bytes())
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn is_stored(record: &Record) -> bool {
    record.provenance.derivation == Derivation::Stored && record.is_in_use()
}

fn to_text(record: &Record) -> String {
    let Record {
        at, text, trust, ..
    } = record;
    let from = attributed(&record.speaker);
    format!("{at}  {text} (from {from}, trust {trust})")
}
