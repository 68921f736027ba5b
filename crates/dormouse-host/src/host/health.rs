//! The health of all services that running assistants depend on.

use dormouse_contracts::AssistantId;
use dormouse_engine::Activity;
use dormouse_resilience::{CircuitHealth, ServiceHealth};

use super::{Host, Resident};

/// The health of one service of a running host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceReport {
    /// The assistant that uses it; absent if all share it.
    pub assistant: Option<AssistantId>,
    /// Whether calls are made without restriction.
    pub is_well: bool,
    /// Its name and state, in one line for people. Names and causes come from outside.
    pub text: String,
}

impl<W: ?Sized> Host<W> {
    /// The health of the models, and of the memory, the tools and the world of each assistant that is awake. No service
    /// is called: their health follows from their last calls. No assistant is woken. With `of`, only that assistant's and what
    /// all share.
    pub async fn service_health(&self, of: Option<&AssistantId>) -> Vec<ServiceReport> {
        let models = self.models().iter().map(|model| model.guard().health());
        let mut reports: Vec<_> = models.map(|health| report(None, &health)).collect();
        let awake = self.residents().await.into_iter();
        for summary in awake.filter(|it| it.is_awake && of.is_none_or(|key| *key == it.key)) {
            // An assistant that was put away a moment ago has nothing to report.
            if let Ok(resident) = self.wake(&summary.key).await {
                reports.extend(of_resident(&resident));
            }
        }
        reports
    }
}

fn report(assistant: Option<AssistantId>, health: &ServiceHealth) -> ServiceReport {
    ServiceReport {
        assistant,
        is_well: health.is_healthy(),
        text: health.to_string(),
    }
}

/// A service that has only a circuit breaker.
fn of_circuit(circuit: CircuitHealth) -> ServiceHealth {
    ServiceHealth {
        circuit,
        under_way: 0,
        waiting: 0,
        limit: None,
        retries_left: None,
    }
}

fn of_resident(resident: &Resident) -> Vec<ServiceReport> {
    let whose = || Some(resident.key().clone());
    let memory = resident.memory().health().into_iter();
    let mut reports: Vec<_> = memory
        .map(|circuit| report(whose(), &of_circuit(circuit)))
        .collect();
    let status = resident.handle().status();
    reports.extend(status.tools_not_attempted.iter().map(|tool| ServiceReport {
        assistant: whose(),
        is_well: false,
        text: format!("the tool {tool} did not answer and is not called for now"),
    }));
    let unreached = match &status.activity {
        Activity::WorldUnreachable { until, cause } => {
            let cause = cause.as_deref().unwrap_or("no details are known");
            Some(format!(
                "the world cannot be reached ({cause}); next try at {until}"
            ))
        }
        _ => None,
    };
    reports.push(ServiceReport {
        assistant: whose(),
        is_well: unreached.is_none(),
        text: unreached.unwrap_or_else(|| "no trouble with the world".to_owned()),
    });
    reports
}
