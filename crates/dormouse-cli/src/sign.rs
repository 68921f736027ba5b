//! The signs that lines of a visit begin with, one for each kind of line.

/// What kind of line it is. Nobody can type the sign: in text from outside it is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// What the player did.
    Own,
    /// What was said to be heard by others, too.
    Heard,
    /// What only the player hears: a whisper, a page.
    Private,
    /// What somebody did.
    Deed,
    /// What the program says.
    Program,
}

impl Sign {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Own,
        Self::Heard,
        Self::Private,
        Self::Deed,
        Self::Program,
    ];

    /// The character it is shown as. All are one column wide in every terminal, and none is an emoji.
    pub(crate) fn char(self) -> char {
        match self {
            Self::Own => '▸',
            Self::Heard => '◂',
            Self::Private => '◉',
            Self::Deed => '✱',
            Self::Program => '◊',
        }
    }
}
