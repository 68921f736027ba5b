//! What holds for every history.

use proptest::prelude::*;

use super::{merged, unmerged};
use crate::testkit::{at, changes};
use crate::{Entities, EntityChange, ObservationStage, Profile, RemovedEntity, Undoing};

/// Applies what is accepted, a minute apart.
fn fold(changes: &[EntityChange]) -> Entities {
    let mut entities = Entities::new();
    for (n, change) in changes.iter().enumerate() {
        let minute = at(n as i64 * 60);
        drop(entities.apply(change, minute));
    }
    entities
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_refused_change_never_changes_anything_and_touched_rows_are_exactly_those_that_changed(
        before in changes(60), change in changes(1),
    ) {
        let mut entities = fold(&before);
        let was = entities.clone();
        for change in &change {
            prop_assert_eq!(was.check(change, at(9_999)).is_ok(), match entities.apply(change, at(9_999)) {
                Err(_) => { prop_assert_eq!(&entities, &was); false }
                Ok(touched) => {
                    let mut rows = was.to_rows();
                    prop_assert_eq!(touched.is_empty(), entities == was);
                    rows.profiles.retain(|p| !touched.profiles.contains(&p.entity_id));
                    rows.profiles.extend(touched.profiles.iter().filter_map(|id| entities.profile_row(id).cloned()));
                    rows.conversations.retain(|(id, _)| !touched.conversations.contains(id));
                    rows.conversations.extend(touched.conversations.iter().filter_map(|id| {
                        Some((id.clone(), entities.conversation_row(id)?.clone()))
                    }));
                    rows.archives.retain(|(id, _)| !touched.archives.contains(id));
                    rows.archives.extend(touched.archives.iter().filter_map(|id| {
                        Some((id.clone(), entities.archive_row(id)?.clone()))
                    }));
                    rows.removed.retain(|r| !touched.removed.contains(&r.kept.profile.entity_id));
                    rows.removed.extend(touched.removed.iter().filter_map(|id| entities.removed_row(id).cloned()));
                    prop_assert_eq!(&Entities::from_rows(rows).unwrap(), &entities, "a store that writes only these rows");
                    true
                }
            });
        }
    }

    #[test]
    fn undoing_at_once_always_gives_back_what_was_and_undoing_that_makes_it_again(
        before in changes(60), change in changes(1),
    ) {
        // Numbers are not used twice, and a time says when something changed last.
        // What was made of observations is not made of them again.
        let plain = |entities: &Entities| {
            let profiles = entities.profiles().map(|profile| {
                let mut profile = Profile { updated_at: at(0), last_number: 0, ..profile.clone() };
                profile.observations.iter_mut().for_each(|observation| observation.stage = ObservationStage::Fresh);
                profile
            });
            (profiles.collect::<Vec<_>>(), entities.conversations().map(|(id, it)| (id.clone(), it.topic.clone(), {
                let mut actions = it.pending_actions.clone();
                actions.sort_by_key(|action| action.id);
                actions
            })).collect::<Vec<_>>())
        };
        let was = fold(&before);
        for change in &change {
            let mut entities = was.clone();
            if entities.apply(change, at(9_999)).is_err() {
                continue;
            }
            let made = entities.clone();
            let (mut last, mut base, mut expected) = (change.clone(), was.clone(), [&was, &made].into_iter().cycle());
            for round in 0..4 {
                let Ok(undoing) = entities.undoing(&last, at(9_999 + round), &base) else { break };
                let undo = match undoing {
                    Undoing::Opposite(change) | Undoing::Reverted(change) => change,
                    Undoing::Impossible => break,
                };
                base = entities.clone();
                entities.apply(&undo, at(10_000 + round)).unwrap();
                let expected = expected.next().unwrap();
                let is_rearranged = matches!(change, EntityChange::Merged { .. } | EntityChange::Unmerged { .. });
                if !is_rearranged {
                    prop_assert_eq!(plain(&entities), plain(expected), "{:?}, round {}", change, round);
                }
                last = undo;
            }
        }
    }

    #[test]
    fn unmerging_at_once_always_gives_back_what_was(before in changes(80)) {
        let mut entities = fold(&before);
        let was = entities.clone();
        let ids: Vec<_> = entities.profiles().map(|p| p.entity_id.clone()).collect();
        if let [from, into, ..] = ids.as_slice() {
            entities.apply(&merged(from.as_str(), into.as_str()), at(10_000)).unwrap();
            prop_assert!(entities.profile(from).unwrap().entity_id == *into);
            entities.apply(&unmerged(from.as_str()), at(20_000)).unwrap();
            prop_assert_eq!(entities, was);
        }
    }

    #[test]
    fn unmerging_later_never_loses_what_was_added_since(before in changes(60), since in changes(40)) {
        let mut entities = fold(&before);
        let ids: Vec<_> = entities.profiles().map(|p| p.entity_id.clone()).collect();
        let [from, into, ..] = ids.as_slice() else { return Ok(()) };
        let was = entities.profile(from).unwrap().clone();
        entities.apply(&merged(from.as_str(), into.as_str()), at(10_000)).unwrap();
        for (n, change) in since.iter().enumerate() {
            // Nothing that ends the survivor's life.
            if !matches!(change, EntityChange::Deleted { .. } | EntityChange::Merged { .. } | EntityChange::Unmerged { .. }) {
                drop(entities.apply(change, at(10_001 + n as i64)));
            }
        }
        let together = entities.profile(into).unwrap().clone();
        entities.apply(&unmerged(from.as_str()), at(20_000)).unwrap();
        prop_assert_eq!(entities.profile(from).unwrap(), &was, "the other one is as it was");
        let apart = entities.profile(into).unwrap();
        for observation in together.observations.iter().filter(|o| o.timestamp >= at(10_001)) {
            prop_assert!(apart.observations.iter().any(|o| o.content == observation.content));
        }
        prop_assert!(apart.relationship.interaction_count() <= together.relationship.interaction_count());
    }

    #[test]
    fn the_same_changes_always_give_the_same_state_through_json_and_through_rows(changes in changes(60)) {
        let entities = fold(&changes);
        let text = serde_json::to_string(&changes).unwrap();
        let read: Vec<EntityChange> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&fold(&read), &entities);
        let whole = serde_json::to_string(&entities).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Entities>(&whole).unwrap(), &entities);
        for profile in entities.profiles() {
            let text = serde_json::to_string(profile).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Profile>(&text).unwrap(), profile);
        }
        for removed in entities.to_rows().removed {
            let text = serde_json::to_string(&removed).unwrap();
            prop_assert_eq!(serde_json::from_str::<RemovedEntity>(&text).unwrap(), removed);
        }
    }
}
