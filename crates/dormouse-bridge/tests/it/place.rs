//! A game of one room, and a place for its file.

use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use dormouse_bridge::{Bridge, BridgeFile, Game, Performed, Report, say_tool};
use dormouse_contracts::{
    AssistantId, Effect, EffectInquiry, EffectKey, EntityId, Query, Rejection, Sender, SourceKind,
    Timestamp, ToolName, ToolSpec, Words, WorldError, WorldErrorKind,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) fn id(name: &str) -> EntityId {
    EntityId::try_new(name).unwrap()
}

pub(crate) fn dormouse() -> EntityId {
    id("assistant:dormouse")
}

pub(crate) fn alice() -> EntityId {
    id("player:alice")
}

pub(crate) fn key(text: &str) -> EffectKey {
    EffectKey::try_new(text).unwrap()
}

pub(crate) fn say(effect_key: &str, words: &str) -> Effect {
    Effect {
        key: key(effect_key),
        actor: AssistantId::try_new("dormouse").unwrap(),
        tool: ToolName::try_new("say").unwrap(),
        arguments: json!({ "message": words }).as_object().unwrap().clone(),
        reply_to: None,
        within: None,
    }
}

pub(crate) fn page(words: &str) -> Report {
    let sender = Sender::Entity {
        id: alice(),
        name: "Alice".to_owned(),
    };
    let words = Words::try_new(words).unwrap();
    Report::new(SourceKind::Page, sender, Timestamp::EPOCH, words)
}

/// How the game answers its next act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    Normally,
    /// It does it, and its answer is lost.
    Lost,
    /// It could not be asked.
    NotReached,
}

/// A room in which Alice is. It counts what was said, in memory only.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) said: AtomicUsize,
    pub(crate) answer: Answer,
    /// What it says of an act that was cut off.
    pub(crate) of_open: EffectInquiry,
    /// A file in which it writes each act that it carries out, without a receipt.
    pub(crate) book: Option<PathBuf>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            said: AtomicUsize::new(0),
            answer: Answer::Normally,
            of_open: EffectInquiry::CannotTell,
            book: None,
        }
    }
}

impl Game for Room {
    async fn perform(&self, actor: &EntityId, effect: &Effect) -> Result<Performed, WorldError> {
        if self.answer == Answer::NotReached {
            return Err(WorldError::new(WorldErrorKind::NotReached, None));
        }
        // Others get their turn, so that two calls of one key would both come here.
        tokio::task::yield_now().await;
        let said = effect.arguments.get("message").and_then(Value::as_str);
        let Ok(words) = Words::try_new(said.unwrap_or_default()) else {
            return Ok(Performed::refused("there is nothing to say"));
        };
        let sender = Sender::Assistant {
            id: actor.clone(),
            name: "Dormouse".to_owned(),
        };
        let report = Report::new(SourceKind::Say, sender, Timestamp::EPOCH, words);
        let performed = Performed::said(effect, &report, [alice()]);
        if performed.reports.is_empty() {
            return Ok(performed);
        }
        self.said.fetch_add(1, SeqCst);
        if let Some(book) = &self.book {
            write_down(book, effect.key.as_str());
        }
        match self.answer {
            Answer::Lost => Err(WorldError::new(WorldErrorKind::Unanswered, None)),
            Answer::Normally | Answer::NotReached => Ok(performed),
        }
    }

    async fn became_of(&self, _: &EffectKey) -> Result<EffectInquiry, WorldError> {
        Ok(self.of_open.clone())
    }

    async fn observe(&self, _: &Query) -> Result<Result<Value, Rejection>, WorldError> {
        Ok(Ok(json!({ "said": self.said.load(SeqCst) })))
    }
}

fn write_down(book: &Path, key: &str) {
    let mut book = OpenOptions::new()
        .create(true)
        .append(true)
        .open(book)
        .unwrap();
    // In one call, so that no line is cut by a kill.
    book.write_all(format!("{key}\n").as_bytes()).unwrap();
}

/// A place for the file of a bridge, which goes when this goes.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("game.redb")
    }

    /// The room, with the assistant and Alice in it.
    pub(crate) async fn open(&self, room: Room) -> Bridge<Room> {
        open(&self.path(), room).await
    }
}

fn look_tool() -> ToolSpec {
    let name = ToolName::try_new("look").unwrap();
    ToolSpec::query(name, "Look around.", json!({ "type": "object" }))
}

pub(crate) async fn open(path: &Path, room: Room) -> Bridge<Room> {
    let file = BridgeFile::open(path, "room").unwrap();
    let bridge = Bridge::new(room, vec![say_tool().unwrap(), look_tool()], &file);
    for observer in [dormouse(), alice()] {
        bridge.queue().enter(&observer).await.unwrap();
    }
    bridge
}
