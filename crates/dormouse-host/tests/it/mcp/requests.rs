//! Servers that ask the model while an assistant calls them, and who pays for it. Each life is decided again when its folder is dropped.

use std::fs;

use dormouse_contracts::{
    CallId, ChatReply, ChatRequest, FinishReason, Outcome, Timestamp, ToolCall, Usage,
};
use dormouse_engine::{
    BudgetSpan, CallReserved, Event, ReservedBy, State, TaskOutcome, reserve_for_server,
};
use dormouse_host::{Host, Resident};
use dormouse_testing::{Gate, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::task::yield_now;

use super::{agreed, events, obey, order, times, told};
use crate::{
    delegation::{furnish, last_text},
    tea_house::{Folder, admit_alice, key, page},
};

/// A model that calls the tool which asks the model, and then is that model.
fn poet(poem: impl Fn() -> ScriptedTurn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(
        move |request: &ChatRequest| match is_of_server(request) {
            true => poem(),
            false => obey(request),
        },
    ))
}

/// The same, if the calling reply and the poem take so many tokens.
fn costly_poet(call: u32, poem: u32) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(
        move |request: &ChatRequest| match is_of_server(request) {
            true => costly_poem(poem),
            false => costly_call(request, call),
        },
    ))
}

fn costly_poem(tokens: u32) -> ScriptedTurn {
    ScriptedTurn::Reply(ChatReply {
        content: "hot leaves".to_owned(),
        finish: FinishReason::Stop,
        usage: usage(tokens),
        ..ChatReply::default()
    })
}

/// What the obedient model does; the call of the tool that asks the model takes so many tokens.
fn costly_call(request: &ChatRequest, tokens: u32) -> ScriptedTurn {
    match obey(request) {
        ScriptedTurn::Calls(calls) if calls[0].0 == "sky_poem" => ScriptedTurn::Reply(ChatReply {
            tool_calls: vec![ToolCall {
                id: CallId::try_new("poem").unwrap(),
                name: "sky_poem".to_owned(),
                arguments: calls[0].1.clone(),
            }],
            finish: FinishReason::ToolCalls,
            usage: usage(tokens),
            ..ChatReply::default()
        }),
        other => other,
    }
}

fn usage(tokens: u32) -> Option<Usage> {
    Some(Usage {
        prompt_tokens: tokens,
        ..Usage::default()
    })
}

/// Whether a server made the request. Then it has nothing of an assistant or a person in it.
fn is_of_server(request: &ChatRequest) -> bool {
    let read = serde_json::to_string(&request.messages).unwrap();
    if !read.contains("A poem on tea.") {
        return false;
    }
    assert_eq!(request.messages.len(), 2, "{read}");
    for name in ["Rat", "Mole", "Alice"] {
        assert!(!read.contains(name), "{read}");
    }
    assert_eq!(request.max_tokens, Some(100));
    true
}

/// What the last server of the configuration may ask for, and budgets.
fn may_ask(budgets: &str) -> String {
    format!("model_requests = 1\nmodel_tokens = 100\n[budgets]\n{budgets}\n")
}

/// What was reserved for servers in this life.
fn by_server(events: &[Event]) -> Vec<&CallReserved> {
    let reserved = events.iter().filter_map(|event| match event {
        Event::CallReserved(it) if it.by == ReservedBy::Server => Some(it),
        _ => None,
    });
    reserved.collect()
}

/// What the ledger of this state counts beyond the replies to its turns.
fn beyond_replies(state: &State) -> u64 {
    let all = state
        .ledger
        .spent(BudgetSpan::Life, Timestamp::EPOCH)
        .tokens;
    all - state.spent.prompt_tokens - state.spent.completion_tokens
}

fn poem(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join("poem")).unwrap_or_default()
}

/// How many requests of the server for poems were answered, and how many refused.
async fn answered_and_refused(host: &Host) -> (u64, u64) {
    let status = host.mcp().unwrap().status().await.unwrap();
    let sky = status.iter().find(|it| it.server == "sky").unwrap();
    let counts = sky.requests.unwrap();
    (counts.model_answered, counts.model_refused)
}

