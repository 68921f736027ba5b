use std::time::Duration;

use proptest::prelude::*;

use dormouse_contracts::{Audience, Sources};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

fn relationship(favorability: f32, trust: f32, rapport: f32) -> Relationship {
    Relationship {
        favorability: Favorability::try_new(favorability).unwrap(),
        trust: Trust::try_new(trust).unwrap(),
        rapport: Rapport::try_new(rapport).unwrap(),
        ..Relationship::default()
    }
}

#[test]
fn the_score_is_the_documented_sum_and_each_bound_opens_its_state() {
    use RelationshipState::{Acquaintance, Ally, Friend, Stranger};
    for (favorability, trust, rapport, score, state) in [
        (0.0, 0.5, 0.0, 0.15, Stranger),
        (0.0, 0.5, 0.5, 0.25, Acquaintance),
        (0.0, 0.5, 0.499, 0.2498, Stranger),
        (0.4, 0.5, 0.75, 0.5, Friend),
        (0.9, 0.6, 0.6, 0.75, Ally),
        (0.9, 0.6, 0.599, 0.7498, Friend),
        (1.0, 1.0, 1.0, 1.0, Ally),
        (-1.0, 0.0, 0.0, -0.5, Stranger),
    ] {
        let relationship = relationship(favorability, trust, rapport);
        assert_eq!(
            (relationship.score(), relationship.state()),
            (score, state),
            "{favorability} {trust} {rapport}"
        );
    }
    assert_eq!(RelationshipState::from_score(f64::NAN), Stranger);
}

