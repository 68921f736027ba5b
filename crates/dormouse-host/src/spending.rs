//! What the models of an assistant cost, from its log.

use dormouse_contracts::{AssistantId, ChatReply, Purpose, ReadEvents, Seq};
use dormouse_engine::{Consultation, Event, ReplayError};
use dormouse_providers::{Ledger, LedgerKey, PriceTable};

/// How many events are read at a time.
const PAGE: usize = 256;

/// Usage and cost of every reply in the log of an assistant, at these prices. It counts the whole log. It leaves out
/// replies of models without a server, and failed calls, whose usage is not reported.
///
/// # Errors
///
/// [`ReplayError`] if the log cannot be read.
pub async fn spending<L: ReadEvents>(
    log: &L,
    assistant: &AssistantId,
    prices: &PriceTable,
) -> Result<Ledger, ReplayError> {
    let (mut ledger, mut after) = (Ledger::default(), Seq::ZERO);
    loop {
        let page = log.read(assistant, after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(ledger);
        };
        after = last.seq;
        for stored in &page {
            match Event::decode(stored)? {
                Event::Replied(it) => enter(&mut ledger, &it.reply, it.purpose, prices),
                Event::Consulted(it) => {
                    let purpose = match it.about {
                        Consultation::Scoring { .. } => Purpose::Scoring,
                        _ => Purpose::Consolidation,
                    };
                    enter(&mut ledger, &it.reply, purpose, prices);
                }
                Event::HistorySummarized(it) => {
                    enter(&mut ledger, &it.reply, Purpose::Compaction, prices);
                }
                _ => {}
            }
        }
    }
}

fn enter(ledger: &mut Ledger, reply: &ChatReply, purpose: Purpose, prices: &PriceTable) {
    // Only replies of models with a server name the model.
    let Some(info) = &reply.info else {
        return;
    };
    let key = LedgerKey {
        provider: info.provider.clone(),
        model: info.model.clone(),
        purpose,
    };
    match &reply.usage {
        Some(usage) => {
            let cost = prices.cost(&key.provider, &key.model, usage);
            ledger.record(&key, usage, cost);
        }
        None => ledger.record_without_usage(&key),
    }
}
