//! `[memory]`: how the memory recalls.

mod vectors;

use std::collections::BTreeSet;

use dormouse_contracts::{ChannelId, PlaceId, Timestamp, Trust};
use dormouse_engine::{Privacy, SecretsInLog};
use dormouse_providers::EmbedderRef;
use serde::{Deserialize, Deserializer, de::Error};

pub(crate) use self::vectors::{QdrantSection, VectorBackend};
use super::numbers::{KeptDays, RecallTimeout, RecallTokens};
use crate::encoder::OPENER;

/// `[memory]`. Keys are not among its fields: they stay in the environment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MemorySection {
    pub(crate) embedder: Option<Embedder>,
    pub(crate) vectors: VectorBackend,
    pub(crate) tokens: Option<RecallTokens>,
    pub(crate) timeout: Option<RecallTimeout>,
    pub(crate) quote_trust: Option<Trust>,
    pub(crate) dangerous_trust: Option<Trust>,
    pub(crate) privacy: Privacy,
    pub(crate) secrets_in_log: SecretsInLog,
    pub(crate) utterances_kept_days: Option<KeptDays>,
    pub(crate) public_channels: BTreeSet<ChannelId>,
    pub(crate) public_places: BTreeSet<PlaceId>,
}

impl MemorySection {
    /// What was heard before this moment is kept only if something refers to it; `None` if everything is kept for ever.
    pub(crate) fn utterances_kept_since(&self, now: Timestamp) -> Option<Timestamp> {
        const DAY: i64 = 86_400_000_000;
        let days = self.utterances_kept_days.map_or(0, |days| days.0);
        let kept = i64::from(days).saturating_mul(DAY);
        (kept > 0).then(|| Timestamp::from_micros(now.as_micros().saturating_sub(kept)))
    }
}

/// The requested encoder, written as for `--embedder`.
#[derive(Clone, Debug)]
pub(crate) struct Embedder(pub(crate) EmbedderRef);

impl From<EmbedderRef> for Embedder {
    fn from(requested: EmbedderRef) -> Self {
        Self(requested)
    }
}

impl<'de> Deserialize<'de> for Embedder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        OPENER.parse(&text).map(Self).map_err(Error::custom)
    }
}
