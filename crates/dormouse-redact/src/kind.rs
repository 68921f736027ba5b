//! Kinds of secrets and personal data.

/// The kind of a [`Match`](crate::Match).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SensitiveKind {
    /// A service's key, or a value whose name is that of a key.
    ApiKey,
    /// A bearer token.
    Token,
    /// A private key.
    PrivateKey,
    /// A password, or a value whose name is that of a password.
    Password,
    /// A payment card number.
    CardNumber,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// An IP address, except loopback.
    IpAddress,
    /// A user name in the path of a home folder.
    UserName,
    /// The id of an organisation, project or account.
    AccountId,
    /// Text that is too random to be words, and is not a known kind of id.
    RandomText,
}

impl SensitiveKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::ApiKey,
        Self::Token,
        Self::PrivateKey,
        Self::Password,
        Self::CardNumber,
        Self::Email,
        Self::Phone,
        Self::IpAddress,
        Self::UserName,
        Self::AccountId,
        Self::RandomText,
    ];

    /// Returns the name of the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api key",
            Self::Token => "token",
            Self::PrivateKey => "private key",
            Self::Password => "password",
            Self::CardNumber => "card number",
            Self::Email => "email address",
            Self::Phone => "phone number",
            Self::IpAddress => "ip address",
            Self::UserName => "user name",
            Self::AccountId => "account id",
            Self::RandomText => "random key",
        }
    }

    /// Returns the mask for texts.
    #[must_use]
    pub const fn mask(self) -> &'static str {
        match self {
            Self::ApiKey => "[secret: api key]",
            Self::Token => "[secret: token]",
            Self::PrivateKey => "[secret: private key]",
            Self::Password => "[secret: password]",
            Self::CardNumber => "[secret: card number]",
            Self::Email => "[secret: email address]",
            Self::Phone => "[secret: phone number]",
            Self::IpAddress => "[secret: ip address]",
            Self::UserName => "[secret: user name]",
            Self::AccountId => "[secret: account id]",
            Self::RandomText => "[secret: random key]",
        }
    }

    /// Returns the word in a numbered placeholder, `[secret-1]` or `[email-2]`. All credentials share one word.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ApiKey | Self::Token | Self::PrivateKey | Self::Password => "secret",
            Self::CardNumber => "card",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::IpAddress => "ip",
            Self::UserName => "user",
            Self::AccountId => "organisation",
            Self::RandomText => "random",
        }
    }

    /// Whether a match of this kind is a credential, and not only personal data.
    #[must_use]
    pub const fn is_credential(self) -> bool {
        matches!(
            self,
            Self::ApiKey | Self::Token | Self::PrivateKey | Self::Password
        )
    }
}
