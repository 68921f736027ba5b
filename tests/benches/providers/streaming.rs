//! A streamed reply, compared with reading the same bytes and doing nothing with them.

use allocation_counter::measure as count_allocations;
use dormouse_contracts::{BoxStream, ChatDelta, ChatModel, ChatRequest, Message};
use dormouse_providers::{GuardedModel, OpenAiConfig, OpenAiModel};
use dormouse_resilience::Guard;
use futures_util::StreamExt;
use tokio::runtime::Runtime;

use crate::{
    sender::{Pace, serving},
    table::{Row, Table, median, now},
};

const TOKENS: usize = 10_000;
/// Five times as much: what grows with a reply shows.
const MORE_TOKENS: usize = 50_000;

pub(crate) fn measure(runtime: &Runtime, table: &mut Table) {
    let memory = peak(runtime, TOKENS);
    let more = peak(runtime, MORE_TOKENS);
    for (what, pace) in [
        ("reply of 10,000 tokens, event by event", Pace::EachAlone),
        ("the same, as fast as it can be written", Pace::AllAtOnce),
    ] {
        let url = serving(TOKENS, pace);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let model = model(&url);
        let baseline_measured = median(|| milliseconds(|| runtime.block_on(bare(&http, &url))));
        let measured =
            median(|| milliseconds(|| assert_eq!(runtime.block_on(read(&model)), TOKENS)));
        table.add(&Row {
            what,
            measured,
            unit: "ms",
            baseline: "reqwest, reading the same bytes",
            baseline_measured,
            note: format!(
                "at most {memory} KiB held at once, {more} KiB with {} times the tokens",
                MORE_TOKENS / TOKENS
            ),
        });
    }
}

/// The most memory that is held at once while a reply is read, in KiB.
fn peak(runtime: &Runtime, tokens: usize) -> u64 {
    let model = model(&serving(tokens, Pace::EachAlone));
    runtime.block_on(read(&model));
    let counted = count_allocations(|| assert_eq!(runtime.block_on(read(&model)), tokens));
    counted.bytes_max / 1024
}

fn model(url: &str) -> GuardedModel {
    let model = OpenAiModel::try_new(OpenAiConfig {
        provider: "local".parse().unwrap(),
        base_url: url.to_owned(),
        api_key: None,
        model: "tea".parse().unwrap(),
    });
    let guard = Guard::builder("bench").build();
    GuardedModel::new(std::sync::Arc::new(model.unwrap()), guard)
}

/// Reads a reply to its end, and answers how many pieces of text it had.
async fn read(model: &dyn ChatModel) -> usize {
    let request = ChatRequest {
        messages: vec![Message::User {
            content: "Tea?".to_owned(),
        }],
        ..ChatRequest::default()
    };
    let mut deltas: BoxStream<'_, _> = model.stream(&request);
    let mut texts = 0;
    while let Some(delta) = deltas.next().await {
        texts += usize::from(matches!(delta.unwrap(), ChatDelta::Text(_)));
    }
    texts
}

async fn bare(http: &reqwest::Client, url: &str) {
    let answer = http.post(format!("{url}/v1/chat/completions")).body("{}");
    let mut pieces = answer.send().await.unwrap().bytes_stream();
    let mut bytes = 0;
    while let Some(piece) = pieces.next().await {
        bytes += piece.unwrap().len();
    }
    assert!(bytes > TOKENS * 200, "{bytes} bytes");
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let started = now();
    work();
    now().duration_since(started).as_secs_f64() * 1e3
}
