use std::cell::Cell;

use clap::Parser;
use dormouse_contracts::{Append, AppendRequest, AssistantId, ReadEvents, Seq};
use dormouse_engine::{Event, RetryRequested};
use dormouse_host::{OpenLog, SystemClock};
use dormouse_store::RedbLog;

use super::{block_on, state_of};
use crate::{args::CommandLine, carry_out, exit::Exit};

thread_local! {
    /// How many events the assistant writes immediately after the next command has read its state.
    static MOVES: Cell<u32> = const { Cell::new(0) };
}

/// Writes events of the assistant after a command has read the state and before the command appends its own.
pub(super) fn meanwhile(log: &OpenLog, key: &AssistantId) {
    for _ in 0..MOVES.take() {
        let event = Event::RetryRequested(RetryRequested {
            requested_by: "meanwhile".to_owned(),
        });
        let state = block_on(state_of(log, key)).unwrap().unwrap();
        let request = AppendRequest {
            assistant: key.clone(),
            expected: state.seq,
            events: vec![
                event
                    .encode(dormouse_contracts::Clock::now(&SystemClock))
                    .unwrap(),
            ],
        };
        block_on(log.append(request)).unwrap().unwrap();
    }
}

#[test]
fn each_command_decides_again_if_the_assistant_writes_between_look_and_append() {
    let folder = tempfile::tempdir().unwrap();
    let carried_out = |line: &[&str]| {
        let line = ["dormouse", "--data", folder.path().to_str().unwrap()]
            .into_iter()
            .chain(line.iter().copied());
        let CommandLine { places, command } = CommandLine::try_parse_from(line).unwrap();
        let done = carry_out(&places, command);
        done.map_err(|failure| failure.report)
    };
    assert_eq!(
        carried_out(&["assistant", "create", "tom"]),
        Ok(Exit::Success)
    );
    let commands: &[&[&str]] = &[
        &["goal", "add", "sweep the house"],
        &["goal", "set", "1", "--priority", "9"],
        &["goal", "done", "1"],
        &["note", "add", "fact", "the boat is dry"],
        &["note", "drop", "1"],
        &["project", "create", "paint the boat"],
        &["journal", "add", "it rained"],
        &["journal", "reflect"],
        &["config", "set", "limits.tick_rate", "7", "--by", "Ada"],
        &["config", "unset", "limits.tick_rate", "--by", "Ada"],
        &["emergency", "stop", "--by", "Ada"],
        &["emergency", "clear", "--by", "Ada"],
        &["history", "reset", "--by", "Ada"],
    ];
    for (command, moves) in commands.iter().zip([1, 2].into_iter().cycle()) {
        MOVES.set(moves);
        assert_eq!(carried_out(command), Ok(Exit::Success), "{command:?}");
        assert_eq!(MOVES.get(), 0, "{command:?} looks at the state");
    }

    let log = RedbLog::open_existing(&folder.path().join("log.redb")).unwrap();
    let key = AssistantId::try_new("tom").unwrap();
    let events = block_on(log.read(&key, Seq::ZERO, 1_000)).unwrap().unwrap();
    let is_own = |kind: &&str| *kind != "retry_requested";
    let kinds = events.iter().map(|event| event.kind.as_str());
    let kinds: Vec<_> = kinds.filter(is_own).collect();
    assert_eq!(kinds.len(), 1 + commands.len(), "one each: {kinds:?}");
}
