//! What requests took, and what they cost.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{ModelName, ProviderId, Purpose, Usage};

use crate::{Cost, Ledger, LedgerKey, PriceTable};

/// The accounts of models: what their requests took, and what that cost.
///
/// A clone shares them: one for a program, or one for each assistant whose spending is told apart.
#[derive(Clone)]
pub struct Accounts {
    shared: Arc<Shared>,
}

struct Shared {
    prices: PriceTable,
    ledger: Mutex<Ledger>,
}

/// What one request took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spending {
    /// In tokens, where the provider said so.
    pub usage: Option<Usage>,
    /// In money.
    pub cost: Cost,
}

impl Accounts {
    /// Accounts without an entry, by these prices.
    #[must_use]
    pub fn new(prices: PriceTable) -> Self {
        Self {
            shared: Arc::new(Shared {
                prices,
                ledger: Mutex::new(Ledger::default()),
            }),
        }
    }

    /// Enters one request, and answers what it cost. Without a usage neither its tokens nor its cost are known.
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

    /// All entries so far, summed up.
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
