//! What was made of the tools of a request, kept for the next request with the same tools.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::ToolDefinition;

/// How many lists are kept: an assistant offers one or two in a turn, and a model may serve several assistants.
const LISTS: usize = 8;

/// What was made of the latest lists of tools. An assistant offers the same shared list in each step, so the work is done
/// once and not for each request.
pub(crate) struct ToolListCache<T>(Mutex<Vec<(Arc<[ToolDefinition]>, T)>>);

impl<T: Clone> ToolListCache<T> {
    /// Returns what `make` returns for these tools; calls it only if they are not the same list as in an earlier call.
    pub(crate) fn get(&self, tools: &Arc<[ToolDefinition]>, make: impl FnOnce() -> T) -> T {
        let known = self.take(tools);
        // Made outside of the lock, so that no other request waits for it. Two may make the same.
        let made = known.unwrap_or_else(make);
        let mut kept = self.lock();
        kept.insert(0, (Arc::clone(tools), made.clone()));
        kept.truncate(LISTS);
        made
    }

    fn take(&self, tools: &Arc<[ToolDefinition]>) -> Option<T> {
        let mut kept = self.lock();
        // A list that is kept here is alive and immutable, so no other list can have its address.
        let found = kept.iter().position(|(of, _)| Arc::ptr_eq(of, tools))?;
        Some(kept.remove(found).1)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<[ToolDefinition]>, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for ToolListCache<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for ToolListCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolListCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(name: &str) -> Arc<[ToolDefinition]> {
        Arc::new([ToolDefinition {
            name: name.parse().unwrap(),
            description: "Says it.".to_owned(),
            parameters: json!({"type": "object"}),
        }])
    }

    #[test]
    fn each_list_is_made_once_while_it_is_among_the_latest() {
        let kept = ToolListCache::default();
        let (one, same_words) = (list("say"), list("say"));
        let mut made = 0;
        let mut get = |tools: &Arc<[ToolDefinition]>| {
            kept.get(tools, || {
                made += 1;
                made
            })
        };
        assert_eq!((get(&one), get(&same_words), get(&one)), (1, 2, 1));
        for _ in 0..LISTS {
            get(&list("look"));
        }
        let lists = 2 + i32::try_from(LISTS).unwrap();
        assert_eq!(get(&one), lists + 1, "an old list is dropped");
    }
}