#[test]
fn a_value_that_is_not_a_number_never_becomes_a_measure() {
    for value in [f32::NAN, f32::INFINITY, 1.000_1, -1.000_1] {
        assert!(Favorability::try_new(value).is_err(), "{value}");
        assert!(Rapport::try_new(value).is_err(), "{value}");
    }
    assert!(Rapport::try_new(-0.1).is_err());
    assert!(Favorability::try_new(-1.0).is_ok() && Rapport::try_new(1.0).is_ok());
    assert!(serde_json::from_str::<Metric>(r#"{"rapport":2.0}"#).is_err());
}

#[test]
fn a_month_of_daily_talk_makes_an_acquaintance_and_a_year_of_absence_a_stranger() {
    let mut relationship = Relationship::default();
    let trust = Trust::try_new(0.9).unwrap();
    let mut now = Timestamp::EPOCH;
    for _ in 0..30 {
        now = now.plus(DAY);
        (0..5).for_each(|_| relationship.interact(trust, now));
    }
    assert_eq!(relationship.state(), RelationshipState::Acquaintance);
    relationship.trust = Trust::try_new(0.5).unwrap();
    assert_eq!(
        relationship.state_at(now.plus(DAY * 365)),
        RelationshipState::Stranger
    );
}

#[test]
fn the_state_is_written_and_never_believed_when_read() {
    let text = serde_json::to_string(&relationship(0.4, 0.5, 0.75)).unwrap();
    assert!(text.contains(r#""state":"friend""#), "{text}");
    let forged =
        r#"{"favorability":0.0,"trust":0.5,"rapport":0.0,"state":"ally","interaction_count":0}"#;
    let read: Relationship = serde_json::from_str(forged).unwrap();
    assert_eq!(read.state(), RelationshipState::Stranger);
}

proptest! {
    #[test]
    fn the_score_never_leaves_its_range_and_never_falls_when_a_measure_rises(
        f in -1.0f32..=1.0, t in 0.0f32..=1.0, r in 0.0f32..=1.0, more in 0.0f32..=1.0,
    ) {
        let before = relationship(f, t, r);
        prop_assert!((-0.5..=1.0).contains(&before.score()));
        for after in [
            relationship((f + more).min(1.0), t, r),
            relationship(f, (t + more).min(1.0), r),
            relationship(f, t, (r + more).min(1.0)),
        ] {
            prop_assert!(after.score() >= before.score());
            prop_assert!(after.state() >= before.state());
        }
    }

    #[test]
    fn a_flood_within_one_day_never_makes_a_friend_nor_moves_the_score_by_more_than_documented(
        minutes in prop::collection::vec((0u32..1_440, 0.0f32..=1.0), 0..400),
    ) {
        let mut relationship = Relationship::default();
        let before = relationship.score();
        for (minute, trust) in &minutes {
            let at = Timestamp::EPOCH.plus(DAY * 7 + Duration::from_secs(60) * *minute);
            relationship.interact(Trust::try_new(*trust).unwrap(), at);
        }
        prop_assert_eq!(relationship.interaction_count(), minutes.len() as u64);
        prop_assert_eq!(relationship.state(), RelationshipState::Stranger);
        prop_assert!((relationship.score() - before).abs() <= 0.025 + 1e-6);
    }

    #[test]
    fn talk_alone_never_makes_a_friend_of_whom_no_server_vouches_fully_for(
        steps in prop::collection::vec((0u32..100, 0.0f32..=0.9), 0..600),
    ) {
        let mut relationship = Relationship::default();
        let mut now = Timestamp::EPOCH;
        for (hours, trust) in steps {
            now = now.plus(HOUR * hours);
            relationship.interact(Trust::try_new(trust).unwrap(), now);
        }
        prop_assert!(relationship.state() < RelationshipState::Friend);
        prop_assert_eq!(relationship.favorability(), Favorability::default());
    }

    #[test]
    fn judgements_never_move_favorability_further_in_a_day_than_documented(
        steps in prop::collection::vec(-1.0f32..=1.0, 0..100),
    ) {
        let mut relationship = Relationship::default();
        for step in steps {
            relationship.judge(step, Audience::Public, &Sources::default(), Timestamp::EPOCH.plus(DAY));
        }
        let moved = relationship.favorability().value().abs();
        prop_assert!(moved <= InteractionRule::FAVORABILITY_A_DAY + 1e-6);
    }

    #[test]
    fn rapport_never_grows_with_absence(r in 0.0f32..=1.0, a in 0u32..4_000, b in 0u32..4_000) {
        let relationship = relationship(0.0, 0.5, r);
        let at = |days| relationship.rapport_at(Timestamp::EPOCH.plus(DAY * days));
        prop_assert!(at(a.max(b)) <= at(a.min(b)));
    }

    #[test]
    fn an_interaction_out_of_order_never_opens_a_second_day(
        days in prop::collection::vec(0u32..3, 0..300),
    ) {
        let mut relationship = Relationship::default();
        for day in days {
            relationship.interact(Trust::FULL, Timestamp::EPOCH.plus(DAY * day));
        }
        prop_assert!(relationship.rapport().value() <= 3.0 * InteractionRule::RAPPORT_A_DAY + 1e-6);
    }
}

fn party(ids: &[&str]) -> Audience {
    let ids = ids
        .iter()
        .map(|id| dormouse_contracts::EntityId::try_new(*id).unwrap());
    ids.collect()
}

#[test]
fn a_judgement_counts_for_those_who_were_party_to_what_it_was_made_from() {
    let mut relationship = Relationship::default();
    let day = |days: u32| Timestamp::EPOCH.plus(days * DAY);
    relationship.judge(0.2, party(&["alice"]), &Sources::default(), day(1));
    relationship.judge(0.2, party(&["alice", "bob"]), &Sources::default(), day(2));
    relationship.judge(0.2, Audience::Public, &Sources::default(), day(3));
    let for_all_of = |ids: &[&str]| {
        let listeners = party(ids);
        let known = relationship.without(|audience| audience.covers(&listeners));
        (known.favorability().value() * 10.0).round() / 10.0
    };
    assert_eq!(for_all_of(&["alice"]), 0.6);
    assert_eq!(for_all_of(&["bob"]), 0.4);
    assert_eq!(for_all_of(&["alice", "bob"]), 0.4);
    assert_eq!(for_all_of(&["carol"]), 0.2);
    // What the operator sets counts for everybody.
    relationship.set(
        Metric::Favorability(Favorability::try_new(0.6).unwrap()),
        day(4),
    );
    assert_eq!(relationship.without(|_| false), relationship);
}

proptest! {
    #[test]
    fn whoever_may_learn_nothing_sees_a_relationship_without_judgements(
        steps in prop::collection::vec((-0.2_f32..=0.2, 0..3_u8), 0..80),
    ) {
        let mut relationship = Relationship::default();
        for ((step, to), day) in steps.into_iter().zip(1_u32..) {
            let audience = party(&["alice", "bob", "carol"][usize::from(to)..]);
            relationship.judge(step, audience, &Sources::default(), Timestamp::EPOCH.plus(day * DAY));
        }
        prop_assert!(relationship.judgements().len() <= Relationship::MOST_JUDGEMENTS);
        let by: f32 = relationship.judgements().iter().map(|one| one.by).sum();
        prop_assert!((by - relationship.favorability().value()).abs() < 1e-3);
        let stranger = relationship.without(|_| false);
        prop_assert!(stranger.favorability().value().abs() < 1e-3, "{stranger:?}");
        // If listeners are few, more is hidden from them, and what they see never contains a judgement that was hidden
        // from others who perceived more.
        let listeners = party(&["alice"]);
        let known = relationship.without(|audience| audience.covers(&listeners));
        prop_assert!(known.judgements().iter().all(|one| one.audience.covers(&listeners)));
    }
}