#[tokio::test]
async fn a_server_asks_the_model_and_the_assistant_pays_for_it() {
    for (budgets, reserved) in [("", 0), ("tokens_per_day = 100_000", 1)] {
        let folder = Folder::new();
        let model = poet(|| ScriptedTurn::text("hot leaves"));
        let host = agreed(folder.path(), &model, &may_ask(budgets)).await;
        told(&host, &order(&["sky_poem"])).await;
        assert_eq!(poem(&folder), "hot leaves", "{budgets}");
        assert!(!is_of_server(model.requests().last().unwrap()), "{budgets}");
        let events = events(&host, "rat").await;
        let by_server = by_server(&events);
        assert_eq!(by_server.len(), reserved, "{budgets}");
        if let Some(reserved) = by_server.first() {
            assert_eq!(reserved.reply_tokens, 100);
            assert!(reserved.tokens > 100, "the prompt counts: {reserved:?}");
            let state = host.if_awake(&key("rat")).await.unwrap().inspect().await;
            let state = state.unwrap();
            assert_eq!(beyond_replies(&state), reserved.tokens);
            let more = reserve_for_server(&state, 100_000, 100, Timestamp::EPOCH);
            assert!(more.is_err(), "there is no room for it");
        }
        let settled = events.iter().find_map(|event| match event {
            Event::EffectSettled(settled) => serde_json::to_value(settled).ok(),
            _ => None,
        });
        let settled = settled.unwrap().to_string();
        assert!(settled.contains("\"model_requests\":1"), "{settled}");
        assert_eq!(answered_and_refused(&host).await, (1, 0));
        host.close().await;
    }
}

