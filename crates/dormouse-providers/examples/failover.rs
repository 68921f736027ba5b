//! Shows guards, failover and accounts: one model has an outage, and its fallback answers.
//!
//! `cargo run -p dormouse-providers --example failover`; it needs no key and no network, and does not wait, because the
//! clock is paused.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, sync::Arc, time::Duration};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, FinishReason, Message, ModelError,
    ModelErrorKind, ModelName, ProviderId, Purpose, Usage, complete,
};
use dormouse_providers::{
    Accounts, FailoverModel, GuardedModel, PriceTable, Route, token_counter_for,
};
use dormouse_resilience::{BulkheadPolicy, Guard, HealthBoard, RateLimit};
use dormouse_testing::{ScriptedModel, ScriptedTurn};
use futures_util::stream;
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

/// A fake vendor model, so that no key is needed. Its server is down from the tenth to the fortieth second.
struct Vendor {
    provider: ProviderId,
    model: ModelName,
    opened: Instant,
}

impl ChatModel for Vendor {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        if (10..40).contains(&self.opened.elapsed().as_secs()) {
            let kind = ModelErrorKind::Unavailable;
            let error = ModelError::new(self.provider.clone(), kind, None);
            return Box::pin(stream::iter([Err(error)]));
        }
        let counter = token_counter_for(&self.provider, &self.model);
        let words = "Good morning, Alice. The tea is ready.".to_owned();
        let usage = Usage {
            prompt_tokens: dormouse_providers::count_request(&*counter, request).total(),
            completion_tokens: counter.count(&words).tokens,
            ..Usage::default()
        };
        let deltas = [
            ChatDelta::Text(words),
            ChatDelta::Finished(FinishReason::Stop),
            ChatDelta::Usage(usage),
        ];
        Box::pin(stream::iter(deltas.map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}

/// Puts the model behind its own guard, on the status board and into the accounts.
fn guarded(
    model: impl ChatModel + 'static,
    board: &HealthBoard,
    accounts: &Accounts,
) -> Result<GuardedModel, Box<dyn Error>> {
    let (provider, name) = model.identity();
    let guard = Guard::builder(format!("{provider}:{name}"))
        .rate_limit(RateLimit::reported_only().try_with_requests(60, 10)?)
        .bulkhead(BulkheadPolicy::try_new(4, 16)?)
        .build();
    board.watch(&guard);
    let model = GuardedModel::new(Arc::new(model), guard)
        .with_deadline(20 * SECOND)
        .with_accounts(accounts.clone());
    Ok(model)
}

fn greeting(purpose: Purpose) -> ChatRequest {
    let event = "[say from Alice (player:1), trust 0.40, 2026-11-21T08:15:00Z]\n> hello";
    ChatRequest {
        messages: vec![Message::User {
            content: event.to_owned(),
        }],
        purpose,
        ..ChatRequest::default()
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let (board, accounts) = (HealthBoard::new(), Accounts::new(PriceTable::listed()));
    let vendor = Vendor {
        provider: ProviderId::try_new("openai")?,
        model: ModelName::try_new("gpt-4.1-mini")?,
        opened: Instant::now(),
    };
    let opened = vendor.opened;
    let list = Route::of(guarded(vendor, &board, &accounts)?).then(guarded(
        ScriptedModel::looping(ScriptedTurn::text("Hello, Alice.")),
        &board,
        &accounts,
    )?);
    let model = FailoverModel::builder(list)
        .on_switch(|switch| println!("        {switch}"))
        .build();

    for request in 0..18 {
        // By default no fallback answers a heartbeat, because nobody waits for one.
        let purpose = if request % 5 == 4 {
            Purpose::Heartbeat
        } else {
            Purpose::Answer
        };
        let at = opened.elapsed().as_secs();
        match complete(&model, &greeting(purpose)).await {
            Ok(reply) => println!("{at:>4} s  {purpose}: {}", reply.content),
            // The model does not retry: the caller retries transient failures.
            Err(error) => println!("{at:>4} s  {purpose}: {error}"),
        }
        sleep(4 * SECOND).await;
    }

    println!("\nHow the services are:");
    for health in board.report() {
        println!("  {health}");
    }
    println!("\nWhat that cost:");
    for (line, tally) in accounts.ledger().lines() {
        println!(
            "  {}:{}, {}: {tally}",
            line.provider, line.model, line.purpose
        );
    }
    println!("  all of it: {}", accounts.ledger().total());
    Ok(())
}
