//! A tick of five steps, with a model that costs nothing.

use std::{hint::black_box, sync::Arc};

use allocation_counter::measure as count_allocations;
use dormouse_contracts::{ChatRequest, Message, ToolDefinition, complete};
use dormouse_testing::{FakeWorld, Perceive};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    five_steps::{FiveSteps, STEPS},
    life::Life,
    table::{Row, Table, median, now},
};

const TICKS: u64 = 100;
/// After so many ticks a prompt is as long as it gets.
const WARM_UP: u64 = 60;

pub(crate) fn measure(runtime: &Runtime, table: &mut Table) {
    let mut allocations = 0;
    let baseline_measured = median(|| {
        let started = now();
        let counted = count_allocations(|| runtime.block_on(bare()));
        allocations = counted.count_total / TICKS;
        now().duration_since(started).as_secs_f64() * 1e6 / TICKS as f64
    });
    let bare_allocations = allocations;
    for (max_history, what) in [
        (0, "5-step tick, prompt without history"),
        (50, "5-step tick, prompt with 50 earlier turns"),
    ] {
        let measured = median(|| {
            let (life, mut number) = runtime.block_on(warmed_up(max_history));
            let started = now();
            let counted = count_allocations(|| runtime.block_on(ticks(&life, &mut number, TICKS)));
            allocations = counted.count_total / TICKS;
            let took = now().duration_since(started).as_secs_f64() * 1e6 / TICKS as f64;
            let replies = life.resident.handle().status().spent.replies;
            // Summaries of earlier turns are replies, too.
            assert!(replies >= number * STEPS, "every tick has five steps");
            took
        });
        table.add(&Row {
            what,
            measured,
            unit: "\u{b5}s a tick",
            baseline: "bare loop of the same calls and JSON, prompt without history",
            baseline_measured,
            note: format!("{allocations} allocations against {bare_allocations}"),
        });
    }
}

async fn warmed_up(max_history: usize) -> (Life, u64) {
    let life = Life::begin(Arc::new(FiveSteps::new()), max_history).await;
    let mut number = 0;
    ticks(&life, &mut number, WARM_UP).await;
    (life, number)
}

async fn ticks(life: &Life, number: &mut u64, count: u64) {
    for _ in 0..count {
        *number += 1;
        let message = Perceive::addressed("Alice", "what is in the attic?").number(*number);
        life.hear(message.build()).await;
    }
}

/// The same calls without an engine: nothing is checked, kept or bounded.
async fn bare() {
    let model = FiveSteps::new();
    let tools: Arc<[ToolDefinition]> = FakeWorld::tools()
        .iter()
        .map(ToolDefinition::from)
        .collect();
    for _ in 0..TICKS {
        let system = "You are Dormouse, who lives in this place.".to_owned();
        let mut messages = vec![
            Message::System { content: system },
            Message::User {
                content: "what is in the attic?".to_owned(),
            },
        ];
        for _ in 0..STEPS {
            let request = ChatRequest {
                messages: messages.clone(),
                tools: tools.clone(),
                ..ChatRequest::default()
            };
            let reply = complete(&model, &request).await.unwrap();
            black_box(serde_json::to_vec(&reply).unwrap());
            for call in &reply.tool_calls {
                black_box(serde_json::from_str::<Value>(&call.arguments).unwrap());
                let result =
                    json!({"success": true, "result": {"room": "Attic", "exits": ["down"]}});
                messages.push(Message::Tool {
                    call_id: call.id.clone(),
                    content: result.to_string(),
                });
            }
            let before = messages.len() - reply.tool_calls.len();
            messages.insert(
                before,
                Message::Assistant {
                    content: reply.content,
                    tool_calls: reply.tool_calls,
                },
            );
        }
    }
}
