//! A context window that is smaller than configured: prompts get shorter until they fit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dormouse_contracts::{ChatRequest, ModelErrorKind, Seq};
use dormouse_engine::{ConfiguredModel, Event, Rest, UnansweredCause, preview_prompt, replay};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::home::{Home, in_virtual_time, key, shown};

/// The maximum number of requests for one reply: the first, four halved ones, and the bare message.
const MOST_REQUESTS: usize = 6;

fn words(request: &ChatRequest) -> usize {
    let tools = serde_json::to_string(&*request.tools).unwrap();
    let of = |text: &str| text.split_whitespace().count();
    of(&shown(request)) + of(&tools)
}

/// No prompt after a refused one is longer than the limit that was learnt from it.
fn no_prompt_passes_what_was_learnt(home: &Home) {
    let mut limit = None;
    for event in home.events() {
        match event {
            // The failure that gives a message up teaches nothing.
            Event::ModelFailed(failed) => limit = failed.context_limit.map(|limit| limit.tokens),
            Event::Replied(replied) => {
                let longest = limit.take().unwrap_or(u32::MAX);
                assert!(replied.prompt_tokens <= longest, "{longest}: {replied:?}");
            }
            _ => {}
        }
    }
}

/// A home whose model accepts prompts of this many words, and answers each with `answer`.
fn home(room: &Arc<AtomicUsize>, answer: &'static str) -> Home {
    let room = room.clone();
    Home::with(ScriptedModel::looping(ScriptedTurn::with(move |request| {
        if words(request) > room.load(Ordering::SeqCst) {
            ScriptedTurn::Fail(ModelErrorKind::ContextExceeded)
        } else {
            ScriptedTurn::call("say", json!({"message": answer}))
        }
    })))
    // The test measures how much of the history fits, so the whole history is kept.
    .configured(|config| {
        config.compaction.is_on = false;
        config.limits = config.limits.with_max_history(50).unwrap();
    })
}

fn whisper(number: u64, length: usize) -> Perceive {
    let text = format!("number {number} {}", "tea ".repeat(length));
    Perceive::whisper("Alice", &text).number(number)
}

