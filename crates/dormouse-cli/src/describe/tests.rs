use dormouse_contracts::{Seq, Timestamp};

use dormouse_providers::SwitchCause;

use super::*;

fn stored(kind: &str, payload: &str) -> StoredEvent {
    StoredEvent {
        seq: Seq(7),
        at: Timestamp::EPOCH,
        kind: kind.to_owned(),
        schema: 1,
        payload: payload.as_bytes().to_vec(),
    }
}

#[test]
fn an_event_is_one_line_with_place_time_and_kind() {
    let line = event(&stored(
        "emergency_stop_cleared",
        r#"{"cleared_by":"Alice"}"#,
    ));
    assert_eq!(
        line,
        "     7  1970-01-01T00:00:00Z  emergency_stop_cleared   by Alice"
    );
}

#[test]
fn an_event_that_cannot_be_read_is_told_as_it_stands() {
    let line = event(&stored("dreamt", "{\"of\":\"tea\"}"));
    assert!(
        line.contains("dreamt") && line.contains("{\"of\":\"tea\"}"),
        "{line}"
    );
}

#[test]
fn long_and_broken_texts_stay_on_one_line_of_bounded_length() {
    assert_eq!(excerpt("a\nb"), "a b");
    assert_eq!(excerpt(&"é".repeat(1_000)).chars().count(), EXCERPT + 1);
}

#[test]
fn a_stop_says_why() {
    let stopped = Status {
        activity: Activity::Stopped(StopCause::ConsecutiveErrors(5)),
        ..Status::default()
    };
    assert!(status(&stopped, 0).starts_with("stopped (5 errors in a row); "));
    assert_eq!(
        stop_cause(&StopCause::ConsecutiveErrors(1)),
        "1 error in a row"
    );
    assert_eq!(
        stop_cause(&StopCause::EndlessTurn(21)),
        "one message took 21 ticks without coming to an end"
    );
}

#[test]
fn messages_that_were_given_up_are_told() {
    let status = status(&Status::default(), 1);
    assert!(status.contains("; 1 message given up, "), "{status}");
    let ended = |payload| event(&stored("tick_ended", payload));
    let given_up = ended(r#"{"reason":"llm_error","resume_at":null}"#);
    assert!(
        given_up.contains("llm_error; the message is given up"),
        "{given_up}"
    );
    let done = ended(r#"{"reason":"noop","resume_at":null}"#);
    assert!(done.ends_with(" noop"), "{done}");
}

#[test]
fn a_switch_is_one_sentence_away_and_back() {
    let local = ("local".parse().unwrap(), "tiny".parse().unwrap());
    let offline = ("offline".parse().unwrap(), "offline".parse().unwrap());
    let away = Switch {
        purpose: Purpose::Answer,
        from: local,
        to: offline,
        cause: SwitchCause::LeftAlone,
    };
    assert_eq!(
        switch(&away),
        "offline thinks in place of local:tiny, which is left alone for now."
    );
    let back = Switch {
        purpose: Purpose::Scoring,
        from: away.to.clone(),
        to: away.from.clone(),
        cause: SwitchCause::WellAgain,
    };
    assert_eq!(
        switch(&back),
        "local:tiny is well again and thinks again in place of offline (scoring)."
    );
}
