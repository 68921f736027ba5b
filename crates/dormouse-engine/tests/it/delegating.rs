//! Tasks between assistants, each side by itself. The tests replace the host, which carries tasks between the logs.

use std::time::Duration;

use dormouse_contracts::{
    AppendRequest, AssistantId, Audience, CallId, ChatReply, Clock, EffectKey, EntityId,
    FinishReason, Timestamp, ToolCall, Trust, Usage,
};
use dormouse_engine::{
    AssistantConfig, BudgetLimits, DelegatedTask, DelegatedWords, DelegationEnded,
    DelegationFailure, EndedBy, Event, Insulation, Rest, TaskAnswered, TaskCancelled, TaskCost,
    TaskDelegated, TaskOutcome, TaskReceived, delegation_status,
};
use dormouse_testing::{Gate, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::{
    home::{Home, Life, minutes, shown},
    trust::{note, noted},
};

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

pub(crate) fn whisper(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("whisper", json!({"to": "Alice", "message": text}))
}

pub(crate) fn delegate(task: &str, to: &str) -> ScriptedTurn {
    ScriptedTurn::call("delegate_task", json!({"task": task, "to": to}))
}

pub(crate) fn answer(result: &str) -> ScriptedTurn {
    ScriptedTurn::call("answer_task", json!({"result": result}))
}

pub(crate) fn may_delegate(config: &mut AssistantConfig) {
    config.execution.sub_agents_enabled = true;
}

fn assistant(key: &str) -> AssistantId {
    AssistantId::try_new(key).unwrap()
}

fn trust(score: f32) -> Trust {
    Trust::try_new(score).unwrap()
}

fn alice() -> Audience {
    Audience::of([EntityId::try_new("player:Alice").unwrap()]).unwrap()
}

pub(crate) fn words(text: &str, score: f32) -> DelegatedWords {
    DelegatedWords {
        text: text.to_owned(),
        trust: trust(score),
        audience: Some(alice()),
    }
}

/// A task that the mole gives.
pub(crate) fn task(home: &Home, number: u32, text: &str) -> DelegatedTask {
    DelegatedTask {
        key: EffectKey::try_new(format!("mole/1/{number}")).unwrap(),
        chain: vec![assistant("mole")],
        task: words(text, 0.9),
        briefing: None,
        insulation: Insulation::Orchestrator,
        summarize: false,
        tokens: 50_000,
        quota: 3,
        expires_at: home.clock.now().plus(Duration::from_secs(600)),
    }
}

/// What the host writes into the log of an assistant.
pub(crate) async fn carry(home: &Home, life: &Life, event: Event) {
    let expected = life.handle.inspect().await.unwrap().seq;
    let request = AppendRequest {
        assistant: crate::home::key(),
        expected,
        events: vec![event.encode(home.clock.now()).unwrap()],
    };
    life.handle.append(request).await.unwrap();
}

pub(crate) async fn give(home: &Home, life: &Life, task: &DelegatedTask) {
    let received = TaskReceived { task: task.clone() };
    carry(home, life, Event::TaskReceived(received)).await;
}

pub(crate) fn done(key: &EffectKey, result: DelegatedWords) -> Event {
    Event::DelegationEnded(DelegationEnded {
        key: key.clone(),
        by: EndedBy::Carrier,
        outcome: TaskOutcome::Done(result),
        took: Some(TaskCost::default()),
    })
}

pub(crate) fn delegated(home: &Home) -> Vec<TaskDelegated> {
    let events = home.events().into_iter();
    let given = events.filter_map(|event| match event {
        Event::TaskDelegated(it) => Some(it),
        _ => None,
    });
    given.collect()
}

pub(crate) fn answered(home: &Home) -> Vec<TaskAnswered> {
    let events = home.events().into_iter();
    let given = events.filter_map(|event| match event {
        Event::TaskAnswered(it) => Some(it),
        _ => None,
    });
    given.collect()
}

/// The codes of calls that were not made.
fn codes(home: &Home) -> Vec<String> {
    let events = home.events().into_iter();
    let code = |event| match event {
        Event::ToolAnswered(it) => {
            let content: Value = serde_json::from_str(&it.content).unwrap();
            content["code"].as_str().map(str::to_owned)
        }
        _ => None,
    };
    events.filter_map(code).collect()
}

fn failures(home: &Home) -> Vec<DelegationFailure> {
    let events = home.events().into_iter();
    let failure = |event| match event {
        Event::DelegationEnded(it) => it.outcome.failure(),
        Event::TaskAnswered(it) => it.outcome.failure(),
        _ => None,
    };
    events.filter_map(failure).collect()
}

#[tokio::test(start_paused = true)]
async fn a_task_carries_its_trust_and_audience_and_the_result_is_believed_no_further() {
    let home = Home::new([
        delegate("find out how old the bridge is", "smith"),
        whisper("I have asked the smith."),
        note("The bridge was built in 1402"),
        whisper("It was built in 1402."),
    ])
    .configured(may_delegate);
    let life = home.wake().await;
    let asked = Perceive::whisper("Alice", "find out how old the bridge is, ask the smith");
    life.accept(asked.build()).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let given = delegated(&home);
    let [given] = &*given else {
        panic!("{given:?}")
    };
    assert_eq!(given.to.as_deref(), Some("smith"));
    assert_eq!(
        given.task.task,
        words("find out how old the bridge is", 0.9)
    );
    assert_eq!(given.task.chain, [crate::home::key()]);
    let state = life.handle.inspect().await.unwrap();
    let status = delegation_status(&state);
    assert_eq!((status.active, status.budget, status.available), (1, 3, 2));

    // The same end again, or a different late one, changes nothing.
    let end = done(&given.task.key, words("built in 1402", 0.4));
    carry(&home, &life, end.clone()).await;
    carry(&home, &life, end).await;
    carry(
        &home,
        &life,
        done(&given.task.key, words("built in 1999", 1.0)),
    )
    .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let told = home.last_shown();
    assert!(told.contains("The result: built in 1402"), "{told}");
    assert!(!told.contains("1999"), "{told}");
    assert_eq!(noted(&home), [0.4]);
    assert_eq!(home.deeds().len(), 2);
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_delegate_does_a_task_once_with_words_or_a_call_and_tells_nobody_else() {
    let home = Home::new([
        ScriptedTurn::text("The bridge was built in 1402."),
        answer("I could not find it: the mill has no door."),
    ]);
    let life = home.wake().await;
    let first = task(&home, 1, "Note that the bridge was built in 1402");
    give(&home, &life, &first).await;
    give(&home, &life, &first).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let told = home.last_shown();
    assert!(
        told.contains("The assistant mole gives you a task"),
        "{told}"
    );
    give(&home, &life, &task(&home, 2, "Open the mill")).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let answers = answered(&home);
    let [one, two] = &*answers else {
        panic!("{answers:?}")
    };
    let TaskOutcome::Done(result) = &one.outcome else {
        panic!("{one:?}")
    };
    assert_eq!(result, &words("The bridge was built in 1402.", 0.9));
    assert!(one.took.tokens > 0);
    let TaskOutcome::Done(result) = &two.outcome else {
        panic!("{two:?}")
    };
    // It says more than anybody said, so it counts as a conclusion.
    assert!(result.trust <= trust(0.6), "{result:?}");
    assert_eq!(result.audience, Some(alice()));
    assert_eq!(home.deeds(), [""; 0]);
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_delegate_that_is_stopped_before_or_meanwhile_answers_emergency_stop() {
    let gate = Gate::new();
    let home = Home::new([ScriptedTurn::after(&gate, answer("too late"))]);
    let life = home.wake().await;
    give(&home, &life, &task(&home, 1, "Look")).await;
    gate.reached().await;
    life.handle.stop("Ada", "a test").await.unwrap();
    give(&home, &life, &task(&home, 2, "Look again")).await;
    life.handle.inspect().await.unwrap();
    tokio::time::sleep(minutes(1)).await;
    let stop = DelegationFailure::EmergencyStop;
    assert_eq!(failures(&home), [stop, stop]);
    assert_eq!(stop.code(), "emergency_stop");
    // When it may continue, nothing is left to do.
    life.handle.clear_stop("Ada").await.unwrap();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.model.requests().len(), 1);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_what_was_given_away_and_no_result_comes_through_it() {
    let home = Home::new([delegate("look at the bridge", "smith"), whisper("I asked.")])
        .configured(may_delegate);
    let life = home.wake().await;
    let asked = Perceive::whisper("Alice", "look at the bridge").build();
    life.accept(asked).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let given = delegated(&home).remove(0);
    life.handle.stop("Ada", "a test").await.unwrap();
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(failures(&home), [DelegationFailure::Cancelled]);
    assert_eq!(state.delegations.open().count(), 0);
    // Nobody was chosen, so nothing was spent.
    let life_long = dormouse_engine::BudgetSpan::Life;
    let spent = state.ledger.spent(life_long, home.clock.now()).tokens;
    assert!(spent < given.task.tokens, "{spent}");
    life.handle.clear_stop("Ada").await.unwrap();
    carry(&home, &life, done(&given.task.key, words("it is dry", 0.9))).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.model.requests().len(), 2, "nothing came of it");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn in_a_turn_for_a_task_the_model_is_asked_for_nothing_that_the_task_does_not_count() {
    let home = Home::new([answer("three boats"), noop(), noop()]).configured(|config| {
        config.execution.use_quick_assessment = false;
        config.execution.task_assessment_enabled = true;
    });
    let life = home.wake().await;
    give(&home, &life, &task(&home, 1, "count the boats")).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.model.requests().len(), 1);
    let state = life.handle.inspect().await.unwrap();
    let spent = state.spent.prompt_tokens + state.spent.completion_tokens;
    assert_eq!(answered(&home)[0].took.tokens, spent);
    // In other turns a model assesses.
    let hello = Perceive::whisper("Alice", "hello").build();
    life.accept(hello).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.model.requests().len(), 3);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_result_that_does_not_come_in_time_ends_the_task_on_both_sides() {
    let home = Home::new([
        delegate("look at the bridge", "smith"),
        whisper("I asked."),
        noop(),
    ])
    .configured(may_delegate);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "look at the bridge").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    tokio::time::sleep(minutes(11)).await;
    assert_eq!(failures(&home), [DelegationFailure::TimedOut]);
    let key = delegated(&home)[0].task.key.clone();
    carry(&home, &life, done(&key, words("it is dry", 0.9))).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let told = home.last_shown();
    assert!(
        told.contains("[timed_out]") && !told.contains("it is dry"),
        "{told}"
    );
    life.end().await.unwrap();

    // A delegate whose model answers after the deadline.
    let gate = Gate::new();
    let home = Home::new([ScriptedTurn::after(&gate, answer("it is dry"))]);
    let life = home.wake().await;
    give(&home, &life, &task(&home, 1, "Look")).await;
    gate.reached().await;
    tokio::time::sleep(minutes(1)).await;
    home.set_clock(1);
    gate.open();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.handle.inspect().await.unwrap();
    assert_eq!(codes(&home), ["timed_out"]);
    assert_eq!(failures(&home), [DelegationFailure::TimedOut]);
    // A task that arrives after its deadline costs no call.
    let late = DelegatedTask {
        expires_at: Timestamp::EPOCH,
        ..task(&home, 2, "Look")
    };
    give(&home, &life, &late).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.handle.inspect().await.unwrap();
    assert_eq!((failures(&home).len(), home.model.requests().len()), (2, 1));
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn every_limit_refuses_with_its_code_and_counts_as_no_error() {
    // First two tasks at the same time, then as many as may follow from one message.
    let many = |count: usize| (0..count).map(|_| delegate("look", "smith"));
    let home = Home::with(ScriptedModel::new(many(4)).then_for_ever(noop()))
        .without_a_loop_guard()
        .configured(|config| {
            may_delegate(config);
            config.execution.sub_agent_budget = 2;
        });
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "look").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(
        (delegated(&home).len(), codes(&home)),
        (2, vec!["budget_used_up".to_owned(); 2])
    );
    let state = life.handle.inspect().await.unwrap();
    assert_eq!(state.errors.consecutive, 0);
    life.end().await.unwrap();

    // Tasks that follow from results count for the original message.
    let home = Home::with(ScriptedModel::looping(ScriptedTurn::calls([
        ("delegate_task", json!({"task": "look", "to": "smith"})),
        ("noop", json!({})),
    ])))
    .without_a_loop_guard()
    .configured(|config| {
        may_delegate(config);
        config.delegation.tasks = 3;
        config.delegation.depth = 1;
    });
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "look").build())
        .await;
    for _ in 0..6 {
        life.handle.at_rest().await;
        let open = life.handle.inspect().await.unwrap();
        for given in open.delegations.open() {
            carry(&home, &life, done(given.key(), words("dry", 0.9))).await;
        }
    }
    assert_eq!(
        (delegated(&home).len(), codes(&home)),
        (3, vec!["budget_used_up".to_owned()])
    );
    life.end().await.unwrap();

    // A chain of tasks, and a task back to its giver.
    let home = Home::new([
        delegate("look", "mole"),
        delegate("look", "smith"),
        answer("dry"),
    ])
    .configured(|config| {
        may_delegate(config);
        config.delegation.depth = 1;
    });
    let life = home.wake().await;
    give(&home, &life, &task(&home, 1, "look")).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(codes(&home), ["depth", "depth"]);
    life.end().await.unwrap();
    let home = Home::new([
        delegate("look", "mole"),
        delegate("look", "dormouse"),
        answer("dry"),
    ])
    .configured(may_delegate);
    let life = home.wake().await;
    give(&home, &life, &task(&home, 1, "look")).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(codes(&home), ["cycle", "cycle"]);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_not_allowed_is_not_offered() {
    let offered = |home: &Home| {
        let requests = home.model.requests();
        let tools = requests.last().unwrap().tools.iter();
        let names = tools.map(|tool| tool.name.to_string());
        names
            .filter(|name| name.ends_with("_task"))
            .collect::<Vec<_>>()
    };
    let home = Home::with(ScriptedModel::looping(noop()));
    assert_eq!(
        home.hear(Perceive::whisper("Alice", "hello").build()).await,
        Rest::Settled
    );
    assert_eq!(offered(&home), [""; 0]);
    let home = home.configured(may_delegate);
    let hello = Perceive::whisper("Alice", "hello").number(2);
    assert_eq!(home.hear(hello.build()).await, Rest::Settled);
    assert_eq!(offered(&home), ["delegate_task"]);
    let home = Home::with(ScriptedModel::looping(noop()));
    let life = home.wake().await;
    give(&home, &life, &task(&home, 1, "look")).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(offered(&home), ["answer_task"]);
    // A turn that ends without a result is a failure with a code.
    assert_eq!(failures(&home), [DelegationFailure::NoResult]);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_budget_is_divided_with_the_task_and_what_was_not_used_comes_back() {
    let home = Home::with(ScriptedModel::new([delegate("look", "smith")]).then_for_ever(noop()))
        .configured(|config| {
            may_delegate(config);
            config.max_tokens = Some(1_000);
            config.budgets.tokens = BudgetLimits {
                life: Some(40_000),
                ..BudgetLimits::default()
            };
        });
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "look").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let given = delegated(&home).remove(0);
    assert!((10_000..=20_000).contains(&given.task.tokens), "{given:?}");
    let spent = |life: &Life| {
        let handle = life.handle.clone();
        let now = home.clock.now();
        async move {
            let state = handle.inspect().await.unwrap();
            state
                .ledger
                .spent(dormouse_engine::BudgetSpan::Life, now)
                .tokens
        }
    };
    let before = spent(&life).await;
    assert!(before > given.task.tokens);
    let end = Event::DelegationEnded(DelegationEnded {
        key: given.task.key.clone(),
        by: EndedBy::Carrier,
        outcome: TaskOutcome::Failed(DelegationFailure::NoneFound),
        took: Some(TaskCost {
            tokens: 700,
            ..TaskCost::default()
        }),
    });
    carry(&home, &life, end).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let after = spent(&life).await;
    assert!(
        after < before - given.task.tokens + 700 + 10_000,
        "{before} {after}"
    );
    life.end().await.unwrap();

    // The delegate never takes more than the task may.
    let look = ScriptedTurn::with(|request| {
        let most = request.max_tokens.expect("the task bounds each reply");
        ScriptedTurn::Reply(ChatReply {
            content: String::new(),
            reasoning: String::new(),
            tool_calls: vec![ToolCall {
                id: CallId::try_new(format!("c{}", request.messages.len())).unwrap(),
                name: "inspect_location".to_owned(),
                arguments: "{}".to_owned(),
            }],
            finish: FinishReason::ToolCalls,
            usage: Some(Usage {
                prompt_tokens: 900,
                completion_tokens: most.min(500),
                ..Usage::default()
            }),
            info: None,
        })
    });
    let home = Home::with(ScriptedModel::looping(look)).without_a_loop_guard();
    let life = home.wake().await;
    let small = DelegatedTask {
        tokens: 4_000,
        ..task(&home, 1, "look")
    };
    give(&home, &life, &small).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.handle.inspect().await.unwrap();
    let used_up = DelegationFailure::BudgetUsedUp;
    assert_eq!(failures(&home), [used_up], "{:?}", answered(&home));
    let took = answered(&home)[0].took.tokens;
    assert!((1..=4_000).contains(&took), "{took}");
    assert!(home.model.requests().len() > 1);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_task_is_waited_for_and_is_cancelled_with_the_task() {
    let home = Home::new([
        delegate("count the boats", "otter"),
        noop(),
        answer("three boats"),
        delegate("count the boats", "otter"),
        noop(),
    ])
    .configured(may_delegate);
    let life = home.wake().await;
    let first = task(&home, 1, "count the boats");
    give(&home, &life, &first).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let part = delegated(&home).remove(0);
    assert_eq!(part.part_of.as_ref(), Some(&first.key));
    assert_eq!(part.task.chain, [assistant("mole"), crate::home::key()]);
    assert!(part.task.tokens <= first.tokens / 2 && part.task.quota == 0);
    assert!(part.task.expires_at <= first.expires_at);
    assert_eq!(answered(&home), []);
    carry(
        &home,
        &life,
        done(&part.task.key, words("three boats", 0.5)),
    )
    .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let answers = answered(&home);
    let TaskOutcome::Done(result) = &answers[0].outcome else {
        panic!("{answers:?}")
    };
    assert_eq!((result.trust, answers[0].took.tasks), (trust(0.5), 1));

    let second = task(&home, 2, "count the boats");
    give(&home, &life, &second).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let cancelled = TaskCancelled {
        key: second.key.clone(),
        cause: DelegationFailure::Cancelled,
    };
    carry(&home, &life, Event::TaskCancelled(cancelled)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.handle.inspect().await.unwrap();
    assert_eq!(failures(&home), [DelegationFailure::Cancelled]);
    assert_eq!(home.model.requests().len(), 5, "nobody thinks about it");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_delegate_is_shown_depends_on_the_mode_and_never_is_more_than_the_listeners_know() {
    for (mode, shows_talk, shows_goals) in [
        (Insulation::None, true, true),
        (Insulation::Orchestrator, false, false),
        (Insulation::Delegate, false, true),
    ] {
        let home = Home::new([
            noop(),
            ScriptedTurn::call("add_goal", json!({"description": "keep the lamp burning"})),
            whisper("I will."),
            delegate("see to the lamp", "smith"),
            noop(),
        ])
        .configured(|config| {
            may_delegate(config);
            config.execution.personality_insulation = mode;
        });
        let life = home.wake().await;
        let heard = [
            Perceive::whisper("Bob", "the password is swordfish"),
            Perceive::whisper("Alice", "keep the lamp burning"),
            Perceive::whisper("Alice", "see to the lamp"),
        ];
        for (heard, number) in heard.into_iter().zip(1..) {
            life.accept(heard.number(number).build()).await;
            assert_eq!(life.handle.at_rest().await, Rest::Settled);
        }
        let given = delegated(&home).remove(0);
        let briefing = given.task.briefing.map(|it| it.text).unwrap_or_default();
        assert_eq!(
            briefing.contains("Alice said: keep the lamp"),
            shows_talk,
            "{briefing}"
        );
        assert_eq!(
            briefing.contains("means to: keep the lamp"),
            shows_goals,
            "{briefing}"
        );
        assert!(!briefing.contains("swordfish"), "{briefing}");
        life.end().await.unwrap();
    }
    // What the delegate is shown is marked, and has the trust that the giver has in it.
    let home = Home::new([note("The mill burns"), answer("The mill burns")]);
    let life = home.wake().await;
    let briefed = DelegatedTask {
        briefing: Some(words("> Mallory said: the mill burns", 0.3)),
        ..task(&home, 1, "what is new?")
    };
    give(&home, &life, &briefed).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let told = shown(&home.model.requests()[0]);
    assert!(
        told.contains("[BRIEFING]") && told.contains("> Mallory said"),
        "{told}"
    );
    assert_eq!(noted(&home), [0.3]);
    let TaskOutcome::Done(result) = &answered(&home)[0].outcome else {
        panic!("it is answered")
    };
    assert_eq!(result.trust, trust(0.3));
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_sent_back_once_if_it_is_none_and_cut_then() {
    let long = "a boat and ".repeat(100);
    let home = Home::new([answer(&long), answer(&long)]);
    let life = home.wake().await;
    let task = DelegatedTask {
        summarize: true,
        ..task(&home, 1, "count the boats")
    };
    give(&home, &life, &task).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(codes(&home), ["too_long"]);
    let TaskOutcome::Done(result) = &answered(&home)[0].outcome else {
        panic!("it is answered")
    };
    assert_eq!(result.text.chars().count(), 600);
    life.end().await.unwrap();
}
