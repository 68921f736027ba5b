use std::time::Duration;

use dormouse_contracts::{
    ChatReply, Message, Purpose, RateLimits, ReplyInfo, Usage, Usd, complete,
};
use dormouse_resilience::{BulkheadPolicy, CircuitState, OpenReason, RateLimit};
use dormouse_testing::{Gate, ScriptedModel, ScriptedTurn};

use futures_util::FutureExt;

use super::*;
use crate::{Cost, PriceTable};

fn request() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "Tea?".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

fn guarded(turns: impl IntoIterator<Item = ScriptedTurn>) -> GuardedModel {
    let model = Arc::new(ScriptedModel::new(turns));
    GuardedModel::new(model, Guard::builder("tea").build())
}

async fn kind(model: &GuardedModel) -> Result<String, ModelErrorKind> {
    let reply = complete(model, &request()).await;
    reply.map(|reply| reply.content).map_err(|e| e.kind())
}

#[tokio::test(start_paused = true)]
async fn after_five_failures_calls_are_not_attempted_until_the_trial() {
    let failures =
        std::iter::repeat_with(|| ScriptedTurn::Fail(ModelErrorKind::Unavailable)).take(5);
    let model =
        guarded(failures.chain([ScriptedTurn::text("Yes."), ScriptedTurn::text("Please.")]));
    for _ in 0..5 {
        assert_eq!(kind(&model).await, Err(ModelErrorKind::Unavailable));
    }
    let half_a_minute = Duration::from_secs(30);
    let not_attempted = ModelErrorKind::NotAttempted(Some(half_a_minute));
    assert_eq!(kind(&model).await, Err(not_attempted), "no request is made");
    tokio::time::advance(half_a_minute).await;
    assert_eq!(kind(&model).await.as_deref(), Ok("Yes."));
    assert_eq!(kind(&model).await.as_deref(), Ok("Please."));
    assert_eq!(model.guard().health().circuit.state, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_before_or_during_a_reply_counts_as_a_failure() {
    let hanging = [
        ScriptedTurn::Hang,
        ScriptedTurn::Stall {
            text: "Y".to_owned(),
        },
    ];
    let model = guarded(hanging).with_deadline(Duration::from_secs(60));
    assert_eq!(kind(&model).await, Err(ModelErrorKind::TimedOut));
    assert_eq!(model.guard().health().circuit.failures, 1);
    assert_eq!(kind(&model).await, Err(ModelErrorKind::TimedOut));
    // The first failure has just left the one-minute window.
    assert_eq!(model.guard().health().circuit.failures, 1);
    assert_eq!(model.guard().health().under_way, 0);
}

#[tokio::test(start_paused = true)]
async fn rejected_credentials_open_the_circuit_at_once_and_stay_auth() {
    let model = guarded([
        ScriptedTurn::Fail(ModelErrorKind::Auth),
        ScriptedTurn::text("Yes."),
    ]);
    assert_eq!(kind(&model).await, Err(ModelErrorKind::Auth));
    assert_eq!(kind(&model).await, Err(ModelErrorKind::Auth));
    let reason = model.guard().health().circuit.reason;
    assert_eq!(reason, Some(OpenReason::Refused));
    model.guard().configuration_changed();
    assert_eq!(kind(&model).await.as_deref(), Ok("Yes."));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_request_does_not_change_the_breaker() {
    let refused = std::iter::repeat_with(|| ScriptedTurn::Fail(ModelErrorKind::Refused)).take(9);
    let model = guarded(refused);
    for _ in 0..9 {
        assert_eq!(kind(&model).await, Err(ModelErrorKind::Refused));
    }
    assert_eq!(model.guard().health().circuit.state, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_does_not_count_as_a_failure() {
    let limited = || ScriptedTurn::Fail(ModelErrorKind::RateLimited(None));
    let limited = std::iter::repeat_with(limited).take(9);
    let model = guarded(limited.chain([ScriptedTurn::text("Yes.")]));
    for _ in 0..9 {
        assert_eq!(kind(&model).await, Err(ModelErrorKind::RateLimited(None)));
    }
    assert_eq!(kind(&model).await.as_deref(), Ok("Yes."));
    assert_eq!(model.guard().health().circuit.failures, 0);
}

#[tokio::test(start_paused = true)]
async fn a_requested_pause_applies_to_every_caller() {
    let pause = Duration::from_secs(20);
    let turns = [
        ScriptedTurn::Fail(ModelErrorKind::RateLimited(Some(pause))),
        ScriptedTurn::text("Yes."),
    ];
    let model = Arc::new(ScriptedModel::new(turns));
    let guard = Guard::builder("tea").rate_limit(RateLimit::reported_only());
    let model = GuardedModel::new(model, guard.build());
    let begun = tokio::time::Instant::now();
    assert!(kind(&model).await.is_err());
    assert_eq!(kind(&model.clone()).await.as_deref(), Ok("Yes."));
    assert!(begun.elapsed() >= pause, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_records_nothing_and_frees_its_permit() {
    let gate = Gate::new();
    let turns = [
        ScriptedTurn::after(&gate, ScriptedTurn::text("late")),
        ScriptedTurn::text("Yes."),
    ];
    let model = Arc::new(ScriptedModel::new(turns));
    let places = BulkheadPolicy::try_new(1, 0).unwrap();
    let guard = Guard::builder("tea").bulkhead(places).build();
    let model = GuardedModel::new(model, guard);
    let request = request();
    let mut first = model.stream(&request);
    assert!(first.next().now_or_never().is_none());
    assert_eq!(kind(&model).await, Err(ModelErrorKind::NotAttempted(None)));
    drop(first);
    assert_eq!(kind(&model).await.as_deref(), Ok("Yes."));
    assert_eq!(model.guard().health().circuit.failures, 0);
}

#[tokio::test(start_paused = true)]
async fn every_reply_that_began_is_in_the_accounts() {
    let cost = Usd::from_dollars(0.25);
    let usage = Usage {
        prompt_tokens: 100,
        completion_tokens: 10,
        cost,
        ..Usage::default()
    };
    let shown = ScriptedTurn::Reply(ChatReply {
        content: "Yes.".to_owned(),
        usage: Some(usage),
        info: Some(Box::new(ReplyInfo {
            provider: "scripted".parse().unwrap(),
            model: "scripted".parse().unwrap(),
            served_model: None,
            request_id: None,
            rate_limits: RateLimits::default(),
            left_out: Vec::new(),
        })),
        ..ChatReply::default()
    });
    let cut_off = ScriptedTurn::CutOff {
        text: "Ye".to_owned(),
    };
    let never = ScriptedTurn::Fail(ModelErrorKind::Unavailable);
    let accounts = Accounts::new(PriceTable::listed());
    let model = guarded([shown, cut_off, never]).with_accounts(accounts.clone());
    for _ in 0..3 {
        kind(&model).await.ok();
    }
    let total = accounts.ledger().total();
    assert_eq!(
        (total.requests, total.without_usage, total.unknown),
        (2, 1, 1)
    );
    assert_eq!(Some(total.known), cost);
    let spent = accounts.record(model.identity(), Purpose::Answer, None);
    assert_eq!(spent.cost, Cost::Unknown);
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_reply_has_an_unknown_price() {
    let accounts = Accounts::new(PriceTable::listed());
    let model = guarded([ScriptedTurn::Hang, ScriptedTurn::Hang])
        .with_deadline(Duration::from_secs(60))
        .with_accounts(accounts.clone());
    assert_eq!(kind(&model).await, Err(ModelErrorKind::TimedOut));
    let impatient = Duration::from_secs(5);
    let given_up = tokio::time::timeout(impatient, kind(&model)).await;
    assert!(given_up.is_err());
    let total = accounts.ledger().total();
    assert_eq!((total.requests, total.unknown), (2, 2));
    assert!(!total.is_complete());
}

fn used(prompt_tokens: u32, completion_tokens: u32) -> ChatDelta {
    ChatDelta::Usage(Usage {
        prompt_tokens,
        completion_tokens,
        ..Usage::default()
    })
}

fn finished() -> ChatDelta {
    ChatDelta::Finished(dormouse_contracts::FinishReason::Stop)
}

fn raw(deltas: impl IntoIterator<Item = ChatDelta>) -> ScriptedTurn {
    ScriptedTurn::Raw(deltas.into_iter().map(Ok).collect())
}

#[tokio::test(start_paused = true)]
async fn any_deadline_is_accepted() {
    let model = guarded([ScriptedTurn::text("Yes.")]).with_deadline(Duration::MAX);
    assert_eq!(kind(&model).await.as_deref(), Ok("Yes."));
    let model = guarded([ScriptedTurn::Hang]).with_deadline(Duration::ZERO);
    assert_eq!(kind(&model).await, Err(ModelErrorKind::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn a_finished_reply_closes_the_breaker_even_if_the_stream_is_dropped() {
    let failures =
        std::iter::repeat_with(|| ScriptedTurn::Fail(ModelErrorKind::Unavailable)).take(5);
    let model = Arc::new(ScriptedModel::new(failures).then_for_ever(raw([finished(), used(9, 1)])));
    let model = GuardedModel::new(model, Guard::builder("tea").build());
    for _ in 0..5 {
        kind(&model).await.unwrap_err();
    }
    tokio::time::advance(Duration::from_secs(30)).await;
    for _ in 0..2 {
        let request = request();
        let mut stream = model.stream(&request);
        assert_eq!(stream.next().await.unwrap().unwrap(), finished());
    }
    assert_eq!(model.guard().health().circuit.state, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn of_several_usages_the_last_one_counts_everywhere() {
    let long = ChatRequest {
        messages: vec![Message::User {
            content: "tea ".repeat(1_000),
        }],
        ..ChatRequest::default()
    };
    let twice = || raw([used(0, 0), finished(), used(2_000, 7)]);
    let accounts = Accounts::new(PriceTable::listed());
    let counter = Arc::new(CalibratedCounter::new(Arc::new(crate::Estimate::default())));
    let limit = RateLimit::reported_only()
        .try_with_units(10_000, 10_000)
        .unwrap();
    let guard = Guard::builder("tea").rate_limit(limit).build();
    let model = GuardedModel::new(Arc::new(ScriptedModel::looping(twice())), guard)
        .with_accounts(accounts.clone())
        .with_counter(counter.clone());
    complete(&model, &long).await.unwrap();
    assert_eq!(counter.calibration().seen(), 1);
    assert_eq!(accounts.ledger().total().prompt_tokens, 2_000);
    let left = model.guard().health().limit.unwrap().units.unwrap().left;
    assert_eq!(left, 10_000 - 2_007);
}

#[tokio::test(start_paused = true)]
async fn an_absurd_usage_count_does_not_block_later_calls() {
    let counter = Arc::new(CalibratedCounter::new(Arc::new(crate::Estimate::default())));
    let limit = RateLimit::reported_only()
        .try_with_units(30_000, 30_000)
        .unwrap();
    let guard = Guard::builder("tea").rate_limit(limit).build();
    let absurd = raw([finished(), used(u32::MAX, u32::MAX)]);
    let model = GuardedModel::new(Arc::new(ScriptedModel::looping(absurd)), guard);
    let model = model.with_counter(counter);
    let request = ChatRequest {
        max_tokens: Some(100),
        ..request()
    };
    let begun = tokio::time::Instant::now();
    for _ in 0..20 {
        complete(&model, &request).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn it_keeps_the_promises_of_the_port() {
    let model = Arc::new(ScriptedModel::looping(ScriptedTurn::text("Yes.")));
    let model = GuardedModel::new(model, Guard::builder("tea").build());
    dormouse_testing::conformance::chat_model(&model, request()).await;
}
