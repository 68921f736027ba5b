//! Extracts facts from what was heard, before earlier turns are left out of prompts. The assistant writes the resulting
//! events, because only it writes to its log while it runs.

use std::{sync::Arc, time::Duration};

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, Author, BoxFuture, EventLog, LoadSnapshot,
    ReadError, ReadEvents, Seq, Snapshot, StoredEvent,
};
use dormouse_entities::ConsolidationPolicy;
use dormouse_memory::write::ExtractionSettings;
use dormouse_resilience::RetryBudget;

use super::Done;
use crate::{
    Ports,
    consolidating::{ConsolidationEnd, ConsolidationSettings, Consolidator},
    event::FactsBefore,
    handle::Handle,
    remembering::LoggedMemory,
};

/// The log of a running assistant, for its background work: the assistant writes what is appended here.
pub(super) struct ActorLog {
    pub(super) log: Arc<dyn EventLog>,
    pub(super) handle: Handle,
}

impl Append for ActorLog {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(self.handle.append(request))
    }
}

impl ReadEvents for ActorLog {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl LoadSnapshot for ActorLog {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.log.load_snapshot(assistant, up_to)
    }
}

/// Makes model calls for a running assistant, without retries: either somebody waits, or a later sleep tick tries
/// again.
pub(super) fn asker(
    ports: &Ports,
    names: Vec<String>,
    (author, max_requests): (Author, u64),
    timeout: Duration,
) -> Consolidator {
    Consolidator {
        model: Arc::clone(&ports.model),
        clock: Arc::clone(&ports.clock),
        random: Arc::clone(&ports.random),
        counter: Arc::clone(&ports.counter),
        settings: ConsolidationSettings {
            extraction: ExtractionSettings {
                names,
                ..ExtractionSettings::default()
            },
            people: ConsolidationPolicy::default(),
            max_requests,
            author,
            timeout,
            retry_for: Duration::ZERO,
            retry_budget: RetryBudget::default(),
        },
    }
}

/// Extracts facts, with so many requests at most. After a failure the records are read another time: they stay in the memory.
pub(crate) async fn extract_facts(
    ports: Ports,
    handle: Handle,
    names: Vec<String>,
    by: (Author, u64),
    timeout: Duration,
) -> Done {
    let by = asker(&ports, names, by, timeout);
    let log = ActorLog {
        log: ports.log,
        handle: handle.clone(),
    };
    let facts = match LoggedMemory::open(log, ports.memory, ports.clock).await {
        Ok(memory) => {
            let state = Box::pin(handle.inspect()).await;
            let facts = by.facts(&mut memory.knowing(state)).await;
            facts.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    Done::FactsExtracted(match facts {
        Ok(found) => match found.end {
            ConsolidationEnd::Done => FactsBefore::Added(found.added),
            ConsolidationEnd::MaxRequests
            | ConsolidationEnd::Stopped
            | ConsolidationEnd::BudgetSpent => FactsBefore::Partly(found.added),
            ConsolidationEnd::ModelFailed { reason, .. } => {
                tracing::warn!(reason, "no facts were made of what was heard");
                FactsBefore::Failed
            }
        },
        Err(error) => {
            tracing::warn!(error, "no facts were made of what was heard");
            FactsBefore::Failed
        }
    })
}
