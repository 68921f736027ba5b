//! What was found.

/// What kind of secret or personal data a [`Match`](crate::Match) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SensitiveKind {
    /// The key of a service, or a value that is called one.
    ApiKey,
    /// A token that lets its bearer in.
    Token,
    /// A private key.
    PrivateKey,
    /// A password, or a value that is called one.
    Password,
    /// The number of a payment card.
    CardNumber,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// The address of a machine, except those that mean the machine itself.
    IpAddress,
    /// The name of a user, in the path of a home folder.
    UserName,
    /// The id of an organisation, project or account.
    AccountId,
    /// Text that is too random to be words, and no kind of id that is known to be harmless.
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

    /// The words for it.
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

    /// The mask that replaces it in a text.
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

    /// The word in a numbered placeholder, `[secret-1]` or `[email-2]`. Everything that lets somebody in has one word.
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

    /// Whether it lets somebody in, and does not only say who somebody is.
    #[must_use]
    pub const fn is_credential(self) -> bool {
        matches!(
            self,
            Self::ApiKey | Self::Token | Self::PrivateKey | Self::Password
        )
    }
}
