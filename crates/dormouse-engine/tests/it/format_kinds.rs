//! Every kind of event has a payload here or in [`format`](crate::format), in the form of a log.

use std::collections::BTreeSet;

use crate::format;

/// Events of ticks, budgets, approvals, compaction, outages and the emergency stop, each with all optional fields and
/// with none.
const OF_TICKS: [(&str, &str); 33] = [
    ("lines_dropped", r#"{"entity":"player:1","lines":180}"#),
    ("lines_dropped", r#"{"entity":null,"lines":1}"#),
    (
        "task_assessed",
        r#"{"assessment":{"complexity":3,"class":"query","mode":"react_loop","iterations":4,"confirm_dangerous":true,"signals":{"token_pressure":61,"recent_errors":2,"goal_urgency":true}},"asked":{"prompt_hash":"0123456789abcdef","prompt_tokens":40,"duration_ms":1.5,"outcome":{"replied":{"model":"tiny","complexity":3,"tokens":1,"usage":{"prompt_tokens":41,"completion_tokens":1}}}}}"#,
    ),
    (
        "task_assessed",
        r#"{"assessment":{"complexity":1,"class":"unknown","mode":null,"iterations":null,"confirm_dangerous":false,"signals":{"token_pressure":0,"recent_errors":0,"goal_urgency":false}},"asked":{"prompt_hash":"0123456789abcdef","prompt_tokens":40,"duration_ms":0.0,"outcome":{"failed":"unavailable"}}}"#,
    ),
    (
        "tools_offered",
        r#"{"trigger":3,"cause":"search","tools":["get_forecast","look"],"found":["get_forecast"],"left_out":298,"tokens":7900}"#,
    ),
    (
        "tools_offered",
        r#"{"trigger":3,"cause":"turn","tools":[],"left_out":300,"tokens":3500}"#,
    ),
    (
        "tick_ended",
        r#"{"reason":"dangerous_tool","resume_at":null,"tick":7,"duration_ms":1234.5,"action":"give"}"#,
    ),
    (
        "tick_ended",
        r#"{"reason":"parse_error","resume_at":9,"tick":8,"duration_ms":0.0}"#,
    ),
    (
        "tool_answered",
        r#"{"call":"call_1_0","tool":"look","category":"safe_chain","verdict":"failure","content":"{}","tokens":1,"is_unanswered":true}"#,
    ),
    (
        "tool_answered",
        r#"{"call":"call_1_0","tool":"look","category":"safe_chain","verdict":"success","content":"{}","tokens":1,"cached":7}"#,
    ),
    (
        "delayed",
        r#"{"trigger":3,"cause":"budget","calls":[{"id":"call_1_0","name":"say","arguments":"{}"}],"tokens":4}"#,
    ),
    (
        "delayed",
        r#"{"trigger":3,"cause":"slow","calls":[],"tokens":0}"#,
    ),
    (
        "world_failed",
        r#"{"call":"call_1_0","reason":"no route","silent":true}"#,
    ),
    ("world_failed", r#"{"call":"call_1_0","silent":false}"#),
    (
        "compacted",
        r#"{"mode":"emergency","before":900,"after":400,"window":1000,"masked":[3,5],"dropped":[{"from":1,"to":9,"turns":[1,4],"is_to_be_summarized":true}],"extraction":{"added":2}}"#,
    ),
    (
        "compacted",
        r#"{"mode":"planned","before":900,"after":400,"window":1000}"#,
    ),
    (
        "history_summarized",
        r#"{"span":{"from":1,"to":9,"turns":[1,4]},"model":"tiny","reply":{"content":"tea","tool_calls":[],"finish":"stop","usage":null},"tokens":1,"text":"tea","shown_tokens":2,"prompt_tokens":9,"prompt_hash":"0123456789abcdef","duration_ms":1.5,"trust":0.5,"audience":{"entities":["player:1"]},"sources":["1"]}"#,
    ),
    (
        "summary_failed",
        r#"{"from":1,"cause":{"model":"timed_out"},"retry_at":9}"#,
    ),
    (
        "summary_failed",
        r#"{"from":1,"cause":"empty","retry_at":9}"#,
    ),
    ("retry_requested", r#"{"requested_by":"florian"}"#),
    (
        "emergency_stop_triggered",
        r#"{"cause":{"operator":"florian"},"reason":"too loud"}"#,
    ),
    (
        "emergency_stop_triggered",
        r#"{"cause":{"failure_rate":"give"}}"#,
    ),
    (
        "stop_notice_intended",
        r#"{"key":"dormouse/1/2","tool":"say","arguments":{"message":"stopped"}}"#,
    ),
    (
        "stop_notice_settled",
        r#"{"key":"dormouse/1/2","outcome":"unknown"}"#,
    ),
    ("history_reset", r#"{"reset_by":"florian"}"#),
    (
        "call_reserved",
        r#"{"by":"turn","tokens":900,"cost":12,"reply_tokens":300,"low":{"span":"hour","percent":9}}"#,
    ),
    (
        "call_reserved",
        r#"{"by":"consolidation","tokens":900,"reply_tokens":300}"#,
    ),
    (
        "approval_requested",
        r#"{"digest":"00ff","call":"call_1_0","tool":"give","arguments":{"to":"Alice"},"expires_at":9,"trust":0.5,"audience":{"entities":["player:1"]}}"#,
    ),
    (
        "approval_requested",
        r#"{"digest":"00ff","call":"call_1_0","tool":"give","arguments":{},"expires_at":9,"trust":0.5}"#,
    ),
    (
        "approval_answered",
        r#"{"approval":3,"answer":"denied","by":"florian","reason":"not now"}"#,
    ),
    (
        "approval_answered",
        r#"{"approval":3,"answer":"allowed","by":"florian"}"#,
    ),
    (
        "commitment_ended",
        r#"{"commitment":3,"entity":"player:1","noted_at":7,"outcome":{"broken":"expired"}}"#,
    ),
    (
        "commitment_ended",
        r#"{"commitment":3,"entity":"player:1","noted_at":7,"outcome":"kept"}"#,
    ),
];

/// Events of tasks that assistants give to each other, each with all optional fields and with none.
const OF_TASKS: [(&str, &str); 10] = [
    (
        "task_delegated",
        r#"{"call":"call_1_0","to":"cook","tag":"kitchen","task":{"key":"dormouse/1/2","chain":["dormouse"],"task":{"text":"bake","trust":0.5,"audience":{"entities":["player:1"]}},"briefing":{"text":"bread","trust":0.4},"insulation":"delegate","summarize":true,"tokens":900,"quota":4,"expires_at":9},"sources":["7"],"briefing_sources":["5","6.1"],"root":3,"part_of":"mole/1/1","cost":12}"#,
    ),
    (
        "task_delegated",
        r#"{"call":"call_1_0","task":{"key":"dormouse/1/2","chain":["dormouse"],"task":{"text":"bake","trust":0.5},"insulation":"none","tokens":900,"quota":0,"expires_at":9},"root":3}"#,
    ),
    (
        "delegate_chosen",
        r#"{"key":"dormouse/1/2","delegate":"cook"}"#,
    ),
    (
        "task_received",
        r#"{"task":{"key":"dormouse/1/2","chain":["mole","dormouse"],"task":{"text":"bake","trust":0.5},"insulation":"orchestrator","tokens":900,"quota":0,"expires_at":9}}"#,
    ),
    (
        "task_answered",
        r#"{"key":"dormouse/1/2","outcome":{"done":{"text":"baked","trust":0.5,"audience":{"entities":["player:1"]}}},"took":{"tokens":40,"cost":2,"tasks":1},"sources":["7"]}"#,
    ),
    (
        "task_answered",
        r#"{"key":"dormouse/1/2","outcome":{"failed":"emergency_stop"},"took":{"tokens":0,"cost":0,"tasks":0}}"#,
    ),
    (
        "task_cancelled",
        r#"{"key":"dormouse/1/2","cause":"timed_out"}"#,
    ),
    (
        "delegation_ended",
        r#"{"key":"dormouse/1/2","by":"carrier","outcome":{"done":{"text":"baked","trust":0.5}},"took":{"tokens":40,"cost":2,"tasks":1}}"#,
    ),
    (
        "delegation_ended",
        r#"{"key":"dormouse/1/2","by":"itself","outcome":{"failed":"cancelled"}}"#,
    ),
    (
        "delegation_ended",
        r#"{"key":"dormouse/1/2","by":"carrier","outcome":{"failed":"none_found"}}"#,
    ),
];

/// Events of nights, each with all optional fields and with none.
const OF_NIGHTS: [(&str, &str); 18] = [
    (
        "fell_asleep",
        r#"{"night":3,"author":{"tool":"call_1_0"},"until":9,"reason":{"text":"tired","trust":0.5,"audience":{"entities":["player:1"]},"sources":["7"]}}"#,
    ),
    (
        "fell_asleep",
        r#"{"night":3,"author":{"sleep":3},"until":9}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"consolidate_memory","outcome":"goes_on"}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"link_memories","outcome":"done","through":"7"}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"consolidate_people","outcome":{"failed":{"model":"timed_out"}}}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"compact_history","outcome":{"failed":"busy"}}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"clear_conversations","outcome":{"failed":"storage"}}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"consolidate_memory","outcome":"over_budget"}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"consolidate_memory","outcome":{"taken_back":{"asked":40,"before":30,"after":20}}}"#,
    ),
    (
        "night_stepped",
        r#"{"night":3,"step":"consolidate_memory","outcome":{"taken_back":{"asked":40,"before":30,"after":20,"kept":2}}}"#,
    ),
    (
        "night_probed",
        r#"{"night":3,"step":"consolidate_memory","stage":{"before":[{"evidence":"7","left_out":2,"answered":true}]}}"#,
    ),
    (
        "night_probed",
        r#"{"night":3,"step":"consolidate_memory","stage":{"after":{"answered":[true,false],"outcome":"goes_on"}}}"#,
    ),
    (
        "night_probed",
        r#"{"night":3,"step":"link_memories","stage":{"after":{"answered":[true],"outcome":"done","through":"7"}}}"#,
    ),
    ("woke_up", r#"{"night":3,"cause":"time"}"#),
    ("woke_up", r#"{"night":3,"cause":{"message":12}}"#),
    ("woke_up", r#"{"night":3,"cause":{"operator":"florian"}}"#),
    ("woke_up", r#"{"night":3,"cause":{"tool":"call_1_0"}}"#),
    ("woke_up", r#"{"night":3,"cause":"all_done"}"#),
];

#[test]
fn the_events_of_nights_are_read_and_written_the_same() {
    OF_NIGHTS
        .iter()
        .for_each(|(kind, payload)| format::is_written_the_same(kind, payload));
}

#[test]
fn the_events_of_ticks_budgets_approvals_and_stops_are_read_and_written_the_same() {
    OF_TICKS
        .iter()
        .for_each(|(kind, payload)| format::is_written_the_same(kind, payload));
}

#[test]
fn the_events_of_tasks_between_assistants_are_read_and_written_the_same() {
    OF_TASKS
        .iter()
        .for_each(|(kind, payload)| format::is_written_the_same(kind, payload));
}

#[test]
fn every_documented_kind_of_event_has_a_payload_that_is_read_and_written_the_same() {
    let documented = include_str!("../../../../docs/json-output.md");
    let row = documented.lines().find(|line| {
        let row = line.strip_prefix("| `kind` |");
        row.is_some_and(|row| row.contains("`perceived`"))
    });
    let documented = row.unwrap().split('`').skip(3).step_by(2);
    let checked: BTreeSet<_> = OF_TICKS
        .iter()
        .chain(&OF_TASKS)
        .chain(&OF_NIGHTS)
        .map(|(kind, _)| (*kind).to_owned())
        .chain(format::checked_kinds())
        .collect();
    let missing: Vec<_> = documented.filter(|kind| !checked.contains(*kind)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
