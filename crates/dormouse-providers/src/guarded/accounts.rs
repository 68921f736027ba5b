//! Usage and cost of requests.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{ModelName, ProviderId, Purpose, Usage};

use crate::{Cost, Ledger, LedgerKey, PriceTable};

/// The accounts of models: the usage and the cost of their requests.
///
/// Clones share the same accounts. Create one for a program, or one for each assistant.
#[derive(Clone)]
pub struct Accounts {
    shared: Arc<Shared>,
}

struct Shared {
    prices: PriceTable,
    ledger: Mutex<Ledger>,
}

/// Usage and cost of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spending {
    /// In tokens, if the provider reported it.
    pub usage: Option<Usage>,
    /// In money.
    pub cost: Cost,
}

impl Accounts {
    /// Creates empty accounts with these prices.
    #[must_use]
    pub fn new(prices: PriceTable) -> Self {
        Self {
            shared: Arc::new(Shared {
                prices,
                ledger: Mutex::new(Ledger::default()),
            }),
        }
    }

    /// Enters one request, and returns what it cost. If no usage was reported, tokens and cost are unknown.
    pub fn record(
        &self,
        (provider, model): (&ProviderId, &ModelName),
        purpose: Purpose,
        usage: Option<Usage>,
    ) -> Spending {
        let key = LedgerKey {
            provider: provider.clone(),
            model: model.clone(),
            purpose,
        };
        let cost = usage.map(|usage| self.shared.prices.cost(provider, model, &usage));
        let cost = cost.unwrap_or_default();
        match &usage {
            Some(usage) => self.entries().record(&key, usage, cost),
            None => self.entries().record_without_usage(&key),
        }
        Spending { usage, cost }
    }

    /// Returns the sums of all entries.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.entries().clone()
    }

    fn entries(&self) -> MutexGuard<'_, Ledger> {
        let ledger = self.shared.ledger.lock();
        ledger.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accounts")
            .field("total", &self.ledger().total())
            .finish_non_exhaustive()
    }
}
