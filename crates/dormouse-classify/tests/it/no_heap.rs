//! Nothing here allocates, whatever the result.

use std::hint::black_box;

use allocation_counter::measure;
use dormouse_classify::{SenderHistory, find_mention, source_trust, trust_with_history};
use dormouse_contracts::{AssistantId, Trust, Words};

use crate::cases;

#[test]
fn no_classification_uses_the_heap() {
    for case in cases::all() {
        let used = measure(|| {
            black_box(case.classify());
            black_box(source_trust(&case.attested, &case.config));
            let known = SenderHistory {
                interactions: 9,
                trust: Trust::FULL,
            };
            black_box(trust_with_history(&case.attested, &case.config, known));
        });
        assert_eq!(used.count_total, 0, "{case:?}");
    }
}

#[test]
fn no_search_for_a_mention_uses_the_heap() {
    let key = AssistantId::try_new("dormouse").unwrap();
    for piece in ["@", "-@", "@Dormouse.", "@dormouse-x", "é", " "] {
        let text = format!("{}!", piece.repeat((Words::LIMIT - 1) / piece.len()));
        let words = Words::try_new(text).unwrap();
        let used = measure(|| {
            black_box(find_mention(&words, &key));
        });
        assert_eq!(used.count_total, 0, "{piece}");
    }
}

#[test]
fn the_counter_counts() {
    let used = measure(|| drop(black_box(vec![1_u8])));
    assert_eq!(used.count_total, 1);
}
