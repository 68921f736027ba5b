//! Dangerous acts that a person confirms: the confirmation holds for exactly this act, once, and expires.

use dormouse_contracts::{EntityId, Origin, Seq, Timestamp};
use dormouse_engine::{
    ApprovalAnswer, ApprovalAnswered, ApprovalError, ApprovalRule, Event, Rest, Selection,
    StopReason,
};
use dormouse_testing::{Behaviour, Perceive, ScriptedTurn};
use serde_json::{Value, json};

use crate::{
    forgetting::without,
    home::{Home, Life, key, minutes, shown},
};

fn detonate(arguments: Value) -> ScriptedTurn {
    ScriptedTurn::call("detonate", arguments)
}

fn bridge() -> ScriptedTurn {
    detonate(json!({"thing": "bridge"}))
}

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("whisper", json!({"to": "Alice", "message": text}))
}

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

/// Alice asks for the bridge to be blown up, and a person has to confirm that.
async fn asked(turns: impl IntoIterator<Item = ScriptedTurn>) -> (Home, Life, Seq) {
    let begin = [bridge(), say("I have to ask.")];
    let home = Home::new(begin.into_iter().chain(turns)).configured(|config| {
        config.approval = ApprovalRule::Required;
    });
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "blow up the bridge").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let state = life.handle.inspect().await.unwrap();
    let waiting: Vec<_> = state.approvals.waiting(now(&home)).collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].act(), r#"detonate {"thing":"bridge"}"#);
    assert_eq!(life.handle.status().approvals, 1);
    assert_eq!(home.deeds(), ["whisper I have to ask."]);
    let number = waiting[0].seq;
    (home, life, number)
}

fn now(home: &Home) -> Timestamp {
    dormouse_contracts::Clock::now(&*home.clock)
}

async fn answer(life: &Life, number: Seq, answer: ApprovalAnswer) -> Result<(), ApprovalError> {
    life.handle
        .answer_approval(ApprovalAnswered {
            approval: number,
            answer,
            by: "Carol".to_owned(),
            reason: Some("the dam holds".to_owned()),
        })
        .await
}

/// How often the dangerous act was done.
fn done(home: &Home) -> usize {
    let deeds = home.deeds();
    deeds
        .iter()
        .filter(|deed| deed.starts_with("detonate"))
        .count()
}

