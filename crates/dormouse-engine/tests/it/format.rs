//! Every later version reads events of the first released format.

use dormouse_contracts::{
    Append, AppendRequest, NewEvent, ReadEvents, Seq, StoredEvent, Timestamp,
};
use dormouse_engine::{DecodeError, Event, State, restore};
use serde_json::Value;

use crate::home::{Home, key};

/// One event per line, as a life with every kind of event wrote them under schema 2.
const SCHEMA_2: &str = include_str!("../fixtures/events-2.jsonl");

fn stored(line: &str) -> StoredEvent {
    let fields: Value = serde_json::from_str(line).unwrap();
    StoredEvent {
        seq: Seq(fields["seq"].as_u64().unwrap()),
        at: Timestamp::from_micros(fields["at"].as_i64().unwrap()),
        kind: fields["kind"].as_str().unwrap().to_owned(),
        schema: u16::try_from(fields["schema"].as_u64().unwrap()).unwrap(),
        payload: fields["payload"].to_string().into_bytes(),
    }
}

#[test]
fn every_kind_of_event_of_schema_2_is_read_and_written_the_same() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut state = State::default();
    for line in SCHEMA_2.lines() {
        let stored = stored(line);
        let event = Event::decode(&stored).unwrap();
        let again: Value =
            serde_json::from_slice(&event.encode(stored.at).unwrap().payload).unwrap();
        assert_eq!(
            again,
            serde_json::from_slice::<Value>(&stored.payload).unwrap()
        );
        kinds.insert(stored.kind.clone());
        state.apply(stored.seq, stored.at, &event);
    }
    assert_eq!(kinds.len(), 24, "every kind is there: {kinds:?}");
    let changed: Vec<_> = state.changed_settings.iter().collect();
    assert_eq!(changed.len(), 1, "what was taken back is not changed");
    let (name, changed) = changed[0];
    assert_eq!(name, "limits.tick_rate");
    assert_eq!(changed.value, 9);
    // The value from the configuration, and not that of the previous change.
    assert_eq!(changed.before, Some(Value::from(5)));
    assert_eq!(state.counts.remembered, 2);
    assert_eq!(
        (state.seq, state.stop.is_on()),
        (Seq(SCHEMA_2.lines().count() as u64), false)
    );
}

#[test]
fn what_a_life_is_lived_under_is_read_from_its_configured_and_woke_events() {
    let mut state = State::default();
    let mut awake_since = Vec::new();
    let mut counts_history = Vec::new();
    for stored in SCHEMA_2.lines().map(stored) {
        let event = Event::decode(&stored).unwrap();
        state.apply(stored.seq, stored.at, &event);
        if let Event::Configured(_) | Event::Woke(_) = event {
            awake_since.push(state.configuration.awake_since);
            counts_history.push(state.configuration.settings.sender_history);
        }
    }
    let woke = Some(Timestamp::from_micros(1_795_219_210_000_000));
    assert_eq!(awake_since, [woke; 3]);
    // A log from before the setting existed was decided as if the setting were off.
    assert_eq!(counts_history, [false, true, true]);
    let configuration = state.configuration;
    assert_eq!(configuration.persona, "You are kind.");
    assert_eq!(configuration.settings.name.as_deref(), Some("Dormouse"));
    let tools: Vec<_> = configuration
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(
        tools,
        ["whisper", "say"],
        "in the new order, with the specifications of before"
    );
}

