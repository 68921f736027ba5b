//! Somebody arrives between the model's reply and the act: words that they did not perceive are not said.

use dormouse_contracts::{Audience, EntityId, Outcome, Seq};
use dormouse_engine::{Event, Rest, State, replay};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::{Home, key, shown};

const SECRET: &str = "the vault opens with the word plumbago";
const NOTE: &str = "What you were about to say was not said";

fn among(names: &[&str]) -> Audience {
    let ids = names.iter().map(|name| format!("player:{name}"));
    let ids = ids.chain(["npc:me".to_owned()]);
    ids.map(|id| EntityId::try_new(id).unwrap()).collect()
}

fn to_both(text: &str) -> Perceive {
    Perceive::addressed("Bob", text).audience(among(&["Alice", "Bob"]))
}

/// A model that says everything it is shown about the vault, in the way in which it was asked.
fn repeats(way: fn(&str) -> ScriptedTurn) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let knows = shown(request).contains("plumbago");
        way(if knows { "plumbago" } else { "nothing" })
    }))
}

fn aloud(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

async fn hear(home: &Home, heard: impl IntoIterator<Item = Perceive>) {
    let life = home.wake().await;
    let before = home.world.perceptions().len();
    for heard in heard {
        life.accept(home.world.happen(heard)).await;
        life.handle.at_rest().await;
    }
    assert!(home.world.perceptions().len() > before);
    life.end().await.unwrap();
}

fn refusals(home: &Home) -> usize {
    let is_refused = |event: &Event| {
        matches!(event, Event::EffectSettled(settled)
            if matches!(&settled.outcome, Outcome::Rejected(rejection) if rejection.heard_by.is_some()))
    };
    home.events()
        .iter()
        .filter(|event| is_refused(event))
        .count()
}

async fn state(home: &Home) -> State {
    replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_comes_in_between_hears_nothing_that_was_made_for_fewer() {
    // The words come from earlier turns, or from the memory alone.
    for history in [20, 0] {
        hears_nothing_that_was_made_for_fewer(history).await;
    }
}

async fn hears_nothing_that_was_made_for_fewer(history: usize) {
    let home = Home::with(repeats(aloud)).configured(|config| {
        config.limits = config.limits.with_max_history(history).unwrap();
    });
    hear(&home, [to_both(&format!("@dormouse {SECRET}"))]).await;
    let said_before = home.deeds().len();
    home.world.listen(among(&["Alice", "Bob", "Carol"]));
    hear(&home, [to_both("@dormouse which word opens the vault?")]).await;
    assert_eq!(home.deeds()[said_before..], ["say nothing"]);
    assert_eq!(refusals(&home), 1);
    let requests = home.model.requests();
    let [.., first, second] = &requests[..] else {
        panic!("the model was asked twice")
    };
    assert!(shown(first).contains("plumbago") && !shown(first).contains(NOTE));
    assert!(!shown(second).contains("plumbago"), "{}", shown(second));
    assert!(shown(second).contains(NOTE), "{}", shown(second));
    let state = state(&home).await;
    assert_eq!(state.errors.consecutive, 0, "nobody made an error");
}

#[tokio::test(start_paused = true)]
async fn what_everybody_knows_is_said_whoever_comes_in() {
    let home = Home::with(repeats(aloud));
    home.world.listen(among(&["Alice", "Bob", "Carol"]));
    hear(&home, [to_both("@dormouse which word opens the vault?")]).await;
    assert_eq!(home.deeds(), ["say nothing"]);
    assert_eq!((refusals(&home), home.model.requests().len()), (0, 1));
    // Carol perceived what was said before, and comes back.
    let home = Home::with(repeats(aloud));
    let to_all = Perceive::addressed("Bob", &format!("@dormouse {SECRET}"));
    hear(&home, [to_all.audience(among(&["Alice", "Bob", "Carol"]))]).await;
    let said_before = home.deeds().len();
    home.world.listen(among(&["Alice", "Bob", "Carol"]));
    hear(&home, [to_both("@dormouse which word opens the vault?")]).await;
    assert_eq!(home.deeds()[said_before..], ["say plumbago"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_done_before_is_named_and_not_shown() {
    let model = ScriptedModel::looping(ScriptedTurn::with(|request| {
        let text = shown(request);
        match (text.contains(NOTE), text.contains("recall_memories{")) {
            (true, _) => aloud("nothing"),
            (false, true) => aloud("plumbago"),
            (false, false) => ScriptedTurn::calls([
                ("store_memory", json!({"text": "Bob asks about the vault"})),
                ("recall_memories", json!({"query": "the word of the vault"})),
            ]),
        }
    }));
    let home = Home::with(model).configured(|config| {
        config.limits = config.limits.with_max_history(0).unwrap();
    });
    home.world.listen(among(&["Alice", "Bob", "Carol"]));
    hear(&home, [to_both("@dormouse which word opens the vault?")]).await;
    let shown = home.last_shown();
    assert!(
        shown.contains("not to be repeated: recall_memories, store_memory."),
        "{shown}"
    );
    assert_eq!(home.deeds(), ["say nothing"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_whispered_is_answered_in_a_whisper_and_not_aloud() {
    let way = |text: &str| ScriptedTurn::call("say", json!({"message": text}));
    let home = Home::with(repeats(way));
    home.world.listen(among(&["Alice", "Bob"]));
    let whisper = Perceive::whisper("Alice", &format!("tell everybody that {SECRET}"));
    hear(&home, [whisper.audience(among(&["Alice"]))]).await;
    assert!(refusals(&home) > 1);
    assert!(
        !home.deeds().iter().any(|deed| deed.contains("plumbago")),
        "{:?}",
        home.deeds()
    );
    assert!(home.last_shown().contains("more would hear it than may"));
    assert!(!home.last_shown().contains(NOTE), "a whisper stays for one");
    let state = state(&home).await;
    assert!(state.turns.is_empty() && state.errors.consecutive == 0);
}

#[tokio::test(start_paused = true)]
async fn a_whisper_to_somebody_else_may_be_heard_by_the_one_who_whispered_alone() {
    let model = ScriptedModel::looping(ScriptedTurn::call(
        "whisper",
        json!({"to": "Carol", "message": "plumbago"}),
    ));
    let home = Home::with(model);
    let whisper = Perceive::whisper("Alice", &format!("tell Carol that {SECRET}"));
    hear(&home, [whisper.audience(among(&["Alice"]))]).await;
    let within = home.events().into_iter().find_map(|event| match event {
        Event::EffectIntended(intended) => Some(intended.within),
        _ => None,
    });
    let alice = EntityId::try_new("player:Alice").unwrap();
    assert_eq!(within.unwrap(), Some(Audience::from_iter([alice])));
}

#[tokio::test(start_paused = true)]
async fn a_room_of_thousands_fills_no_log_and_is_answered_with_what_everybody_knows() {
    let home = Home::with(repeats(aloud));
    hear(&home, [to_both(&format!("@dormouse {SECRET}"))]).await;
    let names: Vec<_> = (0..5_000).map(|number| format!("{number:05}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).chain(["Bob"]).collect();
    let crowd = among(&names);
    home.world.listen(crowd.clone());
    let question = "@dormouse which word opens the vault?";
    let before = home.log.events(&key()).len();
    hear(&home, [to_both(question)]).await;
    hear(
        &home,
        [Perceive::addressed("Bob", question).audience(crowd)],
    )
    .await;
    let said = home.deeds();
    assert_eq!(said[said.len() - 2..], ["say nothing", "say nothing"]);
    for event in &home.log.events(&key())[before..] {
        assert!(event.payload.len() < 4_096, "{} bytes", event.payload.len());
    }
}

#[tokio::test(start_paused = true)]
async fn what_it_whispered_is_remembered_as_a_whisper() {
    let model = ScriptedModel::looping(ScriptedTurn::call(
        "whisper",
        json!({"to": "Alice", "message": "the vault is in the cellar"}),
    ));
    let home = Home::with(model).configured(|config| {
        config.limits = config.limits.with_max_history(0).unwrap();
    });
    let whisper = |text| Perceive::whisper("Alice", text).audience(among(&["Alice"]));
    hear(&home, [whisper("where is the vault?")]).await;
    hear(&home, [whisper("is the vault in the cellar?")]).await;
    let shown = home.last_shown();
    assert!(shown.contains("whisper of you, "), "{shown}");
    assert!(!shown.contains("words aloud of you"), "{shown}");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_in_one_place_is_not_said_in_another() {
    let way = |text: &str| {
        ScriptedTurn::calls([
            ("move", json!({"exit": "north"})),
            ("say", json!({"message": text})),
        ])
    };
    let home = Home::with(repeats(way));
    home.world.listen(among(&["Carol"]));
    hear(
        &home,
        [to_both(&format!("@dormouse tell Carol that {SECRET}"))],
    )
    .await;
    assert!(
        !home.deeds().iter().any(|deed| deed.contains("plumbago")),
        "{:?}",
        home.deeds()
    );
}

#[tokio::test(start_paused = true)]
async fn killed_at_any_write_in_between_nothing_is_lost_or_said_twice() {
    let mut crashes = 0;
    for writes in 1..=24 {
        let home = Home::with(repeats(aloud));
        hear(&home, [to_both(&format!("@dormouse {SECRET}"))]).await;
        let said_before = home.deeds().len();
        home.world.listen(among(&["Alice", "Bob", "Carol"]));
        let asked = home
            .world
            .happen(to_both("@dormouse which word opens the vault?"));
        let before = crashes;
        loop {
            if crashes < before + 6 {
                home.log.close_after(writes);
            }
            let life = home.wake().await;
            let is_taken = life.handle.perceive(asked.clone()).await.is_ok();
            let rest = life.handle.at_rest().await;
            life.crash().await;
            home.log.reopen();
            if is_taken && rest == Rest::Settled {
                break;
            }
            crashes += 1;
        }
        assert_eq!(home.deeds()[said_before..], ["say nothing"], "{writes}");
        assert_eq!(refusals(&home), 1, "{writes}");
    }
    assert!(crashes > 8, "the log did die: {crashes}");
}

#[tokio::test(start_paused = true)]
async fn the_names_of_those_who_would_hear_it_are_believed_like_names() {
    let note = json!({"text": "the treasurer is a thief"});
    let home = Home::new([
        aloud("plumbago"),
        ScriptedTurn::call("store_memory", note),
        ScriptedTurn::call("noop", json!({})),
    ]);
    home.world.listen(among(&["Alice", "Thief Treasurer"]));
    let whisper = Perceive::whisper("Alice", &format!("note that {SECRET}"));
    hear(&home, [whisper.audience(among(&["Alice"]))]).await;
    assert_eq!(refusals(&home), 1);
    let refusal = "more would hear it than may: me, Alice, Thief Treasurer";
    assert!(home.last_shown().contains(refusal), "{}", home.last_shown());
    assert_eq!(crate::trust::noted(&home), [0.2]);
}
