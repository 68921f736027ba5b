mod always;
mod conversations;
mod merging;

use dormouse_contracts::{Attested, Audience, Delivery, Sender, SourceKind, Trust, WorldId};

use super::*;
use crate::testkit::{at, id, name, observed};
use crate::{AttributeUpdate, EntityType, TextLine};

fn created(entity: &str) -> EntityChange {
    EntityChange::Created {
        entity: id(entity),
        entity_type: EntityType::Player,
        name: name(&format!("Name of {entity}")),
    }
}

fn known(ids: &[&str]) -> Entities {
    let mut entities = Entities::new();
    for entity in ids {
        entities.apply(&created(entity), at(0)).unwrap();
    }
    entities
}

fn started(entity: &str, topic: Option<&str>) -> EntityChange {
    EntityChange::ConversationStarted {
        entity: id(entity),
        topic: topic.map(|topic| TextLine::try_new(topic).unwrap()),
        stale_after: StaleAfter::default(),
    }
}

fn action(entity: &str, text: &str, priority: u8) -> EntityChange {
    EntityChange::ActionAdded {
        entity: id(entity),
        description: TextLine::try_new(text).unwrap(),
        priority,
        due_at: None,
        when: Vec::new(),
        until: None,
        trust: None,
        audience: None,
        sources: dormouse_contracts::Sources::default(),
    }
}

fn merged(from: &str, into: &str) -> EntityChange {
    EntityChange::Merged {
        from: id(from),
        into: id(into),
    }
}

fn unmerged(entity: &str) -> EntityChange {
    EntityChange::Unmerged { entity: id(entity) }
}

#[test]
fn attributes_that_are_made_of_what_fewer_heard_are_known_to_these_alone() {
    let party = |ids: &[&str]| -> Audience { ids.iter().map(|one| id(one)).collect() };
    let update = AttributeUpdate {
        temperament: Some(TextLine::try_new("calm").unwrap()),
        ..AttributeUpdate::default()
    };
    let told = EntityChange::AttributesUpdated {
        entity: id("#1"),
        update: update.clone(),
        trust: Trust::FULL,
        audience: Some(party(&["#1", "#2"])),
        sources: dormouse_contracts::Sources::default(),
    };
    let heard = |audience: &[&str]| match observed("#1", "keeps a secret", 0.9) {
        EntityChange::Observed {
            entity,
            mut observation,
        } => {
            observation.audience = Some(party(audience));
            EntityChange::Observed {
                entity,
                observation,
            }
        }
        other => other,
    };
    let made = EntityChange::Consolidated {
        entity: id("#1"),
        update,
        observations: vec![1],
        trust: Trust::FULL,
        sources: dormouse_contracts::Sources::default(),
    };
    for (first, expected) in [
        (vec![told], &["#1"][..]),
        // Without any before, they are known to those who heard what they were made of.
        (vec![], &["#1"]),
    ] {
        let mut entities = known(&["#1"]);
        for change in first.iter().chain([&heard(&["#1"]), &made]) {
            entities.apply(change, at(1)).unwrap();
        }
        let profile = entities.profile(&id("#1")).unwrap();
        assert_eq!(profile.attributes.audience, Some(party(expected)));
    }
}

#[test]
fn a_deleted_profile_is_unknown_until_it_is_restored_as_it_was() {
    let mut entities = known(&["#1", "#2"]);
    entities
        .apply(&observed("#1", "likes tea", 0.9), at(1))
        .unwrap();
    entities.apply(&started("#1", Some("tea")), at(2)).unwrap();
    let before = entities.clone();

    let touched = entities
        .apply(&EntityChange::Deleted { entity: id("#1") }, at(3))
        .unwrap();
    assert!(touched.profiles.contains(&id("#1")) && touched.conversations.contains(&id("#1")));
    assert!(entities.known_as("name of #1").is_empty());
    assert_eq!(
        entities.apply(&created("#1"), at(4)),
        Err(EntityChangeError::Deleted { entity: id("#1") })
    );
    entities
        .apply(&EntityChange::Restored { entity: id("#1") }, at(5))
        .unwrap();
    assert_eq!(entities, before);
    assert_eq!(
        entities.check(&EntityChange::Purged { entity: id("#1") }, at(6)),
        Err(EntityChangeError::NotDeleted { entity: id("#1") })
    );
}

#[test]
fn purging_leaves_nothing_of_an_entity_and_those_merged_into_it() {
    let mut entities = known(&["#1", "#2", "#3"]);
    let others = known(&["#3"]);
    for (n, change) in [
        started("#1", None),
        EntityChange::ConversationEnded { entity: id("#1") },
        started("#2", None),
        merged("#1", "#2"),
        EntityChange::ConversationEnded { entity: id("#2") },
        EntityChange::Deleted { entity: id("#2") },
        EntityChange::Purged { entity: id("#2") },
    ]
    .iter()
    .enumerate()
    {
        entities.apply(change, at(n as i64)).unwrap();
    }
    assert_eq!(entities, others);
}