/// The events that came with the memory, each with all optional fields and with none.
const WITH_MEMORY: [(&str, &str); 19] = [
    (
        "consulted",
        r#"{"about":{"purpose":"extraction","records":["2","3.1"]},"model":"tiny","reply":{"content":"[]","tool_calls":[],"finish":"stop","usage":null},"tokens":1,"prompt_tokens":9,"prompt_hash":"0123456789abcdef","duration_ms":1.5}"#,
    ),
    (
        "consulted",
        r#"{"about":{"purpose":"judgement","extraction":7},"model":"tiny","reply":{"content":"[]","tool_calls":[],"finish":"stop","usage":null},"tokens":1,"prompt_tokens":9,"prompt_hash":"0123456789abcdef","duration_ms":1.5}"#,
    ),
    (
        "consulted",
        r#"{"about":{"purpose":"entity_consolidation","entity":"player:1","observations":[1,2]},"model":"tiny","reply":{"content":"{}","tool_calls":[],"finish":"stop","usage":null},"tokens":1,"prompt_tokens":9,"prompt_hash":"0123456789abcdef","duration_ms":1.5}"#,
    ),
    (
        "memory_changed",
        r#"{"change":{"change":"extracted","facts":[{"note":{"text":"Alice likes tea","kind":"fact","collection":"memories","at":7,"speaker":"unknown","trust":0.5,"tags":["alice"],"provenance":{"derivation":"extracted","derived_from":["2"]}},"decision":{"link":{"to":"3.1","kind":"related","weight":0.5}},"reason":"it matters"}],"records":["2"]},"author":{"operator":"florian"},"reason":"consolidated"}"#,
    ),
    (
        "memory_changed",
        r#"{"change":{"change":"extracted","facts":[{"note":{"text":"tea","kind":"fact","collection":"memories","speaker":"unknown","trust":0.5,"provenance":{"derivation":"consolidated"}},"decision":{"ignore":{"like":null}}},{"note":{"text":"tea","kind":"fact","collection":"memories","speaker":"unknown","trust":0.5,"provenance":{"derivation":"consolidated"}},"decision":{"supersede":{"old":"2"}}},{"note":{"text":"tea","kind":"fact","collection":"memories","speaker":"unknown","trust":0.5,"provenance":{"derivation":"consolidated"}},"decision":"add"}],"records":[]},"author":{"sleep":3},"reason":"consolidated"}"#,
    ),
    (
        "recollected",
        r#"{"items":[{"text":"tea","at":7,"from":{"entity":{"id":"player:1","name":"Alice"}},"trust":0.5,"record":"3.1","kind":"preference","tokens":4}],"entities":{"text":"[ACTIVE ENTITIES]","tokens":2,"trust":1.0},"orders":{"text":"[STANDING ORDERS]","tokens":2,"trust":0.75},"mode":{"words_because":"encoder"}}"#,
    ),
    (
        "recollected",
        r#"{"items":[{"text":"tea","at":7,"from":"unknown","heard":"say","place":"The Tavern","trust":0.5,"record":"3","kind":"event","tokens":4}],"mode":"words"}"#,
    ),
    (
        "entity_changed",
        r#"{"change":{"change":"judged","entity":"player:1","step":0.5,"reason":"kind","trust":0.5},"author":{"tool":"call_1_0"},"reason":"update_relationship"}"#,
    ),
    (
        "entity_changed",
        r#"{"change":{"change":"action_added","entity":"player:1","description":"tea","priority":1,"trust":0.5},"author":{"tool":"call_1_0"},"reason":"add_pending_action"}"#,
    ),
    (
        "memory_changed",
        r#"{"change":{"change":"added","notes":[{"text":"tea","kind":"event","collection":"memories","speaker":"unknown","heard_as":"say","place":{"id":"kitchen","name":"The Kitchen"},"trust":0.5,"provenance":{"derivation":"heard"}}]},"author":{"import":"florian"},"reason":"imported"}"#,
    ),
    ("recollected", r#"{"mode":"words","failure":"timed_out"}"#),
    (
        "entity_changed",
        r#"{"change":{"change":"action_completed","entity":"player:1","action":2},"author":{"tool":"call_1_0"},"reason":"complete_pending_action"}"#,
    ),
    (
        "memory_changed",
        r#"{"change":{"change":"superseded","record":"2","by":"3.1","until":7},"author":{"operator":"florian"},"reason":"superseded at the command line"}"#,
    ),
    (
        "memory_changed",
        r#"{"change":{"change":"added","notes":[{"text":"tea","kind":"fact","collection":"memories","at":7,"speaker":{"named":"Alice"},"thread":"tea house","trust":0.5,"tags":["drinks"],"provenance":{"derivation":"imported","source_key":"chat:1"},"valid_from":7,"valid_until":8}]},"author":{"import":"florian"},"reason":"imported"}"#,
    ),
    (
        "memory_changed",
        r#"{"change":{"change":"undone","event":2},"author":{"sleep":3},"reason":"says the same"}"#,
    ),
    (
        "remembered",
        r#"{"text":"tea","from":{"named":"Alice"},"trust":0.5,"origin":"2","kind":"instruction","about":{"named":"Alice"}}"#,
    ),
    (
        "remembered",
        r#"{"text":"tea","from":"several","trust":0.5,"origin":"2"}"#,
    ),
    (
        "tool_answered",
        r#"{"call":"call_1_0","tool":"recall_memories","category":"safe_chain","verdict":"success","content":"{}","tokens":1,"trust":0.5}"#,
    ),
    (
        "effect_intended",
        r#"{"key":"dormouse/1/2","call":"call_1_0","tool":"say","category":"terminal","arguments":{"message":"hi"},"trust":0.5}"#,
    ),
];

#[test]
fn every_event_that_came_with_the_memory_is_read_and_written_the_same() {
    WITH_MEMORY
        .iter()
        .for_each(|(kind, payload)| is_written_the_same(kind, payload));
}

pub(crate) fn is_written_the_same(kind: &str, payload: &str) {
    let stored = StoredEvent {
        seq: Seq(1),
        at: Timestamp::EPOCH,
        kind: kind.to_owned(),
        schema: 2,
        payload: payload.as_bytes().to_vec(),
    };
    let event = Event::decode(&stored).unwrap();
    let again = event.encode(stored.at).unwrap().payload;
    assert_eq!(
        serde_json::from_slice::<Value>(&again).unwrap(),
        serde_json::from_str::<Value>(payload).unwrap()
    );
}

/// The kinds of events of which this file has a payload.
pub(crate) fn checked_kinds() -> impl Iterator<Item = String> {
    let later = WITH_MEMORY.iter().chain(&OF_GOALS).chain(&OF_ITS_OWN);
    let later = later.map(|(kind, _)| (*kind).to_owned());
    SCHEMA_2.lines().map(|line| stored(line).kind).chain(later)
}

/// The events of goals, each with all optional fields and with none.
const OF_GOALS: [(&str, &str); 8] = [
    (
        "goal_created",
        r#"{"id":2,"description":{"text":"sweep","trust":0.9,"audience":{"entities":["player:1"]},"sources":["7"]},"priority":5,"parent_id":1,"moment":{"repeating":{"first":7,"every":"daily 20:00"}},"author":{"tool":"call_1_0"}}"#,
    ),
    (
        "goal_created",
        r#"{"id":1,"description":{"text":"sweep","trust":1.0,"audience":"public"},"priority":1,"moment":"never","author":{"operator":"florian"}}"#,
    ),
    (
        "goal_updated",
        r#"{"id":1,"status":{"waiting":{"until":9}},"priority":2,"parent_id":0,"moment":{"at":8},"note":{"text":"soon","trust":0.5,"audience":"public"},"author":{"operator":"florian"}}"#,
    ),
    (
        "goal_updated",
        r#"{"id":1,"status":{"blocked":"reported"},"author":{"operator":"florian"}}"#,
    ),
    (
        "goal_completed",
        r#"{"id":1,"outcome":{"text":"clean","trust":0.5,"audience":"public"},"author":{"tool":"call_1_0"}}"#,
    ),
    ("goal_completed", r#"{"id":1,"author":{"tool":"call_1_0"}}"#),
    (
        "goal_pursued",
        r#"{"id":1,"pursuit":"progress","next_at":9}"#,
    ),
    (
        "goal_pursued",
        r#"{"id":1,"pursuit":"nothing","blocked":{"no_progress":3}}"#,
    ),
];

#[test]
fn the_events_of_goals_are_read_and_written_the_same() {
    OF_GOALS
        .iter()
        .for_each(|(kind, payload)| is_written_the_same(kind, payload));
}

/// The events of notes that the assistant keeps for itself, each with all optional fields and with none.
const OF_ITS_OWN: [(&str, &str); 14] = [
    (
        "project_created",
        r#"{"id":2,"summary":{"text":"the boat","trust":0.9,"audience":{"entities":["player:1"]},"sources":["7"]},"context":{"text":"no mast yet","trust":0.9,"audience":"public"},"status":"paused","author":{"tool":"call_1_0"}}"#,
    ),
    (
        "project_created",
        r#"{"id":1,"summary":{"text":"the boat","trust":1.0,"audience":"public"},"status":"active","author":{"operator":"florian"}}"#,
    ),
    (
        "project_updated",
        r#"{"id":1,"summary":{"text":"the ship","trust":0.5,"audience":"public"},"context":{"text":"it floats","trust":0.5,"audience":"public"},"status":"completed","author":{"tool":"call_1_0"}}"#,
    ),
    (
        "project_updated",
        r#"{"id":1,"status":"paused","author":{"operator":"florian"}}"#,
    ),
    (
        "project_swapped",
        r#"{"from":1,"to":2,"update":{"text":"it floats","trust":0.5,"audience":"public"},"reasoning":{"text":"it rains","trust":0.5,"audience":"public"},"author":{"tool":"call_1_0"}}"#,
    ),
    (
        "project_swapped",
        r#"{"to":2,"author":{"operator":"florian"}}"#,
    ),
    (
        "self_noted",
        r#"{"id":1,"kind":"guideline","note":{"text":"greet guests","trust":0.9,"audience":"public"},"author":{"tool":"call_1_0"}}"#,
    ),
    (
        "self_note_dropped",
        r#"{"id":1,"author":{"operator":"florian"}}"#,
    ),
    (
        "journal_changed",
        r#"{"changes":[{"change":"added","entry":{"id":2,"timestamp":9,"content":"it rained","source_type":"direct","source_trust":0.5,"source_entity":{"entity":{"id":"player:1","name":"Alice"}},"importance":7,"importance_method":"heuristic","tags":["weather"],"related_projects":["boat"],"provenance":{"audience":{"entities":["player:1"]},"sources":["7"]}},"points":7},{"change":"linked","entry":2,"to":1},{"change":"pruned","entries":[1],"reason":"overflow"}],"author":{"tool":"call_1_0"},"reason":"add_journal_entry","withdrawn":["4"]}"#,
    ),
    (
        "journal_changed",
        r#"{"changes":[{"change":"restored","entry":{"id":1,"timestamp":9,"content":"it rained","source_type":"environmental","source_trust":0.25,"source_entity":"unknown","importance":1,"importance_method":"llm","provenance":{"audience":"public","depth":1},"upkeep":{"consolidated":true,"near":3,"repeats":1,"unreadable_scores":2,"restored_at":8}}}],"author":{"operator":"florian"},"reason":"wanted"}"#,
    ),
    (
        "journal_changed",
        r#"{"changes":[{"change":"rescored","scores":[{"entry":1,"importance":3}],"unreadable":[2]},{"change":"unlinked","entry":2},{"change":"consolidated","entries":[1]},{"change":"reflection_begun","entries":[1],"through":2},{"change":"questions_raised","questions":["Who?"]},{"change":"evidence_found","evidence":[["7"]]},{"change":"reflection_failed"},{"change":"reflection_given_up"},{"change":"reflected","insights":[]}],"author":{"sleep":3},"reason":"night"}"#,
    ),
    (
        "reflection_requested",
        r#"{"author":{"operator":"florian"},"reason":"asked for"}"#,
    ),
    ("reflection_recorded", r#"{"trigger":4,"entries":[7]}"#),
    ("reflection_recorded", r#"{"trigger":4}"#),
];

#[test]
fn the_events_of_what_it_keeps_for_itself_are_read_and_written_the_same() {
    OF_ITS_OWN
        .iter()
        .for_each(|(kind, payload)| is_written_the_same(kind, payload));
}

#[test]
fn an_event_of_a_newer_program_is_refused_by_its_place_and_kind() {
    let mut newer = stored(SCHEMA_2.lines().next().unwrap());
    newer.schema = 3;
    assert!(matches!(
        Event::decode(&newer),
        Err(DecodeError::NewerSchema {
            seq: Seq(1),
            found: 3,
            ..
        })
    ));
    newer.kind = "dreamt".to_owned();
    newer.schema = 2;
    let error = Event::decode(&newer).unwrap_err().to_string();
    assert!(
        error.contains("event 1") && error.contains("\"dreamt\""),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_log_of_the_trial_format_is_refused_with_its_reason_and_is_not_changed() {
    let home = Home::new([]);
    let payload = SCHEMA_2.lines().next().unwrap();
    let event = NewEvent {
        at: Timestamp::EPOCH,
        kind: "perceived",
        schema: 1,
        payload: payload.as_bytes().to_vec(),
    };
    let request = AppendRequest {
        assistant: key(),
        expected: Seq(0),
        events: vec![event],
    };
    home.log.append(request).await.unwrap();
    let error = restore(&home.log, &key()).await.unwrap_err();
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        reason.contains("trial format") && reason.contains("empty folder"),
        "{reason}"
    );
    let events = home.log.read(&key(), Seq(0), 10).await.unwrap();
    assert_eq!(events.len(), 1);
}
