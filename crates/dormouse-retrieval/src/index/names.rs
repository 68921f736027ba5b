//! Numbers for names that many units share.

use std::{collections::HashMap, sync::Arc};

/// Reference-counted names by number. A name without users is removed, and its number is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    numbers: HashMap<Arc<str>, u32>,
    entries: Vec<(Arc<str>, u32)>,
    free: Vec<u32>,
}

/// The result of [`NameTable::release`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameRelease {
    /// Other units still use the name.
    Held,
    /// The name was removed.
    Forgotten(Arc<str>),
}

impl NameTable {
    /// Adds one user of `name`. Returns the number of the name, and `true` if the name is new.
    pub(crate) fn hold(&mut self, name: &str) -> (u32, bool) {
        if let Some(&number) = self.numbers.get(name) {
            if let Some((_, held)) = self.entries.get_mut(number as usize) {
                *held += 1;
            }
            return (number, false);
        }
        let name: Arc<str> = name.into();
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(("".into(), 0));
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(entry) = self.entries.get_mut(number as usize) {
            *entry = (Arc::clone(&name), 1);
        }
        self.numbers.insert(name, number);
        (number, true)
    }

    /// Removes one user of `number`.
    pub(crate) fn release(&mut self, number: u32) -> NameRelease {
        let Some((name, held)) = self.entries.get_mut(number as usize) else {
            return NameRelease::Held;
        };
        *held = held.saturating_sub(1);
        if *held > 0 {
            return NameRelease::Held;
        }
        let name = std::mem::replace(name, "".into());
        self.numbers.remove(&name);
        self.free.push(number);
        NameRelease::Forgotten(name)
    }

    /// The name of `number`.
    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        self.entries.get(number as usize).map(|(name, _)| &**name)
    }

    /// All names with their numbers, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.numbers.iter().map(|(name, number)| (&**name, *number))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries
            .iter()
            .map(|(name, _)| name.len() + 16 + 2 * size_of::<(Arc<str>, u32)>())
            .sum()
    }
}
