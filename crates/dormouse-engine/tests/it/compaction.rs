//! A history that fills the context window: it is shortened in prompts, nothing of it is lost, and it can be recalled.

use std::collections::BTreeSet;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use dormouse_contracts::{ChatRequest, Clock, EntityId, Message, ModelErrorKind, Purpose, Seq};
use dormouse_engine::{
    AssistantConfig, BudgetSpan, Compacted, CompactionMode, Compactor, ConsolidationEnd,
    ContextConfig, ContextType, Event, FactsBefore, HistorySummarized, Person, ReservedBy,
    Selection, State, SummaryFailure, TurnView, replay,
};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    budgets::hourly,
    consolidating::{consolidator, logged},
    forgetting::{bytes, without},
    home::{Home, every_decision_is_the_same_again, in_virtual_time, key, minutes, shown},
};

const WINDOW: u32 = 4_096;

/// A model that answers with `answer`, finds no facts, and sums up in a few words.
fn model(answer: impl Fn(&ChatRequest) -> ScriptedTurn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(move |request| match request.purpose {
        Purpose::Consolidation => ScriptedTurn::text("[]"),
        Purpose::Compaction => ScriptedTurn::text("Alice spoke of kettles, and was answered."),
        _ => answer(request),
    }))
}

fn yes(_: &ChatRequest) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": "yes indeed"}))
}

fn small(model: ScriptedModel) -> Home {
    Home::with(model).configured(|config| {
        config.limits = config.limits.with_max_context_tokens(WINDOW).unwrap();
        config.memory_tokens = 0;
    })
}

fn whisper(from: &str, number: u64, words: usize) -> Perceive {
    let text = format!("number {number} {}", "kettle ".repeat(words));
    Perceive::whisper(from, &text).number(number)
}