#[test]
fn what_was_noted_again_on_better_authority_is_believed_as_before_once_that_is_undone() {
    let mut known = known(&["bob"]);
    known
        .apply(&observed("bob", "likes rain", 0.3), at(1))
        .unwrap();
    let (before, again) = (known.clone(), observed("bob", "likes rain", 0.9));
    known.apply(&again, at(2)).unwrap();
    let believed = |known: &Entities| known.profile(&id("bob")).unwrap().observations[0].trust;
    assert!(believed(&known).score() > 0.8);
    let Undoing::Reverted(undo) = known.undoing(&again, at(2), &before).unwrap() else {
        panic!("it is taken back by its effect");
    };
    known.apply(&undo, at(3)).unwrap();
    assert_eq!(believed(&known), believed(&before));
}

#[test]
fn an_alias_of_two_answers_both_whatever_its_case() {
    let mut entities = known(&["#1", "#2"]);
    for entity in ["#1", "#2"] {
        let alias = name("Der  GROẞE");
        entities
            .apply(
                &EntityChange::AliasAdded {
                    entity: id(entity),
                    alias,
                },
                at(1),
            )
            .unwrap();
    }
    assert_eq!(entities.known_as(" der große"), [&id("#1"), &id("#2")]);
    let alias = name("Der  GROẞE");
    entities
        .apply(
            &EntityChange::AliasRemoved {
                entity: id("#1"),
                alias,
            },
            at(2),
        )
        .unwrap();
    assert_eq!(entities.known_as("DER GROSSE"), [&id("#2")]);
    assert!(entities.known_as("").is_empty());
}

fn heard(sender: Sender) -> Attested {
    let delivery = Delivery {
        world: WorldId::try_new("teahouse").unwrap(),
        number: 1,
    };
    Attested::new(delivery, SourceKind::Say, sender, at(0))
}

#[test]
fn a_speaker_becomes_known_is_renamed_and_stays_deleted() {
    let person = |name: &str| {
        heard(Sender::Entity {
            id: id("#7"),
            name: name.to_owned(),
        })
    };
    let mut entities = Entities::new();
    let hear = |entities: &mut Entities, attested: &Attested| {
        let changes = entities.heard(attested, Trust::FULL);
        changes.iter().for_each(|change| {
            entities.apply(change, at(1)).unwrap();
        });
        changes.len()
    };
    assert_eq!(hear(&mut entities, &person("Alice")), 2);
    assert_eq!(hear(&mut entities, &person("Alice")), 1);
    assert_eq!(hear(&mut entities, &person("Alicia\n")), 2);
    assert_eq!(entities.known_as("alice"), [&id("#7")]);
    assert_eq!(
        entities
            .profile(&id("#7"))
            .unwrap()
            .relationship
            .interaction_count(),
        3
    );
    assert_eq!(hear(&mut entities, &heard(Sender::Unattributed)), 0);

    entities
        .apply(&EntityChange::Deleted { entity: id("#7") }, at(2))
        .unwrap();
    assert_eq!(hear(&mut entities, &person("Alice")), 0);

    entities
        .apply(&EntityChange::Restored { entity: id("#7") }, at(3))
        .unwrap();
    entities.apply(&created("#8"), at(3)).unwrap();
    entities.apply(&merged("#7", "#8"), at(4)).unwrap();
    assert_eq!(
        hear(&mut entities, &person("Ally")),
        2,
        "an alias and an interaction"
    );
    assert_eq!(hear(&mut entities, &person("Ally")), 1);
    assert_eq!(
        entities.profile(&id("#8")).unwrap().name,
        name("Name of #8")
    );
}

#[test]
fn rows_that_do_not_belong_together_are_refused() {
    let mut entities = known(&["#1", "#2"]);
    entities.apply(&started("#2", None), at(1)).unwrap();
    let whole = entities.to_rows();
    let mut rows = whole.clone();
    rows.profiles.pop();
    assert_eq!(
        Entities::from_rows(rows),
        Err(RowsError::NoProfile { entity: id("#2") })
    );
    let mut rows = whole.clone();
    rows.profiles.push(rows.profiles[0].clone());
    assert_eq!(
        Entities::from_rows(rows),
        Err(RowsError::Twice { entity: id("#1") })
    );

    entities.apply(&merged("#1", "#2"), at(2)).unwrap();
    let mut rows = entities.to_rows();
    rows.profiles.clear();
    rows.conversations.clear();
    assert_eq!(
        Entities::from_rows(rows),
        Err(RowsError::MergedIntoNobody { entity: id("#1") })
    );
    let mut circle = entities.to_rows();
    let mut back = circle.removed[0].clone();
    back.kept.profile.entity_id = id("#2");
    if let EntityRemoval::Merged { into, .. } = &mut back.how {
        *into = id("#1");
    }
    circle.removed.push(back);
    circle.profiles.clear();
    circle.conversations.clear();
    assert!(matches!(
        Entities::from_rows(circle),
        Err(RowsError::MergedIntoNobody { .. })
    ));
}
