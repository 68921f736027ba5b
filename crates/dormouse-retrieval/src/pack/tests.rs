use dormouse_contracts::{Timestamp, TokenCount, TokenCounter};
use proptest::prelude::*;

use super::{ItemRole, PackItem, Packed, pack};

/// A token for each word.
struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: u32::try_from(text.split_whitespace().count()).unwrap(),
            exact: true,
        }
    }
}

fn item(id: u64, text: &str, score: f32) -> PackItem<'_> {
    PackItem {
        id,
        text,
        speaker: None,
        thread: Some("a"),
        at: Timestamp::from_micros(i64::try_from(id).unwrap()),
        score,
        label_tokens: 0,
        role: ItemRole::Found,
    }
}

fn ids(packed: &[Packed]) -> Vec<u64> {
    packed.iter().map(|packed| packed.id).collect()
}

#[test]
fn the_best_come_first_and_are_read_in_order_of_time() {
    let items = [
        item(3, "three of them", 0.9),
        item(1, "one by one", 0.8),
        item(2, "two or more", 0.1),
    ];
    assert_eq!(ids(&pack(&items, 6, &Words)), [1, 3]);
}

#[test]
fn an_item_that_does_not_fit_leaves_room_for_one_that_does() {
    let items = [
        item(1, "a b c d e f g h", 0.9),
        item(2, "a b c d", 0.8),
        item(3, "e f g", 0.7),
    ];
    assert_eq!(ids(&pack(&items, 5, &Words)), [2]);
    assert_eq!(ids(&pack(&items, 7, &Words)), [2, 3]);
    assert!(pack(&items, 0, &Words).is_empty());
}

#[test]
fn labels_are_paid_for() {
    let mut costly = item(1, "tea", 1.0);
    costly.label_tokens = 5;
    assert_eq!(pack(&[costly], 5, &Words), []);
    assert_eq!(pack(&[costly], 6, &Words)[0].tokens, 6);
}

#[test]
fn near_duplicates_are_folded_into_the_best_of_them() {
    let text = "the kettle is in the blue box under the stairs of the old house by the river";
    let loud = text.to_uppercase();
    let items = [
        item(1, text, 0.5),
        item(2, &loud, 0.9),
        item(3, "the kettle is elsewhere", 0.4),
    ];
    let packed = pack(&items, 100, &Words);
    assert_eq!(ids(&packed), [2, 3]);
    assert_eq!(packed[0].folded, [1]);
}

#[test]
fn a_number_a_negation_an_order_or_a_speaker_is_a_difference() {
    let long = "this is what she told me about the house at the river where we were in summer";
    for (a, b) in [
        (format!("{long} 7"), format!("{long} 8")),
        (format!("I do {long}"), format!("I don't {long}")),
        ("Alice told Bob".into(), "Bob told Alice".into()),
        ("🍵".into(), "🥐".into()),
    ] {
        assert_eq!(
            pack(&[item(1, &a, 1.0), item(2, &b, 1.0)], 100, &Words).len(),
            2
        );
    }
    let mut other = item(2, "I love you", 1.0);
    other.speaker = Some("Bob".into());
    assert_eq!(
        pack(&[item(1, "I love you", 1.0), other], 100, &Words).len(),
        2
    );
}

#[test]
fn a_neighbour_is_packed_only_with_its_match() {
    let neighbour = |id, other| PackItem {
        role: ItemRole::Neighbour(other),
        ..item(id, "yes it is", 2.0)
    };
    let items = [
        neighbour(2, 1),
        neighbour(4, 3),
        item(1, "is it far", 0.9),
        item(3, "so very much longer than the rest", 0.8),
    ];
    let packed = pack(&items, 6, &Words);
    assert_eq!(ids(&packed), [1, 2]);
}

#[test]
fn an_item_with_a_nan_score_is_packed_last() {
    let items = [item(1, "one", f32::NAN), item(2, "two", -5.0)];
    assert_eq!(ids(&pack(&items, 1, &Words)), [2]);
}

fn any_item() -> impl Strategy<Value = (u64, String, f32, u32, Option<u64>)> {
    (
        0..20_u64,
        "[ab ]{0,12}|\\PC{0,8}",
        -1.0..1.0_f32,
        0..4_u32,
        proptest::option::of(0..20_u64),
    )
}

proptest! {
    #[test]
    fn the_budget_is_never_exceeded_and_the_best_that_fits_is_always_in(
        items in proptest::collection::vec(any_item(), 0..20),
        budget in 0..20_u32,
    ) {
        let items: Vec<PackItem<'_>> = items
            .iter()
            .map(|(id, text, score, label_tokens, neighbour_of)| PackItem {
                label_tokens: *label_tokens,
                role: neighbour_of.map_or(ItemRole::Found, ItemRole::Neighbour),
                ..item(*id, text, *score)
            })
            .collect();
        let packed = pack(&items, budget, &Words);
        prop_assert!(packed.iter().map(|packed| packed.tokens).sum::<u32>() <= budget);
        let best = items
            .iter()
            .filter(|item| item.role == ItemRole::Found)
            .filter(|item| Words.count(item.text).tokens + item.label_tokens <= budget)
            .map(|item| item.score)
            .reduce(f32::max);
        for (place, one) in packed.iter().enumerate() {
            prop_assert!(packed[..place].iter().all(|other| other.id != one.id), "packed twice");
        }
        if let Some(best) = best {
            let holders: Vec<u64> = items.iter().filter(|i| i.score == best).map(|i| i.id).collect();
            let is_in = |id: &u64| packed.iter().any(|p| p.id == *id || p.folded.contains(id));
            prop_assert!(holders.iter().any(is_in));
        }
    }
}
