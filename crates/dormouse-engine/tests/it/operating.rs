//! An operator changes the memory of an assistant that runs.

use std::sync::Arc;

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, Audience, Author, BoxFuture,
    ReadError, ReadEvents, Seq, StoredEvent,
};
use dormouse_engine::{
    ConsolidationEndCause, ConsolidationEnded, EmergencyStopCleared, Event, Handle, LoggedMemory,
};
use dormouse_memory::{MemoryChange, Note};
use dormouse_testing::{MemoryLog, Perceive, ScriptedTurn};
use serde_json::json;

use crate::home::{Home, in_virtual_time, key};

/// A log that the assistant writes for everybody.
struct Written {
    log: MemoryLog,
    handle: Handle,
}

impl Append for Written {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(self.handle.append(request))
    }
}

impl ReadEvents for Written {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

fn added(text: &str) -> MemoryChange {
    let notes = vec![Note::new(text).known_to(Audience::Public)];
    MemoryChange::Added { notes }
}

#[test]
fn a_change_is_decided_again_after_what_the_assistant_wrote_meanwhile_and_both_are_in_the_log() {
    in_virtual_time(async {
        let say = |words| ScriptedTurn::call("say", json!({ "message": words }));
        let home = Home::new([say("Hello."), say("Yes.")]);
        let life = home.wake_configured().await;
        let log = Written {
            log: home.log.clone(),
            handle: life.handle.clone(),
        };
        let opened = LoggedMemory::open(log, home.memory.clone(), Arc::clone(&home.clock) as _);
        let mut memory = opened.await.unwrap();
        life.accept(Perceive::addressed("Alice", "hi").build())
            .await;
        life.handle.at_rest().await;
        let by = || Author::Operator("Ada".to_owned());
        let (event, _) = memory
            .change(added("The pot is blue"), by(), "noted")
            .await
            .unwrap();
        let events = home.log.events(&key());
        let last = events.last().unwrap();
        assert_eq!(
            (Some(last.seq), last.kind.as_str()),
            (event, "memory_changed")
        );
        // The assistant writes after that.
        life.accept(
            Perceive::addressed("Alice", "is the pot blue?")
                .number(2)
                .build(),
        )
        .await;
        life.handle.at_rest().await;
        let found = home
            .memory
            .recall("Which colour is the pot?")
            .await
            .unwrap();
        let texts: Vec<_> = found
            .items
            .iter()
            .map(|item| item.record.text.as_str())
            .collect();
        assert!(texts.contains(&"The pot is blue"), "{texts:?}");
        assert_eq!(home.deeds(), ["say Hello.", "say Yes."]);
        life.end().await.unwrap();
    });
}

#[test]
fn an_operator_cannot_write_what_only_the_assistant_decides() {
    in_virtual_time(async {
        let home = Home::new([]);
        let life = home.wake_configured().await;
        let handle = life.handle.clone();
        let before = home.log.events(&key());
        let append = async |event: Event, expected: u64| {
            let request = AppendRequest {
                assistant: key(),
                expected: Seq(expected),
                events: vec![event.encode(before[0].at).unwrap()],
            };
            handle.append(request).await.unwrap_err().kind()
        };
        let cleared = || {
            Event::EmergencyStopCleared(EmergencyStopCleared {
                cleared_by: "Ada".to_owned(),
            })
        };
        let last = before.last().unwrap().seq.0;
        let conflict = AppendErrorKind::Conflict {
            expected: Seq(last + 1),
            actual: Seq(last),
        };
        assert_eq!(append(cleared(), last + 1).await, conflict);
        assert_eq!(append(cleared(), last).await, AppendErrorKind::Unacceptable);
        assert_eq!(home.log.events(&key()), before);
        // A consolidation that an operator begins is written by the command that runs it.
        let ended = Event::ConsolidationEnded(ConsolidationEnded {
            cause: ConsolidationEndCause::Done,
        });
        let request = AppendRequest {
            assistant: key(),
            expected: Seq(last),
            events: vec![ended.encode(before[0].at).unwrap()],
        };
        assert_eq!(handle.append(request).await.unwrap(), Seq(last + 1));
        life.end().await.unwrap();
        assert_eq!(append(cleared(), last).await, AppendErrorKind::Closed);
    });
}
