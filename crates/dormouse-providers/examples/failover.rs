//! A model that has a bad minute, and another in its place: guards, a list that falls over, accounts.
//!
//! `cargo run -p dormouse-providers --example failover`; no key, no network, and no waiting: the clock is paused and jumps.
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

/// Stands in for a model of a vendor, so that no key is needed: its server is down from the tenth to the fortieth second.
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
        let told = [
            ChatDelta::Text(words),
            ChatDelta::Finished(FinishReason::Stop),
            ChatDelta::Usage(usage),
        ];
        Box::pin(stream::iter(told.map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}

/// The model behind a guard of its own, shown on the board and entered into the accounts.
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
        .within(20 * SECOND)
        .accounting(accounts.clone());
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
        .watched_by(|switch| println!("        {switch}"))
        .build();

    for request in 0..18 {
        // Nobody waits for an answer to a heartbeat, so no other model gives it.
        let purpose = if request % 5 == 4 {
            Purpose::Heartbeat
        } else {
            Purpose::Answer
        };
        let at = opened.elapsed().as_secs();
        match complete(&model, &greeting(purpose)).await {
            Ok(reply) => println!("{at:>4} s  {purpose}: {}", reply.content),
            // No retry happens inside: a failure that may pass is the caller's to repeat.
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
