//! What is searched for, by the destination of a text.

use crate::SensitiveKind;

/// What is searched for, and how certain a match must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RedactionProfile {
    /// Text that an assistant remembers. Covers credentials, cards of large schemes, and text that is certainly random.
    /// Prose must stay, because a mask cannot be undone.
    Memory,
    /// Values of a tool call or its result. Covers what [`Memory`](Self::Memory) covers except random text, because ids look
    /// random, and a masked id names nothing.
    Values,
    /// Recorded exchanges that are passed on. Covers credentials and personal data, and prefers false alarms to misses.
    Recordings,
    /// A second check of a scrubbed recording. Covers everything, including suspiciously random text.
    Inspection,
    /// Errors that are printed and logged. Covers only credentials, because the rest must stay readable.
    Errors,
}

impl RedactionProfile {
    /// Every profile.
    pub const ALL: [Self; 5] = [
        Self::Memory,
        Self::Values,
        Self::Recordings,
        Self::Inspection,
        Self::Errors,
    ];

    /// Whether this kind is searched for.
    #[must_use]
    pub const fn covers(self, kind: SensitiveKind) -> bool {
        match kind {
            SensitiveKind::ApiKey
            | SensitiveKind::Token
            | SensitiveKind::PrivateKey
            | SensitiveKind::Password => true,
            SensitiveKind::CardNumber => !matches!(self, Self::Errors),
            SensitiveKind::Email
            | SensitiveKind::Phone
            | SensitiveKind::IpAddress
            | SensitiveKind::UserName
            | SensitiveKind::AccountId => self.is_wide(),
            SensitiveKind::RandomText => matches!(self, Self::Memory | Self::Inspection),
        }
    }

    /// Whether a doubtful match counts.
    pub(crate) const fn is_wide(self) -> bool {
        matches!(self, Self::Recordings | Self::Inspection)
    }

    /// Whether prose must stay, because a mask cannot be undone.
    pub(crate) const fn keeps_prose(self) -> bool {
        matches!(self, Self::Memory | Self::Values)
    }

    /// Returns the mask of a match.
    pub(crate) const fn mask(self, kind: SensitiveKind) -> &'static str {
        match self {
            Self::Errors => "***",
            Self::Memory | Self::Values | Self::Recordings | Self::Inspection => kind.mask(),
        }
    }
}
