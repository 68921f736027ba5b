//! `[memory]`: how the memory recalls.

mod vectors;

use std::collections::BTreeSet;

use dormouse_contracts::{ChannelId, PlaceId, Timestamp, Trust};
use dormouse_engine::{Privacy, SecretsInLog};
use dormouse_providers::EmbedderRef;
use serde::{Deserialize, Deserializer, de::Error};

pub use self::vectors::{QdrantSection, VectorBackend};
use super::{
    numbers::{KeptDays, RecallTimeout, RecallTokens, Seconds, Whole, trust},
    section::section,
    sections::engine,
    words,
};
use crate::encoder::OPENER;

section! {
    /// `[memory]`: how it recalls. Keys are not among its settings.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct MemorySection {
        /// What turns texts into vectors: "folder:PATH"; "openai:MODEL" or "ollama:MODEL", with "@URL" for a server of your own; or "none"
        #[schemars(with = "String", extend(
            "x-when" = "start", "x-may-hold-a-key" = "in an address",
            "x-unset" = "the provider's own (openai, ollama, local); with other providers, search compares only words", "x-example" = "none",
        ))]
        embedder: Option<ConfiguredEmbedder> = None,
        /// Where vectors are searched: "exact" (in this process), or the gRPC address of a Qdrant server, as in "http://127.0.0.1:6334", or a table (see below)
        #[schemars(schema_with = "words::vectors", extend(
            "default" = "exact", "x-when" = "start", "x-may-hold-a-key" = "in an address",
        ))]
        vectors: VectorBackend = VectorBackend::default(),
        /// Tokens of a prompt that memories may take; 0: no memory is recalled
        tokens: RecallTokens = Whole(engine().memory_tokens),
        /// How long a turn waits for its memories
        timeout: RecallTimeout = Seconds(engine().recall_timeout),
        /// Who may learn from it what it heard. "kept": only those who perceived it; "shared": everybody; see privacy.md
        #[schemars(schema_with = "words::privacy")]
        privacy: Privacy = engine().privacy,
        /// What happens to keys, passwords and card numbers that somebody says. "masked": they are replaced before the log is written; "kept": they stay
        #[schemars(schema_with = "words::secrets_in_log")]
        secrets_in_log: SecretsInLog = engine().secrets_in_log,
        /// `dormouse forget --retention` removes speech that is older than this many days and that nothing refers to; 0: it removes nothing
        #[schemars(extend("x-when" = "start"))]
        utterances_kept_days: KeptDays = Whole(0),
        /// Ids of channels. What is said there from now on is public knowledge. `dormouse doctor` reports unknown ids
        #[schemars(with = "BTreeSet<String>")]
        public_channels: BTreeSet<ChannelId> = BTreeSet::new(),
        /// Ids of places. What is said aloud there from now on is public knowledge
        #[schemars(with = "BTreeSet<String>")]
        public_places: BTreeSet<PlaceId> = BTreeSet::new(),
        /// Minimum trust at which speech is recalled as a quotation
        #[serde(deserialize_with = "trust")]
        #[schemars(schema_with = "words::trust")]
        quote_trust: Trust = engine().quote_trust,
        /// A tool marked DANGEROUS is called at once only if every text in the prompt has at least this trust
        #[serde(deserialize_with = "trust")]
        #[schemars(schema_with = "words::trust")]
        dangerous_trust: Trust = engine().dangerous_trust,
    }
}

impl MemorySection {
    /// What was heard before this moment is kept only if something refers to it; `None` if everything is kept for ever.
    pub fn utterances_kept_since(&self, now: Timestamp) -> Option<Timestamp> {
        const DAY: i64 = 86_400_000_000;
        let kept = i64::from(self.utterances_kept_days.0).saturating_mul(DAY);
        (kept > 0).then(|| Timestamp::from_micros(now.as_micros().saturating_sub(kept)))
    }
}

/// The configured encoder, written as for `--embedder`.
#[derive(Clone, Debug)]
pub struct ConfiguredEmbedder(pub EmbedderRef);

impl From<EmbedderRef> for ConfiguredEmbedder {
    fn from(requested: EmbedderRef) -> Self {
        Self(requested)
    }
}

impl<'de> Deserialize<'de> for ConfiguredEmbedder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        OPENER.parse(&text).map(Self).map_err(Error::custom)
    }
}
