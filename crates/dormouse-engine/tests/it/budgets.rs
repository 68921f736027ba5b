//! An assistant never exceeds its budgets, even with a model that always calls tools, and after kills.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_contracts::{CallId, ChatReply, FinishReason, ToolCall, Usage, Usd};
use dormouse_engine::{
    Activity, BudgetKind, BudgetLimits, BudgetSpan, BudgetStatus, Event, ReservedBy, Rest,
    SpendingBudgets, StopReason, TokenPrice, UnknownPrice,
};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use crate::home::{Home, in_virtual_time, minutes};

const NOTICE: &str = "whisper I have thought enough for now. I will answer as soon as I may.";

/// What the provider charged, and when.
type Charged = Arc<Mutex<Vec<(Instant, u64, u64)>>>;

/// How a model answers its next request: the length of its reply, in thousandths of the maximum, and whether it ever
/// arrives.
#[derive(Clone, Copy, Debug)]
struct Greed {
    prompt: u32,
    permille: u32,
    hangs: bool,
}

fn greed() -> impl Strategy<Value = Greed> {
    (1_u32..300, 0_u32..=1_000, prop::bool::weighted(0.15)).prop_map(|(prompt, permille, hangs)| {
        Greed {
            prompt,
            permille,
            hangs,
        }
    })
}

/// Budgets that are so small that each call is a large part of them, or so large that calls are reserved in advance.
fn limits() -> impl Strategy<Value = BudgetLimits> {
    let one = |range| prop::option::weighted(0.6, range);
    let all = (
        one(1_200_u64..4_000),
        one(1_200_u64..9_000),
        one(2_000_u64..20_000),
        one(3_000_u64..40_000),
    );
    let larger = prop::sample::select(vec![1_u64, 1, 8]);
    (all, larger).prop_map(|((tick, hour, day, life), larger)| {
        let limits = BudgetLimits {
            tick,
            hour,
            day,
            life,
        };
        scaled(limits, larger)
    })
}

/// A model that always calls a tool, and a provider that charges for each request.
fn greedy(charged: &Charged, price: TokenPrice, script: Vec<Greed>) -> ScriptedModel {
    let (charged, next) = (Arc::clone(charged), Mutex::new(0_usize));
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let call = {
            let mut next = next.lock().unwrap();
            *next += 1;
            *next
        };
        let Greed {
            prompt,
            permille,
            hangs,
        } = script[call % script.len()];
        let most = request.max_tokens.expect("a budget bounds each reply");
        let reply = match hangs {
            true => most,
            false => u32::try_from(u64::from(most) * u64::from(permille) / 1_000).unwrap(),
        };
        let cost = price.cost(prompt, reply).picos();
        let tokens = u64::from(prompt) + u64::from(reply);
        charged.lock().unwrap().push((Instant::now(), tokens, cost));
        if hangs {
            return ScriptedTurn::Hang;
        }
        ScriptedTurn::Reply(ChatReply {
            content: String::new(),
            reasoning: String::new(),
            tool_calls: vec![ToolCall {
                id: CallId::try_new(format!("c{call}")).unwrap(),
                name: "move".to_owned(),
                arguments: json!({"exit": format!("way {call}")}).to_string(),
            }],
            finish: FinishReason::ToolCalls,
            usage: Some(Usage {
                prompt_tokens: prompt,
                completion_tokens: reply,
                ..Usage::default()
            }),
            info: None,
        })
    }))
}

/// The most that was charged within any span of this length.
fn most_within(charged: &[(Instant, u64, u64)], span: Duration) -> (u64, u64) {
    let from = |begin: &(Instant, u64, u64)| {
        let within = charged
            .iter()
            .filter(|it| it.0 >= begin.0 && it.0 < begin.0 + span);
        within.fold((0, 0), |sum, it| (sum.0 + it.1, sum.1 + it.2))
    };
    let sums: Vec<_> = charged.iter().map(from).collect();
    let most = |of: fn(&(u64, u64)) -> u64| sums.iter().map(of).max().unwrap_or(0);
    (most(|it| it.0), most(|it| it.1))
}

/// The most that replies took in one tick.
fn most_in_a_tick(home: &Home, price: TokenPrice) -> (u64, u64) {
    let (mut most, mut sum) = ((0, 0), (0, 0));
    for event in home.events() {
        match event {
            Event::TickStarted(_) => sum = (0, 0),
            Event::Replied(it) => {
                let usage = it.reply.usage.unwrap();
                let (prompt, reply) = (usage.prompt_tokens, usage.completion_tokens);
                sum.0 += u64::from(prompt) + u64::from(reply);
                sum.1 += price.cost(prompt, reply).picos();
            }
            _ => {}
        }
        most = (most.0.max(sum.0), most.1.max(sum.1));
    }
    most
}

