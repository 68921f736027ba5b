use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{AssistantId, CallId, Seq, Timestamp, ToolCategory};
use dormouse_engine::{Event, TickEnded, ToolAnswered, Woke};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{span_maker::LONGEST_NAME, *};

const FIRST: i64 = 1_780_000_000_000_000;

fn life() -> Life {
    let key = AssistantId::try_new("dormouse").unwrap();
    Life::new(&key, Timestamp::from_micros(FIRST))
}

/// An event as the log has it.
fn event(kind: &str, schema: u16, payload: &Value) -> Event {
    let stored = dormouse_contracts::StoredEvent {
        seq: Seq(1),
        at: Timestamp::EPOCH,
        kind: kind.to_owned(),
        schema,
        payload: payload.to_string().into_bytes(),
    };
    Event::decode(&stored).unwrap()
}

fn replied() -> Event {
    event(
        "replied",
        2,
        &json!({
            "model": "gpt", "calls": [], "tokens": 7, "prompt_tokens": 100, "prompt_hash": "2-ab", "duration_ms": 1500.0,
            "trust": 1.0, "least_shown": 1.0,
            "reply": {
                "content": "Hello", "tool_calls": [], "finish": "stop",
                "usage": {"prompt_tokens": 90, "completion_tokens": 5, "cached_tokens": 40},
                "info": {
                    "provider": "openai", "model": "gpt", "served_model": "gpt-2026", "request_id": "r1",
                    "rate_limits": {"requests": null, "tokens": null}, "left_out": [],
                },
            },
        }),
    )
}

fn consulted() -> Event {
    event(
        "consulted",
        2,
        &json!({
            "about": {"purpose": "scoring", "entries": []}, "model": "gpt", "tokens": 1, "prompt_tokens": 2, "prompt_hash": "2-ac",
            "duration_ms": 20.0, "reply": {"content": "5", "tool_calls": [], "finish": "stop", "usage": null},
        }),
    )
}

fn answered(verdict: Verdict) -> Event {
    Event::ToolAnswered(ToolAnswered {
        call: CallId::try_new("c1").unwrap(),
        tool: "look".to_owned(),
        category: Some(ToolCategory::SafeChain),
        verdict,
        content: "\"a table\"".to_owned(),
        tokens: 3,
        trust: None,
        cached: None,
        is_unanswered: false,
    })
}

fn started(tick: u64) -> Event {
    Event::TickStarted(TickStarted {
        tick,
        context: ContextType::TickEvent,
        trigger: Seq(1),
    })
}

fn ended(reason: StopReason) -> Event {
    Event::TickEnded(TickEnded::new(reason, None))
}

/// The events one after the other, a second apart.
fn log(events: impl IntoIterator<Item = Event>) -> Vec<Recorded> {
    let events = events.into_iter().zip(1_u32..);
    let recorded = events.map(|(event, place)| Recorded {
        seq: Seq(place.into()),
        at: Timestamp::from_micros(FIRST + i64::from(place) * 1_000_000),
        event,
    });
    recorded.collect()
}

fn spans_of(log: &[Recorded], content: SpanContent) -> Vec<Span> {
    let mut projection = Projection::new(life(), content, Seq::ZERO);
    log.iter()
        .flat_map(|event| projection.take(event))
        .collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap()
}

fn noted<'a>(span: &'a Span, name: &str) -> Option<&'a SpanValue> {
    let mut found = span.attributes.iter().filter(|(noted, _)| *noted == name);
    let (_, value) = found.next()?;
    assert!(found.next().is_none(), "{name} twice");
    Some(value)
}

#[test]
fn a_tick_is_a_trace_with_its_calls() {
    let events = log([
        started(1),
        replied(),
        answered(Verdict::Success),
        answered(Verdict::Deferred),
        ended(StopReason::Noop),
    ]);

    let spans = spans_of(&events, SpanContent::Digest);

    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(
        names,
        ["invoke_agent dormouse", "chat gpt", "execute_tool look"]
    );
    let chat = named(&spans, "chat gpt");
    // As long as the call took, but not before its tick.
    assert_eq!(chat.began_at, spans[0].began_at);
    assert_eq!(chat.ended_at, events[1].at);
    assert_eq!(
        noted(chat, "gen_ai.usage.input_tokens"),
        Some(&90_u32.into())
    );
    assert_eq!(
        noted(chat, "gen_ai.usage.cache_read.input_tokens"),
        Some(&40_u32.into())
    );
    assert_eq!(
        noted(chat, "gen_ai.response.model"),
        Some(&"gpt-2026".into())
    );
    assert_eq!(noted(chat, "gen_ai.provider.name"), Some(&"openai".into()));
    assert_eq!(
        noted(&spans[0], "dormouse.stop_reason"),
        Some(&"noop".into())
    );
    assert_eq!(spans[0].error, None);
}

#[test]
fn words_are_exported_only_on_request() {
    let events = log([
        started(1),
        replied(),
        answered(Verdict::Success),
        ended(StopReason::Noop),
    ]);

    let silent = format!("{:?}", spans_of(&events, SpanContent::Digest));
    let speaking = format!("{:?}", spans_of(&events, SpanContent::Words));

    for word in ["Hello", "a table"] {
        assert!(!silent.contains(word), "{silent}");
        assert!(speaking.contains(word), "{speaking}");
    }
}

