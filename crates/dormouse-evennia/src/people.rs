//! Accounts by name, as far as the game has named them: a page names its listener, and who that is has to be known before
//! it is sent.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::EntityId;

use crate::room::{EntityKind, GameEntity};

/// So many are remembered. Names of a game are short, so the file stays below a megabyte.
const REMEMBERED: usize = 5_000;

/// The accounts that the game has named, by their name in lower case. Names of accounts are unique in a game.
#[derive(Debug, Default)]
pub(crate) struct People {
    accounts: BTreeMap<String, (String, EntityId)>,
    /// Where they are kept, so that somebody can be paged after a restart.
    file: Option<PathBuf>,
}

impl People {
    /// Those in the file. A missing or damaged file is an empty one: it only saves meeting people again.
    pub(crate) fn open(file: &Path) -> Self {
        let read = fs::read(file).ok();
        let accounts = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self {
            accounts: accounts.unwrap_or_default(),
            file: Some(file.to_owned()),
        }
    }

    /// Notes the accounts of these entities, and writes the file if one is new or renamed.
    pub(crate) fn meet<'a>(
        &mut self,
        met: impl IntoIterator<Item = &'a GameEntity>,
    ) -> io::Result<()> {
        let mut has_changed = false;
        for entity in met {
            let account = match (&entity.account, entity.kind) {
                (Some(account), _) => &account.key,
                (None, EntityKind::Account) => &entity.key,
                (None, EntityKind::Object) => continue,
            };
            if let Ok(id) = entity.person() {
                has_changed |= self.note(account, id);
            }
        }
        match &self.file {
            Some(file) if has_changed => write(file, &self.accounts),
            _ => Ok(()),
        }
    }

    fn note(&mut self, name: &str, id: EntityId) -> bool {
        let key = name.to_lowercase();
        let is_known = self
            .accounts
            .get(&key)
            .is_some_and(|(_, known)| *known == id);
        if is_known || (self.accounts.len() >= REMEMBERED && !self.accounts.contains_key(&key)) {
            return false;
        }
        // An account that was renamed leaves its old name.
        self.accounts.retain(|_, (_, known)| *known != id);
        self.accounts.insert(key, (name.to_owned(), id));
        true
    }

    /// The account of this name.
    pub(crate) fn account(&self, name: &str) -> Option<(&str, &EntityId)> {
        let (name, id) = self.accounts.get(&name.trim().to_lowercase())?;
        Some((name, id))
    }
}

fn write(file: &Path, accounts: &BTreeMap<String, (String, EntityId)>) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, serde_json::to_vec(accounts)?)?;
    fs::rename(new, file)
}
