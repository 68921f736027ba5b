//! Metadata of a reply before its content.

use dormouse_contracts::{ChatDelta, ModelName, ProviderId, RateLimits, ReplyInfo, Usage};

/// Metadata that arrived before the first content. It is passed on with the content, or dropped.
#[derive(Debug, Default)]
pub(super) struct ReplyMetadata {
    info: Option<Box<ReplyInfo>>,
    usage: Option<Usage>,
}

impl ReplyMetadata {
    /// Stores metadata, the latest of each kind. Returns a delta with content unchanged.
    pub(super) fn take(&mut self, delta: ChatDelta) -> Option<ChatDelta> {
        match delta {
            ChatDelta::Info(info) => self.info = Some(info),
            ChatDelta::Usage(usage) => self.usage = Some(usage),
            said => return Some(said),
        }
        None
    }

    /// Adds the provider and the model, unless the server reported them.
    pub(super) fn introduce(&mut self, (provider, model): (&ProviderId, &ModelName)) {
        self.info.get_or_insert_with(|| {
            Box::new(ReplyInfo {
                provider: provider.clone(),
                model: model.clone(),
                served_model: None,
                request_id: None,
                rate_limits: RateLimits::default(),
                left_out: Vec::new(),
            })
        });
    }

    /// Returns the kept metadata.
    pub(super) fn deltas(self) -> impl Iterator<Item = ChatDelta> {
        let info = self.info.map(ChatDelta::Info);
        info.into_iter().chain(self.usage.map(ChatDelta::Usage))
    }
}
