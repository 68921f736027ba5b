//! Settings that are changed while the assistant runs.

use std::fmt;

use dormouse_contracts::{BoxError, Timestamp};

use super::{Assistant, prepare};
use crate::{
    config::AssistantConfig,
    state::{State, Turn},
};

/// Returns the configuration for a state.
type Configure = Box<dyn Fn(&State) -> Result<AssistantConfig, BoxError> + Send + Sync>;

/// How an assistant gets another configuration while it runs.
#[derive(Default)]
pub(super) struct Reconfiguring {
    /// Without it the configuration stays the same.
    configure: Option<Configure>,
    /// The configuration that applies next.
    next: Option<Box<AssistantConfig>>,
}

impl fmt::Debug for Reconfiguring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconfiguring")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Reconfiguring {
    pub(super) fn by<E: Into<BoxError>>(
        configure: impl Fn(&State) -> Result<AssistantConfig, E> + Send + Sync + 'static,
    ) -> Self {
        Self {
            configure: Some(Box::new(move |state| configure(state).map_err(Into::into))),
            next: None,
        }
    }
}

impl Assistant {
    /// Reads the configuration again, because a setting was changed.
    pub(super) fn read_configuration_again(&mut self) {
        let Some(configure) = &self.reconfiguring.configure else {
            return;
        };
        match configure(&self.state) {
            Ok(config) => {
                self.reconfiguring.next = Some(Box::new(AssistantConfig {
                    key: self.config.key.clone(),
                    ..config
                }));
            }
            Err(error) => self.keeps_configuration(&*error),
        }
    }

    /// Whether it is to be switched on or off. That applies within a tick, too.
    pub(super) fn is_switched(&self) -> bool {
        let next = self.reconfiguring.next.as_ref();
        next.is_some_and(|next| next.switch != self.config.switch)
    }

    /// Lets a changed configuration apply, unless a tick is under way. Nothing may be under way outside.
    pub(super) fn reconfigure(&mut self, now: Timestamp) {
        let is_ticking = self.state.turns.current().is_some_and(Turn::is_ticking);
        if is_ticking && !self.is_switched() {
            return;
        }
        let Some(next) = self.reconfiguring.next.take() else {
            return;
        };
        match prepare(&next, &self.tools, &self.ports.counter) {
            Ok(prepared) => {
                self.prepared = prepared;
                self.config = *next;
                self.beats.come_at(self.config.limits.tick_rate());
                self.note_configuration(now);
            }
            Err(error) => self.keeps_configuration(&error),
        }
    }

    fn keeps_configuration(&self, error: &(dyn std::error::Error + 'static)) {
        let (assistant, error) = (&self.config.key, dormouse_text::error_chain(error));
        tracing::warn!(%assistant, error, "changed settings cannot be used; it continues with the earlier ones");
    }
}