/// Alice asks the rat for a poem. Waits until the tool has answered and the rat has asked the model again, or could not.
async fn poem_asked_for(host: &Host) -> Vec<Event> {
    admit_alice(host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(host, "Rat", &order(&["sky_poem"])).await;
    rat.heard(&acted.deliveries).await.unwrap();
    loop {
        let events = events(host, "rat").await;
        let answered = |event: &&Event| !matches!(event, Event::EffectSettled(_));
        let mut after = events.iter().skip_while(answered);
        if after.any(|event| matches!(event, Event::ModelFailed(_) | Event::TickEnded(_))) {
            return events;
        }
        yield_now().await;
    }
}

#[tokio::test]
async fn a_server_asks_for_nothing_beyond_the_budget_of_the_assistant_or_the_process() {
    for budgets in ["tokens_per_day = 100_000", "tokens_per_process = 100_000"] {
        let folder = Folder::new();
        // What is left is less than the prompt of the server and the shortest reply.
        let model = costly_poet(99_900, 1);
        let host = agreed(folder.path(), &model, &may_ask(budgets)).await;
        let events = poem_asked_for(&host).await;
        assert_eq!(poem(&folder), "no poem", "{budgets}");
        assert!(!model.requests().iter().any(is_of_server), "{budgets}");
        assert_eq!(by_server(&events), Vec::<&CallReserved>::new(), "{budgets}");
        assert_eq!(answered_and_refused(&host).await, (0, 1), "{budgets}");
        host.close().await;
    }
}

#[tokio::test]
async fn a_request_of_a_server_is_charged_to_the_process() {
    let budgets = "tokens_per_process = 100_000";
    for (cost, is_last) in [(10, false), (98_000, true)] {
        let folder = Folder::new();
        let model = costly_poet(1_000, cost);
        let host = agreed(folder.path(), &model, &may_ask(budgets)).await;
        poem_asked_for(&host).await;
        assert_eq!(poem(&folder), "hot leaves");
        let requests = model.requests();
        // The next request of the assistant itself does not fit into what the poem has left.
        let last = requests.last().unwrap();
        assert_eq!(is_of_server(last), is_last, "{cost}");
        host.close().await;
    }
}

#[tokio::test]
async fn a_task_pays_for_what_a_server_asks_for_and_the_request_stays_within_it() {
    let more = may_ask("[delegation]\ntokens = 50_000");
    for (call, expected) in [(1_000, "hot leaves"), (49_900, "no poem")] {
        let folder = Folder::new();
        let model = ScriptedModel::looping(ScriptedTurn::with(move |request| {
            let text = last_text(request);
            if is_of_server(request) {
                costly_poem(10)
            } else if text.contains("gives you a task") {
                match costly_call(request, call) {
                    reply @ ScriptedTurn::Reply(_) => reply,
                    _ => ScriptedTurn::text("It is written."),
                }
            } else if text.contains("a poem") && !text.contains("handed over") {
                let task = json!({ "task": order(&["sky_poem"]), "to": "river" });
                ScriptedTurn::calls([("delegate_task", task), ("noop", json!({}))])
            } else {
                ScriptedTurn::call("noop", json!({}))
            }
        }));
        let host = agreed(folder.path(), &model, &more).await;
        furnish(&host, &["mole", "rat"]).await;
        for name in ["mole", "rat"] {
            host.take_in(&key(name)).await.unwrap();
        }
        drop(host.wake(&key("mole")).await.unwrap());
        page(&host, "Mole", "somebody may write a poem").await;
        let ended = loop {
            let ended = events(&host, "mole").await.into_iter();
            let mut ended = ended.filter_map(|event| match event {
                Event::DelegationEnded(it) => Some(it),
                _ => None,
            });
            if let Some(ended) = ended.next() {
                break ended;
            }
            yield_now().await;
        };
        assert_eq!(poem(&folder), expected);
        let is_done = matches!(ended.outcome, TaskOutcome::Done(_));
        assert_eq!(is_done, expected == "hot leaves", "{ended:?}");
        let events = events(&host, "rat").await;
        let replies = events.iter().filter_map(|event| match event {
            Event::Replied(it) => it.reply.usage,
            _ => None,
        });
        let replies: u32 = replies
            .map(|it| it.prompt_tokens + it.completion_tokens)
            .sum();
        let reserved = by_server(&events);
        assert_eq!(reserved.len(), usize::from(is_done));
        let reserved: u64 = reserved.iter().map(|it| it.tokens).sum();
        let took = ended.took.unwrap().tokens;
        assert_eq!(took, u64::from(replies) + reserved);
        assert!(took <= 50_000, "{took}");
        host.close().await;
    }
}

#[tokio::test]
async fn two_residents_at_an_asking_server_are_served_in_turn_and_each_pays_for_its_own() {
    let folder = Folder::new();
    let gate = Gate::new();
    let held = gate.clone();
    let model = poet(move || ScriptedTurn::after(&held, ScriptedTurn::text("hot leaves")));
    let more = may_ask("tokens_per_day = 100_000");
    let host = agreed(folder.path(), &model, &more).await;
    admit_alice(&host).await;
    let mut residents = Vec::new();
    for (name, called) in [("rat", "Rat"), ("mole", "Mole")] {
        let resident: Resident = host.wake(&key(name)).await.unwrap();
        let acted = page(&host, called, &order(&["sky_poem"])).await;
        resident.heard(&acted.deliveries).await.unwrap();
        residents.push((name, resident));
    }
    for name in ["rat", "mole"] {
        let is_intended = |event: &Event| matches!(event, Event::EffectIntended(_));
        while !events(&host, name).await.iter().any(is_intended) {
            yield_now().await;
        }
    }
    gate.reached().await;
    // Both have decided to call, and the server has one of the calls.
    assert_eq!(times(folder.path(), "sky_poem"), 1);
    gate.open();
    for (name, resident) in residents {
        resident.handle().at_rest().await;
        let events = events(&host, name).await;
        let outcomes = events.iter().filter_map(|event| match event {
            Event::EffectSettled(it) => Some(matches!(it.outcome, Outcome::Done(_))),
            _ => None,
        });
        assert_eq!(outcomes.collect::<Vec<_>>(), [true], "{name}");
        let by_server = by_server(&events);
        assert_eq!(by_server.len(), 1, "{name}");
        let state = resident.handle().inspect().await.unwrap();
        assert_eq!(beyond_replies(&state), by_server[0].tokens, "{name}");
    }
    assert_eq!(times(folder.path(), "sky_poem"), 2);
    assert_eq!(answered_and_refused(&host).await, (2, 0));
    host.close().await;
}

#[tokio::test]
async fn the_emergency_stop_ends_a_request_of_a_server() {
    let folder = Folder::new();
    let model = poet(|| ScriptedTurn::Hang);
    let host = agreed(folder.path(), &model, &may_ask("")).await;
    admit_alice(&host).await;
    let rat = host.wake(&key("rat")).await.unwrap();
    let acted = page(&host, "Rat", &order(&["sky_poem"])).await;
    rat.heard(&acted.deliveries).await.unwrap();
    while !model.requests().iter().any(is_of_server) {
        tokio::task::yield_now().await;
    }
    rat.handle().stop("Ada", "a test").await.unwrap();
    while !folder.path().join("poem").exists() {
        tokio::task::yield_now().await;
    }
    let poem = fs::read_to_string(folder.path().join("poem")).unwrap();
    assert_eq!(poem, "no poem");
    host.close().await;
}