/// Says this many messages of this many words.
async fn talk(home: &Home, from: u64, times: u64, length: usize) {
    let life = home.wake().await;
    for number in from..from + times {
        life.accept(whisper(number, length).build()).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    life.end().await.unwrap();
}

fn narrowings(home: &Home) -> usize {
    let is_narrowing = |event: &Event| matches!(event, Event::ModelFailed(failed) if failed.context_limit.is_some());
    home.events()
        .iter()
        .filter(|event| is_narrowing(event))
        .count()
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_too_long_gets_shorter_until_it_fits_and_that_is_remembered() {
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let home = home(&room, "yes");
    talk(&home, 1, 20, 200).await;
    let whole = home.model.requests().last().map(words).unwrap();
    room.store(whole / 2, Ordering::SeqCst);

    talk(&home, 21, 1, 20).await;
    let asked: Vec<_> = home.model.requests()[20..].iter().map(words).collect();
    assert!((2..=MOST_REQUESTS).contains(&asked.len()), "{asked:?}");
    assert!(asked.is_sorted_by(|one, next| one > next), "{asked:?}");
    assert!(
        home.last_shown().contains("number 21"),
        "the message is there"
    );
    assert!(
        home.last_shown().contains("number 20"),
        "and what was said last"
    );
    assert_eq!(home.deeds().len(), 21);
    let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert_eq!(
        state.errors.consecutive, 0,
        "it was mended, and is no error"
    );
    assert!(state.window.learnt().is_some());

    // The prompt was halved by the engine's own count, which differs from the model's, so one more step may be needed.
    talk(&home, 22, 5, 20).await;
    assert!(home.model.requests().len() <= 20 + asked.len() + 6);
    let before = home.model.requests().len();
    talk(&home, 27, 5, 20).await;
    assert_eq!(home.model.requests().len(), before + 5, "once each");
    home.no_protocol_was_broken();
}

/// A model with a small window gets fewer tools at once, with the conversation, and not only after the next waking.
#[tokio::test(start_paused = true)]
async fn tools_and_conversation_share_what_a_smaller_window_has_room_for() {
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let home = home(&room, "yes");
    talk(&home, 1, 20, 100).await;
    let whole = home.model.requests().last().cloned().unwrap();
    room.store(words(&whole) / 5, Ordering::SeqCst);

    talk(&home, 21, 3, 5).await;
    assert_eq!(home.deeds().len(), 23, "each is answered");
    let last = home.model.requests().last().cloned().unwrap();
    let names = |request: &ChatRequest| -> Vec<String> {
        let tools = request.tools.iter();
        tools.map(|tool| tool.name.to_string()).collect()
    };
    let (before, now) = (names(&whole), names(&last));
    assert!(now.len() < before.len(), "{now:?}");
    for needed in ["say", "noop"] {
        assert!(now.iter().any(|tool| tool == needed), "{now:?}");
    }
    assert!(shown(&last).contains("number 23"), "the message is there");
    no_prompt_passes_what_was_learnt(&home);
    home.no_protocol_was_broken();

    let counter_for = |_: &ConfiguredModel| home.ports().counter;
    let preview = preview_prompt(&home.log, &key(), None, None, counter_for).await;
    let left_out = preview.unwrap().left_out;
    let tools = left_out.iter().find(|part| part.part == "tools").unwrap();
    assert!(
        tools.why.contains("have no room in a prompt of"),
        "{tools:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn another_configured_window_is_not_held_to_what_was_learnt_of_the_first() {
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let home = home(&room, "yes");
    talk(&home, 1, 20, 200).await;
    let whole = home.model.requests().last().map(words).unwrap();
    room.store(whole / 2, Ordering::SeqCst);
    talk(&home, 21, 1, 20).await;
    assert!(narrowings(&home) > 0);

    room.store(usize::MAX, Ordering::SeqCst);
    let home = home.configured(|config| {
        config.limits = config.limits.with_max_context_tokens(40_000).unwrap();
    });
    talk(&home, 22, 1, 20).await;
    assert!(home.model.requests().last().map(words).unwrap() > whole);
}

#[tokio::test(start_paused = true)]
async fn what_was_learnt_is_tried_again_after_two_hundred_replies() {
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let home = home(&room, "yes");
    talk(&home, 1, 20, 200).await;
    let whole = home.model.requests().last().map(words).unwrap();
    // All tools fit again once the long lines have left the history.
    room.store(whole * 3 / 4, Ordering::SeqCst);
    talk(&home, 21, 10, 2).await;
    let learnt = narrowings(&home);
    let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert!(state.window.learnt().is_some());
    talk(&home, 31, 200, 2).await;
    let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert_eq!(state.window.learnt(), None);
    assert_eq!(narrowings(&home), learnt);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_fits_into_no_prompt_is_given_up_and_known_and_teaches_nothing() {
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let home = home(&room, "yes");
    talk(&home, 1, 10, 200).await;
    room.store(0, Ordering::SeqCst);
    talk(&home, 11, 1, 2_000).await;
    assert!(home.model.requests().len() <= 10 + MOST_REQUESTS);
    let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert_eq!(
        (state.history.given_up().len(), state.history.turns().len()),
        (1, 10)
    );
    assert_eq!(state.window.learnt(), None);
    let events = home.events();
    let causes = events.iter().filter_map(|event| match event {
        Event::Unanswered(unanswered) => Some(unanswered.cause),
        _ => None,
    });
    let causes: Vec<_> = causes.collect();
    assert!(
        matches!(causes[..], [UnansweredCause::WindowTooSmall(tokens)] if tokens > 0),
        "{causes:?}"
    );

    room.store(usize::MAX, Ordering::SeqCst);
    talk(&home, 12, 1, 20).await;
    assert_eq!(
        home.deeds().len(),
        12,
        "one of them says that there is no answer"
    );
    assert!(
        home.last_shown().contains("number 9"),
        "the history is there again"
    );
}

#[tokio::test(start_paused = true)]
async fn results_that_make_a_prompt_too_long_are_cut_and_the_turn_goes_on() {
    let room = 1_200;
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let has_looked = shown(request).contains("inspect_location{}");
        if words(request) > room {
            ScriptedTurn::Fail(ModelErrorKind::ContextExceeded)
        } else if has_looked {
            ScriptedTurn::call("say", json!({"message": "it is an attic"}))
        } else {
            ScriptedTurn::call("inspect_location", json!({}))
        }
    })));
    let seen = json!({"description": "dust ".repeat(2_000)});
    home.world.answer("inspect_location", seen);
    home.hear(Perceive::whisper("Alice", "where are you?").build())
        .await;
    assert_eq!(home.deeds(), ["say it is an attic"]);
    assert!(home.last_shown().contains("which are not shown"));
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_reply_for_which_there_is_no_room_is_asked_for_shorter() {
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::with(|request| {
        // A provider that checks whether the prompt and the maximum reply fit together.
        if words(request) + request.max_tokens.unwrap() as usize > 4_096 {
            ScriptedTurn::Fail(ModelErrorKind::ContextExceeded)
        } else {
            ScriptedTurn::call("say", json!({"message": "yes"}))
        }
    })))
    .configured(|config| config.max_tokens = Some(8_000));
    talk(&home, 1, 3, 5).await;
    assert_eq!(home.deeds().len(), 3);
    let requests = home.model.requests();
    let asked: Vec<_> = requests.iter().map(|request| request.max_tokens).collect();
    assert_eq!(asked, [8_000, 4_000, 2_000, 2_000, 2_000].map(Some));
    let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert!(state.history.given_up().len() == 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(12)))]

    #[test]
    fn prompts_only_get_shorter_and_no_message_is_lost_silently(
        talks in proptest::collection::vec((0_usize..4_000, 0_usize..5_000, 0_usize..3), 1..8),
    ) {
        in_virtual_time(async {
            let room = Arc::new(AtomicUsize::new(usize::MAX));
            let home = home(&room, "so it is, and so it was, and so it will be");
            talk(&home, 1, 6, 300).await;
            let mut number = 7;
            for (length, fits, overheard) in talks {
                room.store(fits, Ordering::SeqCst);
                let before = home.model.requests().len();
                let life = home.wake().await;
                for _ in 0..overheard {
                    let line = Perceive::say("Bob", "the bridge is out again").number(number);
                    life.accept(line.build()).await;
                    number += 1;
                }
                life.accept(whisper(number, length).build()).await;
                number += 1;
                assert_eq!(life.handle.at_rest().await, Rest::Settled);
                let alive = life.handle.inspect().await.unwrap();
                life.end().await.unwrap();

                let asked: Vec<_> = home.model.requests()[before..].iter().map(words).collect();
                assert!(asked.len() <= MOST_REQUESTS, "{asked:?}");
                assert!(asked.is_sorted_by(|one, next| one > next), "{asked:?}");
                let is_answered = asked.last().is_some_and(|last| *last <= fits);
                let is_given_up = alive.history.given_up().last().is_some_and(|seq| {
                    alive.history.turns().next_back().is_none_or(|turn| turn.trigger_seq() < seq)
                });
                assert!(is_answered != is_given_up, "{asked:?} of {fits}");
                assert_eq!(replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap(), alive);
            }
            home.no_protocol_was_broken();
            no_prompt_passes_what_was_learnt(&home);
        });
    }
}
