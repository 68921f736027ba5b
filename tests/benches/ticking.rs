//! A tick of five steps, with a model that costs nothing.

use std::{hint::black_box, sync::Arc};

use allocation_counter::measure as count_allocations;
use dormouse_contracts::{
    BoxStream, CallId, ChatDelta, ChatModel, ChatRequest, FinishReason, Message, ModelError,
    ModelName, ProviderId, ToolDefinition, Usage, complete,
};
use dormouse_testing::{FakeWorld, Perceive};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    life::Life,
    table::{Row, Table, median, now},
};

const STEPS: u64 = 5;
const TICKS: u64 = 100;
/// After so many ticks a prompt is as long as it gets.
const WARM_UP: u64 = 60;

/// Looks around four times, then speaks.
struct FiveSteps {
    provider: ProviderId,
    model: ModelName,
}

impl FiveSteps {
    fn new() -> Self {
        Self {
            provider: ProviderId::try_new("none").unwrap(),
            model: ModelName::try_new("five-steps").unwrap(),
        }
    }
}

impl ChatModel for FiveSteps {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let lately = request.messages.iter().rev();
        let lately = lately.take_while(|message| !matches!(message, Message::User { .. }));
        let results = lately
            .filter(|message| matches!(message, Message::Tool { .. }))
            .count();
        let (name, fragment) = if (results as u64) < STEPS - 1 {
            ("inspect_location", "{}")
        } else {
            ("say", r#"{"message":"The room is as it was."}"#)
        };
        let deltas = [
            ChatDelta::CallStart {
                index: 0,
                id: CallId::try_new(format!("call_{}", request.messages.len())).unwrap(),
                name: name.to_owned(),
            },
            ChatDelta::CallArguments {
                index: 0,
                fragment: fragment.to_owned(),
            },
            ChatDelta::Finished(FinishReason::ToolCalls),
            ChatDelta::Usage(Usage {
                prompt_tokens: 100,
                completion_tokens: 10,
                ..Usage::default()
            }),
        ];
        Box::pin(stream::iter(deltas.map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}

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
            assert_eq!(replies, number * STEPS, "every tick has five steps");
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
        let message = Perceive::whisper("Alice", "what is in the attic?").number(*number);
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
