//! Who gets a task.

use dormouse_contracts::AssistantId;

use crate::event::{DelegationFailure, Tag, TaskDelegated};

/// An assistant of the host that could get a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegateCandidate {
    /// Its key.
    pub key: AssistantId,
    /// The name of its character.
    pub name: String,
    /// Its tags.
    pub tags: Vec<Tag>,
    /// Whether its emergency stop is on.
    pub is_stopped: bool,
    /// Whether it takes no ticks.
    pub is_asleep: bool,
    /// How many tasks of others it has not answered.
    pub tasks: usize,
}

impl DelegateCandidate {
    fn has_tag(&self, tag: &str) -> bool {
        let tag = tag.to_lowercase();
        self.tags.iter().any(|own| own.as_str() == tag)
    }
}

/// Who of these gets a task. What the call names is read as a key first, then as a tag, then as the name of a character. Of
/// several, one that can begin goes first, then the one with the fewest tasks, then the first by key. Pure: the order of the
/// candidates decides nothing.
///
/// # Errors
///
/// Why nobody does.
pub fn choose_delegate<'a>(
    delegated: &TaskDelegated,
    candidates: &'a [DelegateCandidate],
) -> Result<&'a AssistantId, DelegationFailure> {
    let TaskDelegated { to, tag, task, .. } = delegated;
    let is_allowed = |it: &&DelegateCandidate| tag.as_ref().is_none_or(|tag| it.has_tag(tag));
    let meant: Vec<_> = match to {
        None => candidates.iter().collect(),
        Some(to) => meant(to, candidates),
    };
    let by_name = to.as_ref().is_some_and(|to| {
        let is_name = |it: &&DelegateCandidate| it.key.as_str() != to && !it.has_tag(to);
        meant.iter().all(is_name)
    });
    let is_in_chain = |it: &&&DelegateCandidate| task.chain.contains(&it.key);
    let others: Vec<_> = meant
        .iter()
        .filter(|it| !is_in_chain(it))
        .copied()
        .collect();
    if others.is_empty() && !meant.is_empty() && to.is_some() {
        return Err(DelegationFailure::Cycle);
    }
    let mut others: Vec<_> = others.into_iter().filter(is_allowed).collect();
    if by_name && others.len() > 1 {
        return Err(DelegationFailure::Ambiguous);
    }
    others.sort_by_key(|it| (it.is_stopped, it.is_asleep, it.tasks, &it.key));
    match others.first() {
        None => Err(DelegationFailure::NoneFound),
        Some(first) if first.is_stopped => Err(DelegationFailure::EmergencyStop),
        Some(first) if first.is_asleep => Err(DelegationFailure::Asleep),
        Some(first) => Ok(&first.key),
    }
}

fn meant<'a>(to: &str, candidates: &'a [DelegateCandidate]) -> Vec<&'a DelegateCandidate> {
    let by_key = candidates.iter().find(|it| it.key.as_str() == to);
    if let Some(it) = by_key {
        return vec![it];
    }
    let tagged: Vec<_> = candidates.iter().filter(|it| it.has_tag(to)).collect();
    if !tagged.is_empty() {
        return tagged;
    }
    let name = to.to_lowercase();
    let named = candidates.iter();
    named.filter(|it| it.name.to_lowercase() == name).collect()
}

#[cfg(test)]
mod tests;
