//! What the operator of an assistant should know about its connection.

use std::fmt;

use dormouse_contracts::EntityId;

/// Something that happened to the connection of an assistant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// It is in the game, and perceives.
    Ready {
        /// The name of its character or account.
        name: String,
        /// The name of the game.
        game: String,
        /// The version of Evennia.
        evennia: String,
        /// The version of the package in the game.
        package: String,
    },
    /// The game does not have the package: the assistant only observes.
    Observing,
    /// The connection ended. It is opened again.
    Disconnected {
        /// Why.
        why: String,
    },
    /// The game reloads, and continues in some seconds.
    Reloading,
    /// The game is stopping or restarting.
    Stopping,
    /// The game refuses the account or the password, or has banned it. Nothing is tried any more.
    NotLetIn {
        /// The account.
        account: String,
    },
    /// The account was not made a resident. Nothing is tried any more.
    NotResident {
        /// The account.
        account: String,
    },
    /// The game's package speaks another version of the protocol. Nothing is tried any more.
    Version {
        /// The game's version; 0 if it did not say.
        game: u32,
    },
    /// Another client speaks for the account.
    TakenOver,
    /// The game was restored, and a new account has the number of another account that is gone.
    AnotherPerson {
        /// Its number, as an id.
        id: EntityId,
        /// Its name.
        name: String,
    },
    /// This is another game than the one in which the assistant lived before.
    AnotherGame {
        /// The account.
        account: String,
    },
    /// The game's database was restored from an older copy.
    Restored,
    /// The game dropped messages because too many waited.
    Lost {
        /// How many.
        count: u64,
    },
    /// The game reports something that its operator should mend.
    Problem {
        /// What.
        problem: String,
    },
    /// A frame of the game was not understood and is skipped.
    Skipped {
        /// Why.
        why: String,
    },
    /// The game refused a request.
    Refused {
        /// Its reason.
        error: String,
    },
    /// Something could not be stored. It is tried again.
    NotStored {
        /// Why.
        why: String,
    },
}

impl Notice {
    /// Whether it is about the state of the connection from now on.
    #[must_use]
    pub fn is_connection(&self) -> bool {
        self.is_final()
            || matches!(
                self,
                Self::Ready { .. }
                    | Self::Observing
                    | Self::Disconnected { .. }
                    | Self::Reloading
                    | Self::Stopping
                    | Self::TakenOver
            )
    }

    /// Whether the assistant cannot live in the game until somebody mends this.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::NotLetIn { .. }
                | Self::NotResident { .. }
                | Self::Version { .. }
                | Self::AnotherGame { .. }
                | Self::AnotherPerson { .. }
        )
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready {
                name,
                game,
                evennia,
                package,
            } => write!(
                f,
                "is in the game {game:?} as {name:?} (Evennia {evennia}, package {package})"
            ),
            Self::Observing => f.write_str(
                "only observes: the game does not answer as one with the package dormouse_evennia. What it prints is read, \
                 but names no sender, so nothing of it is answered. See `dormouse evennia setup`",
            ),
            Self::Disconnected { why } => write!(f, "is not connected ({why}); trying again"),
            Self::Reloading => f.write_str("waits: the game reloads"),
            Self::Stopping => f.write_str("waits: the game is stopping or restarting"),
            Self::NotLetIn { account } => write!(
                f,
                "is not let in: the game refuses the account {account:?} with this password, or its staff banned it. Nothing more is \
                 tried, because five failures lock this address out. Correct evennia.account or the password, or let the staff \
                 `unban` it, and start again"
            ),
            Self::NotResident { account } => write!(
                f,
                "is not a resident: the account {account:?} has to be made one in the game, by its staff: `airesident {account}`; then start \
                 again"
            ),
            Self::Version { game } => write!(
                f,
                "cannot live here: the game's package speaks version {game} of the protocol, and this program version {}; \
                 install the package of this program",
                crate::frame::PROTOCOL
            ),
            Self::TakenOver => f.write_str(
                "waits: another client speaks for its account. If that was not a person, two programs use one account",
            ),
            Self::AnotherGame { account } => write!(
                f,
                "does not live here: the account {account:?} is in another game than before, the game was made anew, or the account was made a \
                 resident anew. The numbers of its people may be other people now, who would hear what was meant for those. Use another data \
                 folder; or, if everybody is still who they were, remove evennia-people.json from this one, and start again"
            ),
            Self::AnotherPerson { id, name } => write!(
                f,
                "does not live here: the account {name:?} ({id}) was made later than the one that had this number. The game was restored from an \
                 older copy, and gave the number again. What the other one said in private would be told to this one. `dormouse forget --person \
                 {id}` removes what the other one said; then remove evennia-people.json, and start again. Or use another data folder"
            ),
            Self::Restored => {
                f.write_str("is in a game that was restored from an older copy: what happened since is gone there")
            }
            Self::Lost { count } => write!(
                f,
                "missed {count} messages: the game keeps only so many for somebody who is away"
            ),
            Self::Problem { problem } => write!(f, "has a problem in the game: {problem}"),
            Self::Skipped { why } => write!(f, "skips something of the game: {why}"),
            Self::Refused { error } => write!(f, "was refused something by the game: {error}"),
            Self::NotStored { why } => {
                write!(f, "cannot store what it hears, and tries again: {why}")
            }
        }
    }
}