fn holds(limit: Option<u64>, spent: u64) -> bool {
    limit.is_none_or(|limit| spent <= limit)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(32)))]

    #[test]
    fn no_budget_is_ever_exceeded_whatever_a_model_spends_and_whenever_it_is_killed(
        script in prop::collection::vec(greed(), 1..8),
        tokens in limits(),
        money in limits(),
        (input, output) in (1_u64..5, 1_u64..20),
        pauses in prop::collection::vec((0_u64..200, any::<bool>()), 1..10),
    ) {
        let price = TokenPrice { input: Usd::from_picos(input), output: Usd::from_picos(output) };
        let charged = Charged::default();
        let home = Home::with(greedy(&charged, price, script)).configured(|config| {
            config.max_tokens = Some(900);
            config.limits = config.limits.with_max_iterations(10).unwrap();
            config.budgets = SpendingBudgets {
                tokens,
                // The price makes the cost the same order of magnitude as the tokens.
                picodollars: scaled(money, output),
                price: Some(price),
                ..SpendingBudgets::default()
            };
        });
        in_virtual_time(async {
            for (number, (pause, is_killed)) in (1..).zip(pauses) {
                let life = home.wake().await;
                let person = format!("Person{number}");
                life.accept(Perceive::whisper(&person, "on!").number(number).build()).await;
                tokio::time::sleep(minutes(pause) / 2).await;
                match is_killed {
                    true => life.crash().await,
                    false => life.end().await.unwrap(),
                }
            }
        });
        let picodollars = scaled(money, output);
        let charged = charged.lock().unwrap();
        let tick = most_in_a_tick(&home, price);
        let spans = [
            (tokens.tick, picodollars.tick, tick),
            (tokens.hour, picodollars.hour, most_within(&charged, minutes(60))),
            (tokens.day, picodollars.day, most_within(&charged, minutes(24 * 60))),
            (tokens.life, picodollars.life, most_within(&charged, minutes(100_000))),
        ];
        for (tokens, money, spent) in spans {
            prop_assert!(holds(tokens, spent.0) && holds(money, spent.1), "{tokens:?} {money:?} {spent:?}");
        }
    }
}

fn scaled(limits: BudgetLimits, by: u64) -> BudgetLimits {
    let scaled = |limit: Option<u64>| limit.map(|limit| limit * by);
    BudgetLimits {
        tick: scaled(limits.tick),
        hour: scaled(limits.hour),
        day: scaled(limits.day),
        life: scaled(limits.life),
    }
}

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

