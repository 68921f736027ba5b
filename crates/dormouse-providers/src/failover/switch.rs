//! Another model answers than before.

use std::fmt;

use dormouse_contracts::{ErrorClass, ModelError, ModelErrorKind, ModelName, ProviderId, Purpose};

/// Another model answers than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSwitch {
    /// Requests of which purpose.
    pub purpose: Purpose,
    /// Who answered before.
    pub from: (ProviderId, ModelName),
    /// Who answers now.
    pub to: (ProviderId, ModelName),
    /// Why.
    pub cause: SwitchCause,
}

/// Why another model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SwitchCause {
    /// The one before is left alone: it is ill, or its limits are used up.
    LeftAlone,
    /// The one before refused its credentials.
    Refused,
    /// The one before failed in a way of this class, and is left alone from now on.
    Failed(ErrorClass),
    /// One that stands earlier in the list answers again.
    WellAgain,
}

impl SwitchCause {
    pub(super) fn of(error: &ModelError) -> Self {
        match error.kind() {
            ModelErrorKind::LeftAlone(_) => Self::LeftAlone,
            ModelErrorKind::Auth => Self::Refused,
            kind => Self::Failed(kind.class()),
        }
    }
}

impl fmt::Display for SwitchCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftAlone => f.write_str("is left alone for now"),
            Self::Refused => f.write_str("refused its credentials"),
            Self::Failed(class) => write!(f, "failed ({class})"),
            Self::WellAgain => f.write_str("is well again"),
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

    /// Is it back to a model that stands earlier in the list?
    #[must_use]
    pub fn is_return(&self) -> bool {
        self.cause == SwitchCause::WellAgain
    }

    pub(super) fn log(&self) {
        if self.is_return() {
            tracing::info!("{self}");
        } else {
            tracing::warn!("{self}");
        }
    }
}

/// As `answer: anthropic:claude-x answers in place of openai:gpt-x, which is left alone for now`.
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
