//! Switches between the models of a list.

use std::fmt;

use dormouse_contracts::{ErrorClass, ModelError, ModelErrorKind, ModelName, ProviderId, Purpose};

/// A switch to another model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSwitch {
    /// The purpose of the requests.
    pub purpose: Purpose,
    /// The previous model.
    pub from: (ProviderId, ModelName),
    /// The model that answers now.
    pub to: (ProviderId, ModelName),
    /// The reason.
    pub cause: SwitchCause,
}

/// Why another model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SwitchCause {
    /// The previous model was not called: its circuit is open or its limits are reached.
    NotAttempted,
    /// The server of the previous model rejected our credentials.
    Refused,
    /// The previous model failed with an error of this class, and its circuit is open now.
    Failed(ErrorClass),
    /// A model earlier in the list answers again.
    Recovered,
}

impl SwitchCause {
    pub(super) fn of(error: &ModelError) -> Self {
        match error.kind() {
            ModelErrorKind::NotAttempted(_) => Self::NotAttempted,
            ModelErrorKind::Auth => Self::Refused,
            kind => Self::Failed(kind.class()),
        }
    }
}

impl fmt::Display for SwitchCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAttempted => f.write_str("is being skipped for now"),
            Self::Refused => f.write_str("rejected the key"),
            Self::Failed(class) => write!(f, "failed ({class})"),
            Self::Recovered => f.write_str("has recovered"),
        }
    }
}

impl ModelSwitch {
    pub(super) fn new(
        purpose: Purpose,
        (from_provider, from_model): (&ProviderId, &ModelName),
        (to_provider, to_model): (&ProviderId, &ModelName),
        cause: SwitchCause,
    ) -> Self {
        Self {
            purpose,
            from: (from_provider.clone(), from_model.clone()),
            to: (to_provider.clone(), to_model.clone()),
            cause,
        }
    }

    /// Whether this is a return to a model earlier in the list.
    #[must_use]
    pub fn is_return(&self) -> bool {
        self.cause == SwitchCause::Recovered
    }

    pub(super) fn log(&self) {
        if self.is_return() {
            tracing::info!("{self}");
        } else {
            tracing::warn!("{self}");
        }
    }
}

/// For example `answer: anthropic:claude-x answers in place of openai:gpt-x, which is being skipped for now`.
impl fmt::Display for ModelSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (purpose, cause) = (self.purpose, self.cause);
        let from = format!("{}:{}", self.from.0, self.from.1);
        let to = format!("{}:{}", self.to.0, self.to.1);
        if self.is_return() {
            write!(f, "{purpose}: {to} {cause} and answers in place of {from}")
        } else {
            write!(
                f,
                "{purpose}: {to} answers in place of {from}, which {cause}"
            )
        }
    }
}