pub(crate) fn hourly(tokens: u64) -> SpendingBudgets {
    SpendingBudgets {
        tokens: BudgetLimits {
            hour: Some(tokens),
            ..BudgetLimits::default()
        },
        ..SpendingBudgets::default()
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_budget_is_told_once_and_answered_when_it_is_free_again() {
    let replies = ["one", "two", "three"].map(say);
    let home = Home::new(replies).configured(|config| config.budgets = hourly(5_500));
    let mut life = home.wake().await;
    let hear = async |life: &crate::home::Life, from: &str, number| {
        life.accept(Perceive::whisper(from, "hello").number(number).build())
            .await;
    };
    hear(&life, "Alice", 1).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    // The first reply took far less than was reserved, so the second call is allowed. It takes all that is left.
    let report = BudgetStatus {
        kind: BudgetKind::Tokens,
        span: BudgetSpan::Hour,
        limit: 5_500,
        spent: life.handle.status().budgets[0].spent,
    };
    assert_eq!(life.handle.status().budgets, [report]);
    assert!(report.spent > 0 && report.spent < 3_000, "{report:?}");
    home.no_protocol_was_broken();
    life.end().await.unwrap();

    // It is killed during a model call, so the reservation stays spent.
    let home = Home::new([ScriptedTurn::Hang, say("one"), say("two")])
        .configured(|config| config.budgets = hourly(5_500));
    life = home.wake().await;
    hear(&life, "Alice", 1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    life.crash().await;
    life = home.wake().await;
    let Rest::OverBudget(until) = life.handle.at_rest().await else {
        panic!("{:?}", life.handle.status());
    };
    assert_eq!(
        life.handle.status().activity,
        Activity::OverBudget { until }
    );
    hear(&life, "Bob", 2).await;
    life.end().await.unwrap();
    life = home.wake().await;
    tokio::time::sleep(minutes(30)).await;
    assert_eq!(home.model.requests().len(), 1);
    assert_eq!(
        home.deeds(),
        [NOTICE, NOTICE],
        "each once, also after a restart"
    );
    tokio::time::sleep(minutes(40)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds()[2..], ["say one", "say two"]);
    let state = life.handle.inspect().await.unwrap();
    assert_eq!((state.errors.consecutive, state.counts.unanswered), (0, 0));
    life.end().await.unwrap();
    let waits = home
        .stops()
        .into_iter()
        .filter(|it| *it == StopReason::BudgetSpent);
    assert_eq!(waits.count(), 2, "a wait writes nothing until it is over");
}

#[tokio::test(start_paused = true)]
async fn a_tick_reserves_its_calls_once_and_gives_back_what_it_did_not_take() {
    let look = |exit: &str| ScriptedTurn::call("move", json!({"exit": exit}));
    let script = || [look("north"), look("south"), look("west"), say("there")];
    let home = Home::new(script()).configured(|config| config.budgets = hourly(1_000_000));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let spent = life.handle.status().budgets[0].spent;
    life.end().await.unwrap();
    let reserved = |home: &Home| -> Vec<(bool, bool)> {
        let events = home.events().into_iter();
        let reserved = events.filter_map(|event| match event {
            Event::CallReserved(reserved) => Some((reserved.ahead.is_some(), reserved.from_ahead)),
            _ => None,
        });
        reserved.collect()
    };
    let (first, next) = ((true, false), (false, true));
    assert_eq!(reserved(&home), [first, next, next, next]);
    let replies = home.events().into_iter().filter_map(|event| match event {
        Event::Replied(it) => it.reply.usage,
        _ => None,
    });
    let took =
        replies.map(|usage| u64::from(usage.prompt_tokens) + u64::from(usage.completion_tokens));
    assert_eq!(spent, took.sum::<u64>());

    // A budget of ten calls is too small to reserve in advance: a kill would cost too much of it.
    let home = Home::new(script()).configured(|config| config.budgets = hourly(30_000));
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    assert_eq!(reserved(&home), [(false, false); 4]);

    // It is killed in the second call, so the advance reservation stays spent.
    let hangs = [look("north"), ScriptedTurn::Hang];
    let home = Home::new(hangs).configured(|config| config.budgets = hourly(1_000_000));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    life.crash().await;
    let ahead = home.events().into_iter().find_map(|event| match event {
        Event::CallReserved(reserved) => reserved.ahead,
        _ => None,
    });
    let life = home.wake().await;
    let spent = life.handle.status().budgets[0].spent;
    assert!(spent > ahead.unwrap().tokens, "{spent} {ahead:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_price_refuses_a_budget_in_money_unless_it_is_allowed_and_spends_one_in_tokens()
{
    let money = BudgetLimits {
        day: Some(u64::MAX),
        ..BudgetLimits::default()
    };
    let asked = async |budgets: SpendingBudgets| {
        let home = Home::new([say("hi")]).configured(|config| {
            config.budgets = budgets;
            config.budget_notice.clear();
        });
        home.hear(Perceive::whisper("Alice", "hello").build()).await;
        let reserved = home.events().into_iter().find_map(|event| match event {
            Event::CallReserved(reserved) => Some(reserved),
            _ => None,
        });
        (home.deeds().len(), reserved)
    };
    let refused = SpendingBudgets {
        picodollars: money,
        ..SpendingBudgets::default()
    };
    assert_eq!(asked(refused).await, (0, None));
    let allowed = SpendingBudgets {
        unknown_price: UnknownPrice::Allowed,
        ..refused
    };
    assert_eq!(asked(allowed).await.0, 1);
    let (said, reserved) = asked(hourly(1_000_000)).await;
    let reserved = reserved.unwrap();
    assert_eq!(
        (said, reserved.by, reserved.cost),
        (1, ReservedBy::Turn, None)
    );
    assert_eq!(reserved.reply_tokens, 4_096);
}

#[tokio::test(start_paused = true)]
async fn another_budget_lets_messages_go_on_at_once_and_one_that_fits_nothing_is_looked_at_once_a_day()
 {
    let mut home = Home::new([say("hi")]).configured(|config| config.budgets = hourly(100));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    tokio::time::sleep(minutes(3 * 24 * 60)).await;
    assert!(home.stops().len() <= 4, "{:?}", home.stops());
    assert_eq!(home.model.requests().len(), 0);
    life.end().await.unwrap();

    home = home.configured(|config| config.budgets = SpendingBudgets::default());
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), [NOTICE, "say hi"]);
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_low_is_in_the_prompt_behind_everything_else() {
    let home = Home::new(["one", "two"].map(say)).configured(|config| {
        config.budgets = SpendingBudgets {
            low_percent: 100,
            ..hourly(9_000)
        };
    });
    for number in 1..=2 {
        home.hear(Perceive::whisper("Alice", "hello").number(number).build())
            .await;
    }
    let shown = home.model.requests();
    let shown = shown.iter().map(crate::home::shown);
    let shown: Vec<_> = shown.collect();
    assert!(!shown[0].contains("what you may spend"), "{}", shown[0]);
    let last = shown[1].lines().last().unwrap();
    assert!(
        last.starts_with("(Of what you may spend on thinking in an hour, ")
            && last.ends_with(" % is left. Be brief.)"),
        "{last}"
    );
    home.no_protocol_was_broken();
}