#[test]
fn a_tick_that_failed_or_was_killed_says_so() {
    let events = log([
        started(1),
        answered(Verdict::Failure),
        started(2),
        ended(StopReason::LlmError),
    ]);

    let spans = spans_of(&events, SpanContent::Digest);

    let errors: Vec<_> = spans.iter().map(|span| span.error.as_deref()).collect();
    assert_eq!(
        errors,
        [Some("interrupted"), Some("failure"), Some("llm_error")]
    );
    assert_ne!(spans[0].trace, spans[2].trace);
}

#[test]
fn an_act_without_an_outcome_is_unsettled_until_a_later_tick_knows_it() {
    let intended = event(
        "effect_intended",
        2,
        &json!({
            "key": "dormouse/1", "call": "c1", "tool": "say", "category": "terminal", "arguments": {"message": "Hi"},
        }),
    );
    let settled = event(
        "effect_settled",
        2,
        &json!({
            "key": "dormouse/1", "outcome": "unknown", "content": "{}", "tokens": 1,
        }),
    );
    let events = log([
        started(1),
        intended,
        ended(StopReason::WorldUnreachable),
        started(2),
        settled,
        ended(StopReason::TerminalTool),
    ]);

    let spans = spans_of(&events, SpanContent::Digest);

    let act = named(&spans, "execute_tool say");
    let outcome = named(&spans, "execute_tool");
    assert_eq!(act.error.as_deref(), Some("unsettled"));
    assert_eq!(outcome.error.as_deref(), Some("unknown"));
    assert_eq!(
        noted(act, "dormouse.effect.key"),
        noted(outcome, "dormouse.effect.key")
    );
}

#[test]
fn a_life_under_a_key_that_was_used_before_has_other_ids() {
    let key = AssistantId::try_new("dormouse").unwrap();
    let later = Life::new(&key, Timestamp::from_micros(FIRST + 1));
    assert_ne!(life().trace(Seq(1)), later.trace(Seq(1)));
    assert_ne!(life().span(Seq(1), "chat"), life().span(Seq(1), "plan"));
}

#[test]
fn a_name_that_a_model_made_up_has_a_bound() {
    let mut it = answered(Verdict::Failure);
    if let Event::ToolAnswered(answered) = &mut it {
        answered.tool = "ä".repeat(10_000);
    }
    let spans = spans_of(
        &log([started(1), it, ended(StopReason::Noop)]),
        SpanContent::Digest,
    );
    assert!(spans[1].name.len() <= LONGEST_NAME + "execute_tool ".len());
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (1..99_u64).prop_map(started),
        3 => Just(ended(StopReason::Noop)),
        1 => Just(ended(StopReason::GivenUp)),
        4 => Just(replied()),
        2 => Just(consulted()),
        3 => Just(answered(Verdict::Success)),
        1 => Just(answered(Verdict::Skipped)),
        1 => Just(Event::Woke(Woke::default())),
    ]
}

/// Events, with times that may run backwards.
fn any_log() -> impl Strategy<Value = Vec<Recorded>> {
    prop::collection::vec((any_event(), -50..5_000_000_i64), 1..60).prop_map(|events| {
        let mut at = FIRST;
        let recorded = events.into_iter().zip(1..).map(|((event, later), place)| {
            at += later;
            Recorded {
                seq: Seq(place),
                at: Timestamp::from_micros(at),
                event,
            }
        });
        recorded.collect()
    })
}

proptest! {
    #[test]
    fn spans_are_whole_traces_with_ids_of_their_own(events in any_log()) {
        let spans = spans_of(&events, SpanContent::Digest);

        let ids: BTreeSet<_> = spans.iter().map(|span| span.id).collect();
        prop_assert_eq!(ids.len(), spans.len());
        let mut roots = BTreeMap::new();
        for span in &spans {
            prop_assert!(span.began_at <= span.ended_at);
            prop_assert!(span.attributes.len() <= 40);
            match span.parent {
                None => prop_assert!(roots.insert(span.trace, span).is_none(), "two roots"),
                Some(parent) => {
                    // The root comes first.
                    let root = roots[&span.trace];
                    prop_assert_eq!(parent, root.id);
                    prop_assert!(root.began_at <= span.began_at || span.ended_at < root.began_at);
                }
            }
        }
    }

    #[test]
    fn a_projection_from_the_settled_place_makes_the_same_spans(events in any_log(), cut in 0..60_usize) {
        let whole = spans_of(&events, SpanContent::Words);
        let cut = cut.min(events.len());

        let mut first = Projection::new(life(), SpanContent::Words, Seq::ZERO);
        let mut spans: Vec<_> = events[..cut].iter().flat_map(|event| first.take(event)).collect();
        let mut second = Projection::new(life(), SpanContent::Words, first.settled());
        let rest = events.iter().filter(|event| event.seq > first.settled());
        spans.extend(rest.flat_map(|event| second.take(event)));

        prop_assert_eq!(spans, whole);
    }
}
