use std::{sync::Arc, time::Duration};

use dormouse_contracts::{
    FinishReason, Message, ModelErrorKind, RateLimits, ReplyInfo, Usage, complete,
};
use dormouse_resilience::{BreakerPolicy, Guard};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use proptest::prelude::*;

use super::*;

const COOLDOWN: Duration = Duration::from_secs(30);

fn asking(purpose: Purpose) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "Tea?".to_owned(),
        }],
        purpose,
        ..ChatRequest::default()
    }
}

fn guarded(script: &ScriptedModel) -> GuardedModel {
    GuardedModel::new(Arc::new(script.clone()), Guard::builder("tea").build())
}

fn failing(kind: ModelErrorKind, times: usize) -> impl Iterator<Item = ScriptedTurn> {
    std::iter::repeat_with(move || ScriptedTurn::Fail(kind)).take(times)
}

/// A first model with these turns, and a second that always answers.
struct Pair {
    first: ScriptedModel,
    second: ScriptedModel,
    model: FailoverModel,
    switches: Arc<Mutex<Vec<String>>>,
}

impl Pair {
    fn new(turns: impl IntoIterator<Item = ScriptedTurn>, heartbeats: Heartbeats) -> Self {
        let first = ScriptedModel::new(turns).then_for_ever(ScriptedTurn::text("first"));
        let second = ScriptedModel::looping(ScriptedTurn::text("second"));
        let switches = Arc::new(Mutex::new(Vec::new()));
        let seen = switches.clone();
        let route = Route::of(guarded(&first)).then(guarded(&second));
        let model = FailoverModel::builder(route)
            .heartbeats(heartbeats)
            .on_switch(move |switch| seen.lock().unwrap().push(switch.to_string()))
            .build();
        Self {
            first,
            second,
            model,
            switches,
        }
    }

