//! Accounts by name, as far as the game has named them: a page names its listener, and who that is has to be known before
//! it is sent.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::EntityId;
use serde::{Deserialize, Serialize};

use crate::room::{EntityKind, GameEntity};

/// So many are remembered. Names of a game are short, so the file stays below a megabyte.
const REMEMBERED: usize = 5_000;

/// What is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    /// By their name in lower case. Names of accounts are unique in a game.
    accounts: BTreeMap<String, (String, EntityId)>,
    /// When each account was made. If the number is the same and the time is not, it is another person.
    made: BTreeMap<EntityId, i64>,
    /// By the account of a resident: the id of the game that it was in. In another game the same numbers are other people.
    games: BTreeMap<String, String>,
}

/// An account has the number of another one that is gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnotherPerson {
    pub(crate) id: EntityId,
    pub(crate) name: String,
}

/// The accounts that the game has named, and which game it was.
#[derive(Debug, Default)]
pub(crate) struct People {
    known: Known,
    /// Where they are kept, so that somebody can be paged after a restart.
    file: Option<PathBuf>,
}

impl People {
    /// Those in the file. A missing or damaged file is an empty one: it only saves meeting people again.
    pub(crate) fn open(file: &Path) -> Self {
        let read = fs::read(file).ok();
        let known = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self {
            known: known.unwrap_or_default(),
            file: Some(file.to_owned()),
        }
    }

    /// Notes the accounts of these entities, and writes the file if one is new or renamed.
    ///
    /// # Errors
    ///
    /// An account of another person, whose number belonged to somebody else before. Nothing is noted of it.
    pub(crate) fn meet<'a>(
        &mut self,
        met: impl IntoIterator<Item = &'a GameEntity>,
    ) -> Result<io::Result<()>, AnotherPerson> {
        let mut has_changed = false;
        for entity in met {
            if let (Some(account), Ok(id)) = (&entity.account, entity.person()) {
                has_changed |= self.is_known_since(&account.key, id, account.since)?;
            }
            let account = match (&entity.account, entity.kind) {
                (Some(account), _) => &account.key,
                (None, EntityKind::Account) => &entity.key,
                (None, EntityKind::Object) => continue,
            };
            if let Ok(id) = entity.person() {
                has_changed |= self.note(account, id);
            }
        }
        Ok(match &self.file {
            Some(file) if has_changed => write(file, &self.known),
            _ => Ok(()),
        })
    }

    /// Notes when an account was made; `true` if that is new.
    fn is_known_since(
        &mut self,
        name: &str,
        id: EntityId,
        since: Option<i64>,
    ) -> Result<bool, AnotherPerson> {
        let (Some(since), made) = (since, &mut self.known.made) else {
            return Ok(false);
        };
        match made.get(&id) {
            Some(before) if *before == since => Ok(false),
            Some(_) => Err(AnotherPerson {
                id,
                name: name.to_owned(),
            }),
            None if made.len() >= REMEMBERED => Ok(false),
            None => {
                made.insert(id, since);
                Ok(true)
            }
        }
    }

    fn note(&mut self, name: &str, id: EntityId) -> bool {
        let key = name.to_lowercase();
        let accounts = &mut self.known.accounts;
        let is_known = accounts.get(&key).is_some_and(|(_, known)| *known == id);
        if is_known || (accounts.len() >= REMEMBERED && !accounts.contains_key(&key)) {
            return false;
        }
        // An account that was renamed leaves its old name.
        accounts.retain(|_, (_, known)| *known != id);
        accounts.insert(key, (name.to_owned(), id));
        true
    }

    /// The id of the game that this account of a resident was in.
    pub(crate) fn game_of(&self, account: &str) -> Option<String> {
        self.known.games.get(account).cloned()
    }

    /// Notes which game this account of a resident is in, and writes the file if that is new.
    pub(crate) fn is_in(&mut self, account: &str, game: &str) -> io::Result<()> {
        if self.known.games.get(account).map(String::as_str) == Some(game) {
            return Ok(());
        }
        self.known.games.insert(account.to_owned(), game.to_owned());
        match &self.file {
            Some(file) => write(file, &self.known),
            None => Ok(()),
        }
    }

    /// The account of this name.
    pub(crate) fn account(&self, name: &str) -> Option<(&str, &EntityId)> {
        let (name, id) = self.known.accounts.get(&name.trim().to_lowercase())?;
        Some((name, id))
    }
}

fn write(file: &Path, known: &Known) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, serde_json::to_vec(known)?)?;
    fs::rename(new, file)
}