#[tokio::test(start_paused = true)]
async fn an_act_that_was_confirmed_is_done_once_and_the_next_one_is_asked_for_again() {
    // The first call of each turn is deferred, because the prompt shows the previous turn, whose results have low
    // trust.
    let again = [bridge(), bridge(), noop()];
    let (home, life, number) = asked([bridge(), bridge()].into_iter().chain(again)).await;
    let unnamed = ApprovalAnswered {
        approval: number,
        answer: ApprovalAnswer::Allowed,
        by: " ".to_owned(),
        reason: None,
    };
    let refused = life.handle.answer_approval(unnamed).await;
    assert_eq!(refused, Err(ApprovalError::Unnamed));
    answer(&life, number, ApprovalAnswer::Allowed)
        .await
        .unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(done(&home), 1);
    let told = home.last_shown();
    assert!(
        told.contains(r#"Carol confirmed what you wanted to do: detonate {"thing":"bridge"}. The reason: the dam holds"#),
        "{told}"
    );
    let twice = answer(&life, number, ApprovalAnswer::Allowed).await;
    assert_eq!(twice, Err(ApprovalError::NotWaiting(number)));

    life.accept(Perceive::whisper("Alice", "and again").number(2).build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(done(&home), 1, "an approval is used once");
    let asked = home.events().into_iter();
    let asked = asked.filter(|event| matches!(event, Event::ApprovalRequested(_)));
    assert_eq!(asked.count(), 2);
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn other_arguments_than_those_that_were_confirmed_do_not_match() {
    let other = || detonate(json!({"thing": "dam"}));
    let (home, life, number) = asked([other(), other(), noop()]).await;
    answer(&life, number, ApprovalAnswer::Allowed)
        .await
        .unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(done(&home), 0);
    assert_eq!(life.handle.status().approvals, 1, "the other act waits");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_or_is_too_old_is_not_done() {
    let (home, life, number) = asked([bridge(), bridge(), noop()]).await;
    answer(&life, number, ApprovalAnswer::Denied).await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let requests = home.model.requests();
    assert!(shown(&requests[2]).contains("Carol refused what you wanted to do"));
    assert_eq!(done(&home), 0);
    life.end().await.unwrap();

    let (home, life, number) = asked([]).await;
    tokio::time::sleep(minutes(24 * 60)).await;
    let late = answer(&life, number, ApprovalAnswer::Allowed).await;
    assert_eq!(late, Err(ApprovalError::NotWaiting(number)));
    assert_eq!((done(&home), life.handle.status().approvals), (0, 0));
    life.end().await.unwrap();

    // The act is confirmed in time, but not done in time.
    let gate = dormouse_testing::Gate::new();
    let (home, life, number) =
        asked([ScriptedTurn::after(&gate, bridge()), bridge(), noop()]).await;
    answer(&life, number, ApprovalAnswer::Allowed)
        .await
        .unwrap();
    home.set_clock(24);
    gate.open();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(done(&home), 0);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_approval_outlives_every_kill_and_is_used_at_most_once() {
    for behaviour in [Behaviour::Do, Behaviour::DoneButHangs, Behaviour::Hang] {
        let (home, life, number) = asked([bridge(), bridge(), noop(), noop()]).await;
        life.crash().await;
        let life = home.wake().await;
        home.world.then(behaviour);
        answer(&life, number, ApprovalAnswer::Allowed)
            .await
            .unwrap();
        life.crash().await;
        let life = home.wake().await;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        life.crash().await;
        let life = home.wake().await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        life.end().await.unwrap();
        assert_eq!(done(&home), 1, "{:?}", home.deeds());
        assert_eq!(home.world.reused_keys(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_setting_trust_alone_decides() {
    let home = Home::new([bridge()]);
    home.hear(Perceive::whisper("Alice", "blow up the bridge").build())
        .await;
    assert_eq!(
        (done(&home), home.stops()),
        (1, vec![StopReason::DangerousTool])
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_else_learns_by_an_approval_what_was_asked_for_in_private() {
    let (_home, life, number) = asked([say("It is done."), noop()]).await;
    life.accept(Perceive::say("Bob", "nice weather").number(2).build())
        .await;
    answer(&life, number, ApprovalAnswer::Denied).await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let state = life.handle.inspect().await.unwrap();
    let last = state.history.turns().next_back().unwrap();
    let step = last.steps.first().unwrap();
    let within = step.within.as_ref().unwrap();
    assert!(
        within.includes(&EntityId::try_new("player:Alice").unwrap()) == Some(true),
        "{within:?}"
    );
    assert!(
        within.includes(&EntityId::try_new("player:Bob").unwrap()) == Some(false),
        "{within:?}"
    );
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_for_is_forgotten_with_the_message_that_asked_and_cannot_be_confirmed_any_more()
 {
    let (mut home, life, number) = asked([noop()]).await;
    life.end().await.unwrap();
    let stored = home.log.events(&key());
    let heard = stored.iter().find(|stored| stored.kind == "perceived");
    let record = Origin::event(heard.unwrap().seq);
    let asked = stored.iter().find(|it| it.kind == "approval_requested");
    let asked = String::from_utf8_lossy(&asked.unwrap().payload).into_owned();
    assert!(asked.contains("bridge"), "{asked}");

    home.log = without(&home.log, Selection::Record(record)).await.0;
    home.lose_memory();
    for stored in home.log.events(&key()) {
        let payload = String::from_utf8_lossy(&stored.payload).into_owned();
        assert!(!payload.contains("bridge"), "{} {payload}", stored.kind);
    }
    let life = home.wake().await;
    let refused = answer(&life, number, ApprovalAnswer::Allowed).await;
    assert_eq!(refused, Err(ApprovalError::NotWaiting(number)));
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(done(&home), 0);
    life.end().await.unwrap();
}