    async fn ask(&self, purpose: Purpose) -> Result<String, ModelErrorKind> {
        let reply = complete(&self.model, &asking(purpose)).await;
        reply.map(|reply| reply.content).map_err(|e| e.kind())
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_model_answers_while_the_first_is_rate_limited() {
    for pause in [None, Some(Duration::ZERO), Some(Duration::from_secs(3))] {
        let limited = ModelErrorKind::RateLimited(pause);
        let pair = Pair::new(failing(limited, 20), Heartbeats::default());
        for _ in 0..20 {
            assert_eq!(pair.ask(Purpose::Answer).await.as_deref(), Ok("second"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn failover_starts_when_the_breaker_opens_and_ends_when_the_first_model_recovers() {
    let pair = Pair::new(
        failing(ModelErrorKind::Unavailable, 5),
        Heartbeats::default(),
    );
    for _ in 0..4 {
        let failed = pair.ask(Purpose::Answer).await;
        assert_eq!(
            failed,
            Err(ModelErrorKind::Unavailable),
            "the caller's to repeat"
        );
    }
    assert_eq!(pair.second.requests().len(), 0);
    assert_eq!(
        pair.ask(Purpose::Answer).await.as_deref(),
        Ok("second"),
        "the fifth opens it"
    );
    assert_eq!(pair.ask(Purpose::Answer).await.as_deref(), Ok("second"));
    assert_eq!(pair.first.requests().len(), 5, "it is left alone");
    tokio::time::advance(COOLDOWN).await;
    assert_eq!(pair.ask(Purpose::Answer).await.as_deref(), Ok("first"));
    assert_eq!(
        *pair.switches.lock().unwrap(),
        [
            "answer: scripted:scripted answers in place of scripted:scripted, which failed (TRANSIENT)",
            "answer: scripted:scripted has recovered and answers in place of scripted:scripted",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_heartbeats_only_if_allowed() {
    let pair = Pair::new(failing(ModelErrorKind::Auth, 1), Heartbeats::FirstModelOnly);
    assert_eq!(
        pair.ask(Purpose::Heartbeat).await,
        Err(ModelErrorKind::Auth)
    );
    assert_eq!(
        pair.ask(Purpose::Heartbeat).await,
        Err(ModelErrorKind::Auth)
    );
    assert_eq!(pair.second.requests().len(), 0);
    assert_eq!(pair.ask(Purpose::Answer).await.as_deref(), Ok("second"));
    let pair = Pair::new(failing(ModelErrorKind::Auth, 1), Heartbeats::AnyModel);
    assert_eq!(pair.ask(Purpose::Heartbeat).await.as_deref(), Ok("second"));
}

#[tokio::test(start_paused = true)]
async fn no_model_takes_over_after_the_first_text() {
    let cut_off = || ScriptedTurn::CutOff {
        text: "half".to_owned(),
    };
    let pair = Pair::new(
        std::iter::repeat_with(cut_off).take(5),
        Heartbeats::default(),
    );
    for _ in 0..5 {
        assert_eq!(
            pair.ask(Purpose::Answer).await,
            Err(ModelErrorKind::Interrupted)
        );
    }
    assert_eq!(pair.second.requests().len(), 0);
    assert_eq!(pair.ask(Purpose::Answer).await.as_deref(), Ok("second"));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_request_is_not_sent_to_the_next_model() {
    let pair = Pair::new(
        failing(ModelErrorKind::ContextExceeded, 9),
        Heartbeats::default(),
    );
    for _ in 0..9 {
        assert_eq!(
            pair.ask(Purpose::Answer).await,
            Err(ModelErrorKind::ContextExceeded)
        );
    }
    assert_eq!(pair.second.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn each_purpose_has_its_own_list() {
    let main = ScriptedModel::looping(ScriptedTurn::text("main"));
    let small = ScriptedModel::looping(ScriptedTurn::text("small"));
    let model = FailoverModel::builder(Route::of(guarded(&main)))
        .route(Purpose::Scoring, Route::of(guarded(&small)))
        .build();
    let reply = complete(&model, &asking(Purpose::Scoring)).await.unwrap();
    assert_eq!(reply.content, "small");
    let reply = complete(&model, &asking(Purpose::Compaction))
        .await
        .unwrap();
    assert_eq!(reply.content, "main");
}

#[tokio::test(start_paused = true)]
async fn if_no_model_answers_the_last_failure_is_reported() {
    let first = ScriptedModel::looping(ScriptedTurn::Fail(ModelErrorKind::Auth));
    let second = ScriptedModel::looping(ScriptedTurn::Fail(ModelErrorKind::Unavailable));
    let route = Route::of(guarded(&first)).then(guarded(&second));
    let model = FailoverModel::builder(route).build();
    for _ in 0..3 {
        let error = complete(&model, &asking(Purpose::Answer))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Unavailable);
    }
    assert!(Route::try_new(Vec::new()).is_err());
}

fn info(model: &str) -> ChatDelta {
    ChatDelta::Info(Box::new(ReplyInfo {
        provider: "scripted".parse().unwrap(),
        model: model.parse().unwrap(),
        served_model: None,
        request_id: Some("req-1".to_owned()),
        rate_limits: RateLimits::default(),
        left_out: Vec::new(),
    }))
}

struct Named(ScriptedModel, ModelName);

impl ChatModel for Named {
    fn stream<'a>(&'a self, request: &'a ChatRequest) -> Deltas<'a> {
        self.0.stream(request)
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (self.0.identity().0, &self.1)
    }
}

/// A model with this name whose breaker opens at one failure.
fn named(name: &str, script: ScriptedModel) -> GuardedModel {
    let policy = BreakerPolicy::service();
    let policy = policy.try_with_trip(1, COOLDOWN).unwrap();
    let model = Arc::new(Named(script, name.parse().unwrap()));
    GuardedModel::new(model, Guard::builder(name).breaker(policy).build())
}

#[tokio::test(start_paused = true)]
async fn metadata_of_a_failed_model_is_not_attributed_to_the_next() {
    let usage = Usage {
        prompt_tokens: 9,
        ..Usage::default()
    };
    let overloaded = ScriptedTurn::Raw(vec![
        Ok(info("big")),
        Ok(ChatDelta::Usage(usage)),
        Err(ModelErrorKind::Unavailable),
    ]);
    let silent = ScriptedTurn::Raw(vec![
        Ok(ChatDelta::Text("second".to_owned())),
        Ok(ChatDelta::Finished(FinishReason::Stop)),
    ]);
    let route = Route::of(named("big", ScriptedModel::new([overloaded])));
    let route = route.then(named("small", ScriptedModel::new([silent])));
    let model = FailoverModel::builder(route).build();
    let reply = complete(&model, &asking(Purpose::Answer)).await.unwrap();
    assert_eq!((reply.content.as_str(), reply.usage), ("second", None));
    let info = reply.info.expect("a fallback reports its identity");
    assert_eq!((info.model.as_str(), info.request_id), ("small", None));
}

#[tokio::test(start_paused = true)]
async fn reply_metadata_is_passed_on_once() {
    let shown = ScriptedTurn::Raw(vec![
        Ok(info("small")),
        Ok(ChatDelta::Text("yes".to_owned())),
        Ok(ChatDelta::Finished(FinishReason::Stop)),
    ]);
    let dead = ScriptedTurn::Fail(ModelErrorKind::Unavailable);
    let route = Route::of(named("big", ScriptedModel::new([dead])));
    let route = route.then(named("small", ScriptedModel::new([shown])));
    let model = FailoverModel::builder(route).build();
    let request = asking(Purpose::Answer);
    let deltas: Vec<_> = model.stream(&request).map(Result::unwrap).collect().await;
    let text = ChatDelta::Text("yes".to_owned());
    let finished = ChatDelta::Finished(FinishReason::Stop);
    assert_eq!(deltas, [info("small"), text, finished]);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_key_of_a_fallback_does_not_hide_when_the_first_model_recovers() {
    let first = ScriptedModel::new([ScriptedTurn::Fail(ModelErrorKind::Unavailable)]);
    let second = ScriptedModel::looping(ScriptedTurn::Fail(ModelErrorKind::Auth));
    let route = Route::of(named("big", first)).then(named("small", second));
    let model = FailoverModel::builder(route).build();
    let mut kinds = Vec::new();
    for _ in 0..2 {
        let failed = complete(&model, &asking(Purpose::Answer)).await;
        kinds.push(failed.unwrap_err().kind());
    }
    let not_attempted = ModelErrorKind::NotAttempted(Some(COOLDOWN));
    assert_eq!(kinds, [ModelErrorKind::Unavailable, not_attempted]);
}

#[tokio::test(start_paused = true)]
async fn if_no_model_was_attempted_the_shortest_pause_is_reported() {
    let dead = || ScriptedModel::looping(ScriptedTurn::Fail(ModelErrorKind::Unavailable));
    let route = Route::of(named("big", dead())).then(named("small", dead()));
    let models = route.models().to_vec();
    let model = FailoverModel::builder(route).build();
    complete(&models[0], &asking(Purpose::Answer)).await.ok();
    tokio::time::advance(COOLDOWN / 3).await;
    complete(&models[1], &asking(Purpose::Answer)).await.ok();
    let failed = complete(&model, &asking(Purpose::Answer)).await;
    let soonest = ModelErrorKind::NotAttempted(Some(COOLDOWN * 2 / 3));
    assert_eq!(failed.unwrap_err().kind(), soonest);
}

#[tokio::test(start_paused = true)]
async fn a_switch_names_the_failure_of_the_previous_model() {
    let twice_down = ScriptedModel::new(failing(ModelErrorKind::Unavailable, 2));
    let once_refused = ScriptedModel::new([
        ScriptedTurn::text("b"),
        ScriptedTurn::Fail(ModelErrorKind::Auth),
    ]);
    let switches = Arc::new(Mutex::new(Vec::new()));
    let seen = switches.clone();
    let route = Route::of(named(
        "a",
        twice_down.then_for_ever(ScriptedTurn::text("a")),
    ))
    .then(named(
        "b",
        once_refused.then_for_ever(ScriptedTurn::text("b")),
    ))
    .then(named("c", ScriptedModel::looping(ScriptedTurn::text("c"))));
    let b = route.models()[1].guard().clone();
    let model = FailoverModel::builder(route)
        .on_switch(move |switch| seen.lock().unwrap().push(switch.to_string()))
        .build();
    for _ in 0..2 {
        complete(&model, &asking(Purpose::Answer)).await.unwrap();
    }
    b.configuration_changed();
    for _ in 0..2 {
        complete(&model, &asking(Purpose::Answer)).await.unwrap();
    }
    tokio::time::advance(2 * COOLDOWN).await;
    complete(&model, &asking(Purpose::Answer)).await.unwrap();
    tokio::time::advance(2 * COOLDOWN).await;
    complete(&model, &asking(Purpose::Answer)).await.unwrap();
    assert_eq!(
        *switches.lock().unwrap(),
        [
            "answer: scripted:b answers in place of scripted:a, which failed (TRANSIENT)",
            "answer: scripted:c answers in place of scripted:b, which rejected the key",
            "answer: scripted:b has recovered and answers in place of scripted:c",
            "answer: scripted:a has recovered and answers in place of scripted:b",
        ]
    );
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let pair = Pair::new([], Heartbeats::default());
    dormouse_testing::conformance::chat_model(&pair.model, asking(Purpose::Answer)).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_answering_model_is_always_the_one_of_the_last_switch(
        steps in prop::collection::vec((0_u8..9, 0_u8..9, 0_u64..90), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let scripts = ["a", "b", "c"].map(|name| {
                (name, ScriptedModel::new([]).then_for_ever(ScriptedTurn::text(name)))
            });
            let mut models = scripts.iter().map(|(name, script)| named(name, script.clone()));
            let route = Route::of(models.next().unwrap());
            let route = models.fold(route, Route::then);
            let guards: Vec<_> = route.models().iter().map(|it| it.guard().clone()).collect();
            let switches = Arc::new(Mutex::new(Vec::<ModelSwitch>::new()));
            let seen = switches.clone();
            let model = FailoverModel::builder(route)
                .on_switch(move |switch| seen.lock().unwrap().push(switch.clone()))
                .build();
            let mut in_use = "a".to_owned();
            for (first, second, seconds) in steps {
                for ((name, script), what) in scripts.iter().zip([first, second]) {
                    script.push(match what {
                        0 => ScriptedTurn::Fail(ModelErrorKind::Auth),
                        1 | 2 => ScriptedTurn::Raw(vec![Ok(info(name)), Err(ModelErrorKind::Unavailable)]),
                        3 => ScriptedTurn::CutOff { text: (*name).to_owned() },
                        4 => ScriptedTurn::Raw(vec![
                            Ok(info(name)),
                            Ok(ChatDelta::Text((*name).to_owned())),
                            Ok(ChatDelta::Finished(FinishReason::Stop)),
                        ]),
                        _ => ScriptedTurn::text(*name),
                    });
                }
                let before = switches.lock().unwrap().len();
                let reply = complete(&model, &asking(Purpose::Answer)).await;
                let shown = switches.lock().unwrap()[before..].to_vec();
                assert!(shown.len() <= 1, "one reply, one switch: {shown:?}");
                if let Some(switch) = shown.first() {
                    assert_eq!(switch.from.1.as_str(), in_use);
                    assert_ne!(switch.from, switch.to);
                    assert_eq!(switch.is_return(), switch.to.1 < switch.from.1);
                    in_use = switch.to.1.to_string();
                }
                if let Ok(reply) = reply {
                    assert_eq!(reply.content, in_use);
                    let said = reply.info.map_or("a".to_owned(), |info| info.model.to_string());
                    assert_eq!(said, in_use);
                }
                if seconds == 0 {
                    guards.iter().for_each(Guard::configuration_changed);
                }
                tokio::time::advance(Duration::from_secs(seconds)).await;
            }
        });
    }

    #[test]
    fn a_heartbeat_never_reaches_a_fallback(
        steps in prop::collection::vec((0_u8..5, any::<bool>(), 0_u64..40), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let pair = Pair::new([], Heartbeats::FirstModelOnly);
            for (what, is_heartbeat, seconds) in steps {
                pair.first.push(match what {
                    0 => ScriptedTurn::Fail(ModelErrorKind::Auth),
                    1 | 2 => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
                    3 => ScriptedTurn::CutOff { text: "x".to_owned() },
                    _ => ScriptedTurn::text("first"),
                });
                let before = pair.second.requests().len();
                let purpose = if is_heartbeat { Purpose::Heartbeat } else { Purpose::Answer };
                pair.ask(purpose).await.ok();
                if is_heartbeat {
                    assert_eq!(pair.second.requests().len(), before);
                }
                tokio::time::advance(Duration::from_secs(seconds)).await;
            }
        });
    }
}