/// Alice sends messages with these numbers, of this many words each.
async fn talk(home: &Home, numbers: std::ops::Range<u64>, words: usize) {
    let life = home.wake().await;
    for number in numbers {
        life.accept(whisper("Alice", number, words).build()).await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
}

fn asked(home: &Home, purpose: Purpose) -> Vec<ChatRequest> {
    let mut requests = home.model.requests();
    requests.retain(|request| request.purpose == purpose);
    requests
}

fn last_answer(home: &Home) -> String {
    shown(asked(home, Purpose::Answer).last().unwrap())
}

fn compacted(home: &Home) -> Vec<Compacted> {
    let events = home.events().into_iter();
    events
        .filter_map(|event| match event {
            Event::Compacted(compacted) => Some(compacted),
            _ => None,
        })
        .collect()
}

fn summaries(home: &Home) -> Vec<HistorySummarized> {
    let events = home.events().into_iter();
    events
        .filter_map(|event| match event {
            Event::HistorySummarized(made) => Some(made),
            _ => None,
        })
        .collect()
}

async fn state(home: &Home) -> State {
    replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
}

fn tokens(request: &ChatRequest) -> u32 {
    let tools = serde_json::to_string(&*request.tools).unwrap();
    let words = shown(request).split_whitespace().count() + tools.split_whitespace().count();
    u32::try_from(words).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_full_window_leaves_old_turns_out_and_shows_a_summary_in_their_place() {
    let home = small(model(yes));
    talk(&home, 1..80, 100).await;
    let made = compacted(&home);
    assert!((2..30).contains(&made.len()), "{}", made.len());
    for it in &made {
        assert_eq!(it.mode, CompactionMode::Emergency);
        assert_eq!(it.extraction, Some(FactsBefore::Added(0)));
        assert!(
            it.after < it.before && it.after * 100 < it.window * 80,
            "{it:?}"
        );
    }
    assert_eq!(home.deeds().len(), 79, "every message is answered");
    for request in asked(&home, Purpose::Answer) {
        assert!(tokens(&request) * 100 < WINDOW * 80);
    }
    let summary = summaries(&home).pop().unwrap();
    let (from, to) = (summary.span.from, summary.span.to);
    let prompt = last_answer(&home);
    assert!(
        prompt.contains(&format!("[SUMMARY of events #{from} to #{to}, trust ")),
        "{prompt}"
    );
    assert!(prompt.contains("> Alice spoke of kettles, and was answered."));
    assert!(!prompt.contains("number 1 "), "the oldest turn is left out");
    assert!(prompt.contains("number 78 "), "the newest is not");

    // Each summary is made of the turns themselves, and each turn is in one summary.
    let requests = asked(&home, Purpose::Compaction);
    assert_eq!(requests.len(), summaries(&home).len());
    assert!(
        requests
            .iter()
            .all(|request| !shown(request).contains("spoke of kettles"))
    );
    let turns = summaries(&home)
        .into_iter()
        .flat_map(|made| made.span.turns);
    let turns: Vec<_> = turns.collect();
    assert!(turns.is_sorted_by(|one, next| one < next), "{turns:?}");
    let state = state(&home).await;
    assert_eq!(state.compactions.count, made.len() as u64);
    assert!(state.compactions.last_at.is_some());
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn facts_are_extracted_with_as_many_requests_as_pre_compaction_has_iterations() {
    for (iterations, is_complete) in [(1, false), (10, true)] {
        let without = |config: &mut AssistantConfig| config.compaction.is_on = false;
        let home = small(model(yes)).configured(without);
        talk(&home, 1..60, 100).await;
        let home = home.configured(move |config| {
            config.compaction.is_on = true;
            let few = ContextConfig {
                max_iterations: Some(iterations),
                ..ContextConfig::default()
            };
            let contexts = &mut config.execution.contexts;
            contexts.insert(ContextType::PreCompaction, few);
            config.limits = config.limits.with_max_iterations(10).unwrap();
        });
        talk(&home, 60..61, 100).await;
        let facts = compacted(&home)[0].extraction;
        let requests = asked(&home, Purpose::Consolidation).len();
        match is_complete {
            true => assert_eq!((facts, requests > 1), (Some(FactsBefore::Added(0)), true)),
            false => assert_eq!((facts, requests), (Some(FactsBefore::Partly(0)), 1)),
        }
        assert_eq!(home.deeds().len(), 60, "every message is answered");
    }
}

#[tokio::test(start_paused = true)]
async fn turned_off_a_prompt_shows_what_it_showed_before_anything_was_left_out() {
    let off = |config: &mut AssistantConfig| config.compaction.is_on = false;
    let without = small(model(yes)).configured(off);
    talk(&without, 1..50, 100).await;
    assert_eq!(compacted(&without), [], "off is off");

    let with = small(model(yes));
    talk(&with, 1..49, 100).await;
    assert!(!compacted(&with).is_empty());
    let with = with.configured(off);
    talk(&with, 49..50, 100).await;
    // Only the numbers of events and the time differ.
    let said = |home: &Home| -> Vec<String> {
        let prompt = last_answer(home);
        let lines = prompt
            .lines()
            .filter(|line| line.starts_with("> ") || line.contains("yes"));
        lines
            .map(|line| line.split("\"call_").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(said(&with), said(&without));
}

#[tokio::test(start_paused = true)]
async fn old_results_become_one_line_each_and_are_read_back_word_for_word() {
    let home = small(model(|request| {
        let prompt = shown(request);
        let is_answered = matches!(request.messages.last(), Some(Message::Tool { .. }));
        let last = prompt.rfind("number ").map(|at| &prompt[at..]);
        match last {
            _ if is_answered => ScriptedTurn::call("say", json!({"message": "I see"})),
            Some(last) if last.starts_with("number 1 ") => {
                ScriptedTurn::call("inspect_location", json!({}))
            }
            Some(last) if last.starts_with("number 40 ") => {
                let at = prompt.find("results_of #").expect("there is a handle");
                let id = prompt[at..].split(['#', ' ']).nth(2).unwrap();
                ScriptedTurn::call("recall_history", json!({"results_of": id}))
            }
            _ => ScriptedTurn::call("say", json!({"message": "yes"})),
        }
    }))
    .configured(|config| config.compaction.preserve = 4);
    home.world.answer(
        "inspect_location",
        json!({"seen": "a red lantern ".repeat(300)}),
    );
    let mut number = 1;
    while compacted(&home).is_empty() {
        talk(&home, number..number + 1, 60).await;
        number += 1;
        assert!(number < 40);
    }
    let first = &compacted(&home)[0];
    assert!(
        !first.masked.is_empty() && first.dropped.is_empty(),
        "words first: {first:?}"
    );
    assert!(!last_answer(&home).contains("red lantern"));
    assert!(
        last_answer(&home).contains("number 1 "),
        "the turn itself is still shown"
    );
    talk(&home, 40..41, 1).await;
    let read = asked(&home, Purpose::Answer);
    assert!(shown(read.last().unwrap()).contains("a red lantern a red lantern"));
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn what_is_left_out_is_read_back_and_shown_to_those_alone_who_were_party_to_it() {
    let home = small(model(|request| {
        let is_answered = matches!(request.messages.last(), Some(Message::Tool { .. }));
        match shown(request).contains("read it back") && !is_answered {
            true => ScriptedTurn::call("recall_history", json!({"from": "#1", "to": "#9"})),
            false => ScriptedTurn::call("whisper", json!({"to": "Alice", "message": "yes indeed"})),
        }
    }));
    talk(&home, 1..50, 100).await;
    assert!(!summaries(&home).is_empty());
    for (name, number) in [("Alice", 60), ("Bob", 61)] {
        let ask = Perceive::whisper(name, "read it back")
            .number(number)
            .build();
        home.hear(ask).await;
        let prompt = last_answer(&home);
        let is_alice = name == "Alice";
        assert_eq!(prompt.contains("[SUMMARY of events"), is_alice, "{prompt}");
        assert_eq!(prompt.contains("number 1 kettle"), is_alice, "{prompt}");
    }
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_fails_is_tried_again_later_and_given_up_after_three_failures() {
    let fails = Arc::new(AtomicBool::new(true));
    let failing = fails.clone();
    let home = small(ScriptedModel::looping(ScriptedTurn::with(
        move |request| match request.purpose {
            Purpose::Consolidation => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
            Purpose::Compaction if failing.load(Ordering::Relaxed) => {
                ScriptedTurn::Fail(ModelErrorKind::Unavailable)
            }
            Purpose::Compaction => ScriptedTurn::text("Kettles."),
            _ => yes(request),
        },
    )));
    let mut number = 1;
    while compacted(&home).is_empty() {
        talk(&home, number..number + 1, 100).await;
        number += 1;
    }
    assert_eq!(compacted(&home)[0].extraction, Some(FactsBefore::Failed));
    let dropped = compacted(&home)[0].dropped.clone();
    let prompt = last_answer(&home);
    let (from, to) = (dropped[0].from, dropped[0].to);
    assert!(
        prompt.contains(&format!("from event #{from} to #{to} is not shown")),
        "{prompt}"
    );
    for _ in 0..3 {
        talk(&home, number..number + 1, 1).await;
        talk(&home, number + 1..number + 2, 1).await;
        number += 2;
        tokio::time::advance(minutes(30)).await;
    }
    let failed = home.events().into_iter().filter_map(|event| match event {
        Event::SummaryFailed(failed) => Some((failed.from, failed.cause)),
        _ => None,
    });
    let why = SummaryFailure::Model(ModelErrorKind::Unavailable);
    assert_eq!(
        failed.collect::<Vec<_>>(),
        [(from, why); 3],
        "once each time, three times"
    );
    assert_eq!(state(&home).await.compactions.skipped, 1);
    assert_eq!(
        home.deeds().len() as u64,
        number - 1,
        "nobody went without an answer"
    );

    // What comes next is summed up again.
    fails.store(false, Ordering::Relaxed);
    talk(&home, number..number + 30, 100).await;
    assert!(!summaries(&home).is_empty());
}

#[tokio::test(start_paused = true)]
async fn orders_and_what_is_to_be_done_for_somebody_are_in_no_summary() {
    let home = small(model(|request| {
        let prompt = shown(request);
        let is_answered = matches!(request.messages.last(), Some(Message::Tool { .. }));
        match prompt[prompt.rfind("> ").unwrap()..].contains("remind me") && !is_answered {
            true => ScriptedTurn::call(
                "add_pending_action",
                json!({"entity": "Alice", "description": "Remind her of the anchor"}),
            ),
            false => yes(request),
        }
    }));
    for (number, words) in [
        (1, "Never mention the sextant."),
        (2, "Please remind me of the anchor."),
    ] {
        home.hear(Perceive::whisper("Alice", words).number(number).build())
            .await;
    }
    talk(&home, 3..60, 100).await;
    let requests = asked(&home, Purpose::Compaction);
    assert!(shown(&requests[0]).contains("number 3 "));
    for request in requests {
        let text = shown(&request);
        assert!(
            !text.contains("sextant") && !text.contains("anchor"),
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn planned_compaction_leaves_the_newest_messages_as_they_are_and_can_be_decided_again() {
    let home = Home::with(model(yes)).configured(|config| {
        config.limits = config.limits.with_max_context_tokens(12_288).unwrap();
        config.memory_tokens = 0;
        config.compaction.sleep_percent = 40;
    });
    talk(&home, 1..25, 110).await;
    assert_eq!(compacted(&home), [], "there is room while it is awake");
    let by = Compactor {
        by: consolidator(&home, model(yes)),
    };
    let mut memory = logged(&home).await;
    let expected = by.forecast(&home.log, &key()).await.unwrap();
    let done = Box::pin(by.run(&mut memory)).await.unwrap();
    assert_eq!(
        (done.dropped, done.after),
        (expected.dropped, expected.after)
    );
    assert!(
        done.dropped > 0 && done.summaries == 1 && done.failed == 0,
        "{done:?}"
    );
    let kept = state(&home).await;
    let mut turns = kept.history.turns().rev().take(10);
    assert!(
        turns.all(|turn| turn.view == TurnView::Whole),
        "20 messages"
    );
    let again = Box::pin(by.run(&mut memory)).await.unwrap();
    assert_eq!(
        (again.dropped, again.summaries),
        (0, 0),
        "there is room now"
    );
    // The life that ends here is replayed, with what was done while the assistant slept.
    talk(&home, 25..26, 1).await;
    assert!(last_answer(&home).contains("[SUMMARY of events"));
}

#[tokio::test(start_paused = true)]
async fn a_summary_reserves_what_it_may_take_and_none_is_asked_for_without_a_budget_or_when_stopped()
 {
    for (tokens, is_stopped, expected) in [
        (500, false, Some(ConsolidationEnd::BudgetSpent)),
        (100_000, true, Some(ConsolidationEnd::Stopped)),
        (100_000, false, None),
    ] {
        let home = Home::with(model(yes)).configured(|config| {
            config.limits = config.limits.with_max_context_tokens(12_288).unwrap();
            config.memory_tokens = 0;
            config.compaction.sleep_percent = 40;
            config.compaction.extracts_facts = false;
        });
        talk(&home, 1..25, 110).await;
        let home = home.configured(|config| config.budgets = hourly(tokens));
        let life = home.wake_configured().await;
        if is_stopped {
            life.handle.stop("Carol", "").await.unwrap();
        }
        life.end().await.unwrap();
        let by = Compactor {
            by: consolidator(&home, model(yes)),
        };
        let done = Box::pin(by.run(&mut logged(&home).await)).await.unwrap();
        assert!(done.dropped > 0, "a view needs no model");
        assert_eq!(done.end, expected);
        let is_made = expected.is_none();
        assert_eq!(done.summaries, u64::from(is_made));
        let reserved = |event: &Event| matches!(event, Event::CallReserved(it) if it.by == ReservedBy::Consolidation);
        assert_eq!(home.events().iter().any(reserved), is_made);
        let made = summaries(&home).pop();
        let took = made.map(|it| u64::from(it.prompt_tokens + it.tokens));
        let spent = state(&home).await.ledger;
        let spent = spent.spent(BudgetSpan::Day, home.clock.now()).tokens;
        assert!(spent >= took.unwrap_or(0));
        every_decision_is_the_same_again(&home.log).await;
    }
}

#[tokio::test(start_paused = true)]
async fn forgetting_somebody_reaches_the_summaries_of_what_they_said() {
    let home = small(model(yes));
    talk(&home, 1..50, 100).await;
    assert!(bytes(&home.log).contains("spoke of kettles"));
    let alice = EntityId::try_new("player:Alice").unwrap();
    let alice = Selection::Person(Person::of_ids(BTreeSet::from([alice])));
    let (log, _) = without(&home.log, alice).await;
    assert!(!bytes(&log).contains("spoke of kettles"));
    let state = replay(&log, &key(), Seq(u64::MAX)).await.unwrap();
    assert_eq!(state.compactions.summaries().len(), 0);
    every_decision_is_the_same_again(&log).await;
}

/// Who speaks, and how much.
#[derive(Clone, Copy, Debug)]
struct Said {
    who: usize,
    words: usize,
    looks: bool,
    is_aloud: bool,
}

fn said() -> impl Strategy<Value = Said> {
    let words = prop_oneof![8 => 1_usize..120, 1 => 400_usize..3_000];
    let said = (0..3_usize, words, any::<bool>(), any::<bool>());
    said.prop_map(|(who, words, looks, is_aloud)| Said {
        who,
        words,
        looks,
        is_aloud,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(32)))]

    #[test]
    fn no_life_passes_the_window_breaks_a_pair_or_loses_a_message(
        life in proptest::collection::vec(said(), 1..50),
        window in prop_oneof![Just(4_096_u32), Just(6_000)],
        fails in 0..3_u32,
        facts in any::<bool>(),
    ) {
        let counted = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(move |request| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            let is_answered = matches!(request.messages.last(), Some(Message::Tool { .. }));
            match request.purpose {
                Purpose::Consolidation => ScriptedTurn::text("[]"),
                Purpose::Compaction if fails > 0 && number.is_multiple_of(fails + 1) => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
                Purpose::Compaction => ScriptedTurn::text("They spoke. ".repeat(number as usize % 300)),
                _ if is_answered || !shown(request).ends_with("look") => yes(request),
                _ => ScriptedTurn::call("inspect_location", json!({})),
            }
        })));
        let home = home.configured(|config| {
            config.limits = config.limits.with_max_context_tokens(window).unwrap();
            config.compaction.extracts_facts = facts;
        });
        home.world.answer("inspect_location", json!({"seen": "much ".repeat(150)}));
        let heard = life.len();
        in_virtual_time(async {
            let running = home.wake().await;
            for (said, number) in life.into_iter().zip(1..) {
                let name = ["Alice", "Bob", "Carol"][said.who];
                let end = if said.looks { "look" } else { "" };
                let words = format!("word{number} {}{end}", "tea ".repeat(said.words));
                let by = if said.is_aloud { Perceive::addressed } else { Perceive::whisper };
                running.accept(by(name, &words).number(number).build()).await;
                running.handle.at_rest().await;
            }
            running.end().await.unwrap();
        });
        for request in asked(&home, Purpose::Answer) {
            let most = window - request.max_tokens.unwrap_or(1_000).min(1_000);
            prop_assert!(tokens(&request) <= most, "{} of {}", tokens(&request), window);
        }
        let state = in_virtual_time(state(&home));
        prop_assert_eq!(state.turns.len(), 0);
        let answered = home.stops().len();
        prop_assert!(answered >= heard, "{} of {}", answered, heard);
        // A strict provider refuses a result without its call, and a call without its result.
        prop_assert_eq!(home.model.violations(), []);
        // Nothing of the left-out turns is shown, and all of it is in the log.
        let left_out: Vec<Seq> = compacted(&home).iter().flat_map(|it| it.dropped.iter().flat_map(|span| span.turns.clone())).collect();
        let heard: Vec<Seq> = home.log.events(&key()).iter().filter(|stored| stored.kind == "perceived").map(|stored| stored.seq).collect();
        prop_assert!(left_out.iter().all(|turn| heard.contains(turn)));
        let mut once = left_out.clone();
        once.dedup();
        prop_assert_eq!(once.len(), left_out.len(), "each turn is left out once");
    }
}

#[test]
fn a_window_has_the_documented_levels() {
    use dormouse_engine::WindowLevel::{self, Critical, Danger, Ok, Warning};
    let levels = [
        (0, Ok),
        (699, Ok),
        (700, Warning),
        (850, Warning),
        (851, Danger),
        (950, Danger),
        (951, Critical),
    ];
    for (tokens, level) in levels {
        assert_eq!(WindowLevel::of(tokens, 1_000), level, "{tokens}");
    }
}
