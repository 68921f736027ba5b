use dormouse_contracts::Timestamp;
use proptest::prelude::*;

use super::{NamedTime, named_times};

/// Thursday, 2023-06-15, noon.
const ASKED_AT: Timestamp = Timestamp::from_micros(1_686_830_400_000_000);

fn times(text: &str) -> Vec<String> {
    let day = |at: Timestamp| at.to_string().replace("T00:00:00Z", "");
    let render = |time: NamedTime| match time {
        NamedTime::Span { from, until } => format!("{}..{}", day(from), day(until)),
        NamedTime::Month(month) => format!("month {month}"),
    };
    named_times(text, Some(ASKED_AT))
        .into_iter()
        .map(render)
        .collect()
}

#[test]
fn years_months_and_days_are_read_in_the_usual_forms() {
    for (text, expected) in [
        ("in 2022", "2022-01-01..2023-01-01"),
        ("in May 2022", "2022-05-01..2022-06-01"),
        ("in May of 2022?", "2022-05-01..2022-06-01"),
        ("on 7 May 2022", "2022-05-07..2022-05-08"),
        ("on May 7th, 2022", "2022-05-07..2022-05-08"),
        ("the 31st of Dec 2022", "2022-12-31..2023-01-01"),
        ("on 2022-05-07", "2022-05-07..2022-05-08"),
        ("in December", "month 12"),
        ("In may 2022", "2022-05-01..2022-06-01"),
        ("on July 4", "2022-07-04..2022-07-05"),
        ("on 29 February", "2020-02-29..2020-03-01"),
    ] {
        assert_eq!(times(text), [expected], "{text}");
    }
}

#[test]
fn relative_times_are_counted_from_when_it_is_asked() {
    for (text, expected) in [
        ("yesterday", "2023-06-14..2023-06-15"),
        ("last night", "2023-06-14..2023-06-15"),
        ("today", "2023-06-15..2023-06-16"),
        ("last week", "2023-06-05..2023-06-12"),
        ("this week", "2023-06-12..2023-06-19"),
        ("last weekend", "2023-06-10..2023-06-12"),
        ("last month", "2023-05-01..2023-06-01"),
        ("last year", "2022-01-01..2023-01-01"),
        ("next year", "2024-01-01..2025-01-01"),
        ("two weeks ago", "2023-05-29..2023-06-05"),
        ("a couple of days ago", "2023-06-13..2023-06-14"),
        ("3 months ago", "2023-03-01..2023-04-01"),
        ("on Monday", "2023-06-12..2023-06-13"),
        ("last Thursday", "2023-06-08..2023-06-09"),
        ("next Friday", "2023-06-16..2023-06-17"),
        ("last August", "2022-08-01..2022-09-01"),
    ] {
        assert_eq!(times(text), [expected], "{text}");
    }
}

#[test]
fn words_that_only_look_like_a_time_are_ignored() {
    for text in [
        "",
        "may I march?",
        "room 2150",
        "12345",
        "the last cup",
        "a few weeks",
        "second",
    ] {
        assert_eq!(times(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn relative_times_need_the_time_of_the_question() {
    assert!(named_times("yesterday, last week, on Monday, 2 days ago", None).is_empty());
}

#[test]
fn each_time_is_returned_once_and_at_most_eight() {
    assert_eq!(times("in 2022 and 2022").len(), 1);
    let years: String = (1990..2020).map(|year| format!("{year} ")).collect();
    assert_eq!(times(&years).len(), 8);
}

proptest! {
    #[test]
    fn any_text_at_any_time_never_panics_and_spans_go_forward(
        text in "((last|next|may|7th|of|31|2023|days|ago|monday|two|week|\\PC{0,3}) ){0,8}",
        micros in any::<i64>(),
    ) {
        for time in named_times(&text, Some(Timestamp::from_micros(micros))) {
            match time {
                NamedTime::Span { from, until } => prop_assert!(from < until),
                NamedTime::Month(month) => prop_assert!((1..=12).contains(&month)),
            }
        }
    }
}
