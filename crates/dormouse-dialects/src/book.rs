//! What is known of models: which of them call tools natively.

mod json;
mod record;

use std::collections::BTreeMap;

use dormouse_contracts::{ModelName, ProviderId, Timestamp};
use serde::{Deserialize, Serialize};

pub use json::BookError;
use record::Record;

use crate::{ProbeVerdict, Signs, ToolCalling};

/// Why a model is asked for calls the way it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// Nothing is known; [`ToolCalling::Native`] is taken for granted.
    None,
    /// It was asked, and this is what that showed.
    Probed(ProbeVerdict),
    /// It printed so many calls in a row where tools were offered natively.
    PrintedCalls(u32),
    /// It made so many native calls in a row where none were offered: its server reads them out of the text.
    NativeCalls(u32),
    /// Its provider did not get the tools, because it or the model does not know them.
    ToolsLeftOut,
}

/// What is known of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learnt {
    /// How tools should be offered to it.
    pub calling: ToolCalling,
    /// Why.
    pub evidence: Evidence,
    /// Since when; `None` where nothing is known.
    pub since: Option<Timestamp>,
}

/// Something was learnt that changes how tools should be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Who serves the model.
    pub provider: ProviderId,
    /// The model.
    pub model: ModelName,
    /// How tools were offered to it.
    pub from: ToolCalling,
    /// How they should be from now on.
    pub to: ToolCalling,
    /// Why.
    pub evidence: Evidence,
}

/// What was learnt of models, by provider and name.
///
/// Of a model that is not in it, native tool calling is taken for granted. After that:
///
/// 1. A probe decides at once, and whatever was seen before it is forgotten.
/// 2. Tools that were left out of a request decide for [`ToolCalling::Fallback`] at once.
/// 3. Two replies with printed calls, with no native call in any reply between or after them, decide for
///    [`ToolCalling::Fallback`]; four, if the model has ever made a native call.
/// 4. Two replies with native calls in a row where tools were offered in the text decide for [`ToolCalling::Native`].
/// 5. Each decision by rules 2 to 4 doubles what the next one by 3 or 4 needs. So a model that does now this and now that does
///    not make its assistant go back and forth: n replies bring about at most log₂ n + 2 changes.
///
/// Only calls that were taken count, and [`read`](crate::read()) takes none that a model with native tool calling quotes:
/// nobody teaches a book by what they say to an assistant, short of what would be acted on anyway. A reply in plain text
/// tells nothing.
///
/// Holds at most [`MODELS_LIMIT`](Self::MODELS_LIMIT) models, those seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DialectBook {
    models: BTreeMap<(ProviderId, ModelName), Record>,
}

impl DialectBook {
    /// How many models are remembered.
    pub const MODELS_LIMIT: usize = 512;

    /// What is known of a model.
    #[must_use]
    pub fn calling(&self, provider: &ProviderId, model: &ModelName) -> Learnt {
        let key = (provider.clone(), model.clone());
        self.models.get(&key).map_or(
            Learnt {
                calling: ToolCalling::default(),
                evidence: Evidence::None,
                since: None,
            },
            Record::learnt,
        )
    }

    /// Takes in what was seen in a reply of a model to which tools were `offered` in this way. A reply to a request without
    /// tools must not be told here. One to tools that were offered otherwise than [`calling`](Self::calling) says tells
    /// nothing, since it may have been on its way when that changed.
    pub fn observe(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        signs: &Signs,
        offered: ToolCalling,
        at: Timestamp,
    ) -> Option<Change> {
        self.change(provider, model, at, |record| {
            record.observe(signs, offered, at);
        })
    }

    /// Takes in what a probe showed.
    pub fn probed(
        &mut self,
        provider: &ProviderId,
        model: &ModelName,
        verdict: ProbeVerdict,
        at: Timestamp,
    ) -> Option<Change> {
        let calling = verdict.calling()?;
        self.change(provider, model, at, |record| {
            record.probed(verdict, calling, at);
        })
    }

    /// Forgets a model. Whether there was anything to forget.
    pub fn forget(&mut self, provider: &ProviderId, model: &ModelName) -> bool {
        let key = (provider.clone(), model.clone());
        self.models.remove(&key).is_some()
    }

    /// All models that were seen, by provider and name; of some nothing is known yet but that.
    pub fn iter(&self) -> impl Iterator<Item = (&ProviderId, &ModelName, Learnt)> {
        let models = self.models.iter();
        models.map(|((provider, model), record)| (provider, model, record.learnt()))
    }

    /// Takes in another book. Of a model in both, what was seen last counts. It does not matter in which order books
    /// are merged, or how often.
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
        learn: impl FnOnce(&mut Record),
    ) -> Option<Change> {
        let key = (provider.clone(), model.clone());
        let record = self.models.entry(key).or_insert_with(|| Record::new(at));
        let from = record.learnt().calling;
        learn(record);
        let now = record.learnt();
        self.forget_oldest();
        (from != now.calling).then(|| Change {
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
