//! The book of models: which of them call tools natively.

mod json;
mod record;

use std::collections::BTreeMap;

use dormouse_contracts::{ModelName, ProviderId, Timestamp};

pub use json::BookError;
use record::ModelRecord;
pub use record::{Evidence, Learnt};

use crate::{ProbeVerdict, Signs, ToolCalling};

/// A change in how tools should be offered to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallingChange {
    /// The provider of the model.
    pub provider: ProviderId,
    /// The model.
    pub model: ModelName,
    /// How tools were offered before.
    pub from: ToolCalling,
    /// How tools should be offered from now on.
    pub to: ToolCalling,
    /// The evidence for the change.
    pub evidence: Evidence,
}

/// What is known about models, by provider and name.
///
/// A model that is not in the book is assumed to call tools natively. After that:
///
/// 1. A probe decides at once and clears earlier evidence.
///
/// 2. If a provider leaves the tools out of a request, [`ToolCalling::Fallback`] is chosen at once.
///
/// 3. Two replies with printed calls, without a native call in between, choose [`ToolCalling::Fallback`]; four if the
///    model has ever made a native call.
///
/// 4. Two replies in a row with native calls, although tools were offered in the text, choose [`ToolCalling::Native`].
///
/// 5. Each decision by rules 2 to 4 doubles the number of replies that rules 3 and 4 need next time. So a model with
///    inconsistent replies cannot make its assistant switch back and forth: n replies cause at most log₂ n + 2 changes.
///
/// Only accepted calls count. [`parse_reply`](crate::parse_reply) rejects every call that a model with native tool
/// calling quotes. So a user's message cannot change the book, unless the model makes a call that is executed anyway. A
/// reply in plain text is not evidence.
///
/// The book contains at most [`MODELS_LIMIT`](Self::MODELS_LIMIT) models, the most recently seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DialectBook {
    models: BTreeMap<(ProviderId, ModelName), ModelRecord>,
}

impl DialectBook {
    /// The largest number of models in the book.
    pub const MODELS_LIMIT: usize = 512;

    /// What is known about a model.
    #[must_use]
    pub fn calling(&self, provider: &ProviderId, model: &ModelName) -> Learnt {
        let key = (provider.clone(), model.clone());
        self.models.get(&key).map_or(
            Learnt {
                calling: ToolCalling::default(),
                evidence: Evidence::None,
                since: None,
            },
            ModelRecord::learnt,
        )
    }

    /// Records the signs of a reply. `offered` is the way in which the request offered its tools; if it offered none,
    /// do not call this. If `offered` differs from what [`calling`](Self::calling) returns now, the reply is ignored,
    /// because its request may have been sent before a change.
    pub fn observe(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        signs: &Signs,
        offered: ToolCalling,
        at: Timestamp,
    ) -> Option<CallingChange> {
        self.change(provider, model, at, |record| {
            record.observe(signs, offered, at);
        })
    }

    /// Records the result of a probe.
    pub fn probed(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        verdict: ProbeVerdict,
        at: Timestamp,
    ) -> Option<CallingChange> {
        let calling = verdict.calling()?;
        self.change(provider, model, at, |record| {
            record.probed(verdict, calling, at);
        })
    }

    /// Removes a model. Returns whether it was in the book.
    pub fn forget(&mut self, provider: &ProviderId, model: &ModelName) -> bool {
        let key = (provider.clone(), model.clone());
        self.models.remove(&key).is_some()
    }

    /// All models in the book, by provider and name, including those without evidence.
    pub fn iter(&self) -> impl Iterator<Item = (&ProviderId, &ModelName, Learnt)> {
        let models = self.models.iter();
        models.map(|((provider, model), record)| (provider, model, record.learnt()))
    }

    /// Merges another book. If a model is in both, the most recent record counts. Any order and any repetition of
    /// merges gives the same result.
    pub fn merge(&mut self, other: &Self) {
        for (key, record) in &other.models {
            let own = self
                .models
                .entry(key.clone())
                .or_insert_with(|| record.clone());
            if *own < *record {
                *own = record.clone();
            }
        }
        self.forget_oldest();
    }

    fn change(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        at: Timestamp,
        learn: impl FnOnce(&mut ModelRecord),
    ) -> Option<CallingChange> {
        let key = (provider.clone(), model.clone());
        let record = self
            .models
            .entry(key)
            .or_insert_with(|| ModelRecord::new(at));
        let from = record.learnt().calling;
        learn(record);
        let now = record.learnt();
        self.forget_oldest();
        (from != now.calling).then(|| CallingChange {
            provider: provider.clone(),
            model: model.clone(),
            from,
            to: now.calling,
            evidence: now.evidence,
        })
    }

    fn forget_oldest(&mut self) {
        while self.models.len() > Self::MODELS_LIMIT {
            let models = self.models.iter();
            let oldest = models.min_by_key(|(key, record)| (record.seen_at(), *key));
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.models.remove(&key);
        }
    }
}
