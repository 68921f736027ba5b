//! Checks every combination against a second, independent list of the rules' conditions.

use std::collections::BTreeSet;

use dormouse_classify::{Mention, MessageVerdict, RoomPolicy, Rule};

use crate::cases::{self, Case};

type Row = (
    &'static str,
    fn(&Case) -> bool,
    fn(&Case) -> Option<&'static str>,
);

const OWN: fn(&Case) -> bool = |c| c.sender.starts_with("self") || c.source == "output";

/// Number, condition, result; a row whose result is `None` does not apply after all.
const RULES: [Row; 10] = [
    ("0", |c| !c.config.interaction_enabled, |_| Some("ignore")),
    ("1a", |c| c.sender == "self, marked", |_| Some("ignore")),
    (
        "1b",
        |c| OWN(c) && c.attested.cause.is_some(),
        |_| Some("capture"),
    ),
    ("1c", OWN, |_| Some("context")),
    (
        "2",
        |c| {
            c.config.enable_addressing
                && (c.source == "addressed"
                    || c.mention == Mention::Addressed && c.source != "movement")
        },
        |_| Some("trigger"),
    ),
    (
        "3",
        |c| c.source == "whisper" || c.source == "page",
        |_| Some("trigger"),
    ),
    (
        "4",
        |c| c.sender.ends_with("assistant"),
        |_| Some("context"),
    ),
    (
        "5",
        |c| c.sender.starts_with("permitted") && c.source != "movement",
        |_| Some("trigger"),
    ),
    (
        "6",
        |c| {
            matches!(
                c.source,
                "loud" | "calm" | "mute" | "say" | "pose" | "emit" | "addressed" | "movement"
            )
        },
        |c| match (c.source, c.config.rooms) {
            ("loud", _) => Some("trigger"),
            ("calm", _) => Some("context"),
            ("mute", _) => Some("ignore"),
            ("movement", RoomPolicy::Trigger) => Some("context"),
            (_, RoomPolicy::Trigger) => Some("trigger"),
            (_, RoomPolicy::Context) => Some("context"),
            (_, RoomPolicy::Ignore) => None,
        },
    ),
    ("7", |_| true, |_| Some("ignore")),
];

fn expected(case: &Case) -> (&'static str, &'static str) {
    RULES
        .iter()
        .filter(|(_, condition, _)| condition(case))
        .find_map(|(number, _, result)| result(case).map(|verdict| (*number, verdict)))
        .unwrap()
}

#[test]
fn the_first_matching_rule_decides_every_combination() {
    let cases = cases::all();
    assert_eq!(cases.len(), 2 * 2 * 3 * 12 * 7 * 2 * 2);
    let mut reached = BTreeSet::new();
    for case in cases {
        let decided = case.classify();
        let (number, verdict) = expected(&case);
        assert_eq!(
            (decided.rule.as_str(), decided.verdict.as_str()),
            (number, verdict),
            "{case:?}"
        );
        reached.insert(decided.rule);
    }
    let mut rules = BTreeSet::from(Rule::ALL);
    // It depends on earlier messages, so it is applied afterwards.
    rules.remove(&Rule::ExchangeLimit);
    assert_eq!(reached, rules, "every rule decides something");
}

#[test]
fn nothing_triggers_while_interaction_is_disabled() {
    for case in cases::all() {
        if !case.config.interaction_enabled {
            assert_eq!(case.classify().verdict, MessageVerdict::Ignore, "{case:?}");
        }
    }
}

#[test]
fn an_assistant_never_answers_itself() {
    for case in cases::all() {
        if OWN(&case) {
            assert_ne!(case.classify().verdict, MessageVerdict::Trigger, "{case:?}");
        }
    }
}

#[test]
fn another_assistant_triggers_only_by_addressing_whisper_or_page() {
    for case in cases::all() {
        let decided = case.classify();
        if case.sender.ends_with("assistant") && decided.verdict == MessageVerdict::Trigger {
            assert!(
                matches!(decided.rule, Rule::Addressing | Rule::DirectMessage),
                "{case:?}"
            );
        }
    }
}

#[test]
fn only_own_output_of_an_own_effect_is_captured() {
    for case in cases::all() {
        if case.classify().verdict == MessageVerdict::Capture {
            assert!(OWN(&case) && case.attested.cause.is_some(), "{case:?}");
        }
    }
}

#[test]
fn nobody_triggers_by_arriving_or_leaving() {
    for case in cases::all() {
        if case.source == "movement" {
            assert_ne!(case.classify().verdict, MessageVerdict::Trigger, "{case:?}");
        }
    }
}
