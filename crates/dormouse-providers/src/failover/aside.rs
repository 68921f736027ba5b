//! What a model tells besides what it says.

use dormouse_contracts::{ChatDelta, ModelName, ProviderId, RateLimits, ReplyInfo, Usage};

/// What a model has told before its first word: it is passed on with that, or not at all.
#[derive(Debug, Default)]
pub(super) struct Aside {
    info: Option<Box<ReplyInfo>>,
    usage: Option<Usage>,
}

impl Aside {
    /// Keeps `delta`, or answers it if it is a part of the reply itself. Of what comes more than once, the last one counts.
    pub(super) fn take(&mut self, delta: ChatDelta) -> Option<ChatDelta> {
        match delta {
            ChatDelta::Info(info) => self.info = Some(info),
            ChatDelta::Usage(usage) => self.usage = Some(usage),
            said => return Some(said),
        }
        None
    }

    /// Says who it is, if it has not.
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

    /// What was kept.
    pub(super) fn deltas(self) -> impl Iterator<Item = ChatDelta> {
        let info = self.info.map(ChatDelta::Info);
        info.into_iter().chain(self.usage.map(ChatDelta::Usage))
    }
}
