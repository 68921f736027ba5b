//! Where a text goes, and therefore what must not be in it.

use crate::SensitiveKind;

/// What is looked for, and how sure the detector has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RedactionProfile {
    /// Text that an assistant remembers. A mask cannot be taken back, so that prose must stay: credentials, cards of the
    /// large schemes, and text that is certainly random.
    Memory,
    /// Exchanges with servers that are recorded and passed on: credentials and personal data, rather too much than too
    /// little.
    Recordings,
    /// A recording that was scrubbed and is checked once more: everything, also text that is only suspiciously random.
    Inspection,
    /// Errors that are printed and logged: credentials. The rest of an error has to stay readable.
    Errors,
}

impl RedactionProfile {
    /// Every profile.
    pub const ALL: [Self; 4] = [
        Self::Memory,
        Self::Recordings,
        Self::Inspection,
        Self::Errors,
    ];

    /// Whether this kind is looked for.
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

    /// The mask that replaces a match.
    pub(crate) const fn mask(self, kind: SensitiveKind) -> &'static str {
        match self {
            Self::Errors => "***",
            Self::Memory | Self::Recordings | Self::Inspection => kind.mask(),
        }
    }
}
