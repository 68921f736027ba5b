use proptest::prelude::*;

use super::*;

fn estimated(texts: u32) -> RequestCount {
    RequestCount {
        texts,
        framing: 0,
        messages: 1,
        exact_texts: false,
    }
}

fn exact(texts: u32, messages: u32) -> RequestCount {
    RequestCount {
        texts,
        framing: 3 + messages * PER_MESSAGE,
        messages,
        exact_texts: true,
    }
}

fn prompt(prompt_tokens: u32) -> Usage {
    Usage {
        prompt_tokens,
        ..Usage::default()
    }
}

#[test]
fn absurd_and_tiny_counts_do_not_change_the_calibration() {
    let mut calibration = Calibration::default();
    for (count, usage) in [
        (estimated(1_000), prompt(0)),
        (estimated(1_000), prompt(u32::MAX)),
        (estimated(1_000), prompt(16_001)),
        (estimated(u32::MAX), prompt(1)),
        (exact(0, 0), prompt(0)),
    ] {
        assert_eq!(calibration.observe(&count, &usage), Observed::Absurd);
    }
    assert_eq!(
        calibration.observe(&estimated(63), &prompt(90)),
        Observed::TooSmall
    );
    assert_eq!(calibration, Calibration::default());
}

#[test]
fn a_single_outlier_changes_the_ratio_only_a_little() {
    let mut calibration = Calibration::default();
    for _ in 0..40 {
        calibration.observe(&estimated(1_000), &prompt(1_000));
    }
    assert_eq!(
        calibration.observe(&estimated(1_000), &prompt(15_000)),
        Observed::Learnt
    );
    assert!(calibration.ratio() <= 1.11, "{calibration:?}");
}

#[test]
fn exact_counts_calibrate_only_the_overhead_per_message() {
    let mut calibration = Calibration::default();
    for messages in [4, 10, 2, 30].into_iter().cycle().take(120) {
        let count = exact(900, messages);
        assert_eq!(
            calibration.observe(&count, &prompt(903 + 7 * messages)),
            Observed::Learnt
        );
    }
    assert!(
        (calibration.per_message() - 7.0).abs() < 0.01,
        "{calibration:?}"
    );
    assert!((calibration.ratio() - 1.0).abs() < f64::EPSILON);
    assert_eq!(calibration.apply(&exact(100, 10)), 100 + 3 + 70);
    let text = TokenCount {
        tokens: 12,
        exact: true,
    };
    assert_eq!(calibration.scale(text), text);
}

#[test]
fn a_saved_calibration_round_trips_and_is_clamped() {
    let mut calibration = Calibration::default();
    calibration.observe(&estimated(1_000), &prompt(1_234));
    let json = serde_json::to_string(&calibration).unwrap();
    assert_eq!(
        serde_json::from_str::<Calibration>(&json).unwrap(),
        calibration
    );
    let nonsense = r#"{"ratio":1e300,"per_message":-7,"seen":4294967295}"#;
    let mut read: Calibration = serde_json::from_str(nonsense).unwrap();
    assert_eq!((read.ratio(), read.per_message()), (4.0, 0.0));
    assert_eq!(
        read.observe(&estimated(1_000), &prompt(1_000)),
        Observed::Learnt
    );
    assert_eq!(read.seen(), u32::MAX);
}

fn count() -> impl Strategy<Value = RequestCount> {
    let tokens = || prop_oneof![0u32..5_000, any::<u32>()];
    (tokens(), tokens(), 0u32..200, any::<bool>()).prop_map(
        |(texts, framing, messages, exact_texts)| RequestCount {
            texts,
            framing,
            messages,
            exact_texts,
        },
    )
}

proptest! {
    #[test]
    fn the_ratio_always_stays_within_its_bounds(
        seen in prop::collection::vec((count(), prop_oneof![0u32..20_000, any::<u32>()]), 0..60),
    ) {
        let mut calibration = Calibration::default();
        for (count, prompt_tokens) in &seen {
            calibration.observe(count, &prompt(*prompt_tokens));
            prop_assert!((0.25..=4.0).contains(&calibration.ratio()));
            prop_assert!((0.0..=64.0).contains(&calibration.per_message()));
        }
    }

    #[test]
    fn the_ratio_always_converges(
        per_mille in 250u32..=4_000,
        sizes in prop::collection::vec(500u32..50_000, 120),
        before in prop::collection::vec(64u32..100_000, 0..20),
    ) {
        let mut calibration = Calibration::default();
        for prompt_tokens in before {
            calibration.observe(&estimated(5_000), &prompt(prompt_tokens));
        }
        for size in sizes {
            calibration.observe(&estimated(size), &prompt(size * per_mille / 1_000));
        }
        let truth = f64::from(per_mille) / 1_000.0;
        prop_assert!((calibration.ratio() / truth - 1.0).abs() < 0.01, "{:?} for {}", calibration, truth);
    }

    #[test]
    fn more_text_never_counts_less_and_a_scaled_count_is_never_exact(
        ratio in 0.25f64..=4.0,
        a: u32,
        b: u32,
    ) {
        let calibration = Calibration { ratio, ..Calibration::default() };
        let scaled = |tokens| calibration.scale(TokenCount { tokens, exact: false });
        prop_assert!(scaled(a.min(b)).tokens <= scaled(a.max(b)).tokens);
        prop_assert!(!scaled(a).exact);
        prop_assert!(calibration.apply(&estimated(a.min(b))) <= calibration.apply(&estimated(a.max(b))));
    }
}
