//! The kinds of lines of a visit, and the character that each kind begins with.

/// The kind of a line. Text from outside never contains its character, because it is escaped there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// What the player did.
    Own,
    /// Speech that others hear, too.
    Heard,
    /// Speech that only the player hears: a whisper, a page.
    Private,
    /// What somebody did.
    Deed,
    /// What the program says.
    Program,
}

impl LineKind {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Own,
        Self::Heard,
        Self::Private,
        Self::Deed,
        Self::Program,
    ];

    /// The character that such a line begins with. All are one column wide in every terminal, and none is an emoji.
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
