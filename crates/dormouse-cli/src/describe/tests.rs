use dormouse_contracts::{Seq, Timestamp};

use dormouse_providers::SwitchCause;

use super::*;

fn stored(kind: &str, payload: &str) -> StoredEvent {
    StoredEvent {
        seq: Seq(7),
        at: Timestamp::EPOCH,
        kind: kind.to_owned(),
        schema: 2,
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
fn a_message_says_what_moved_its_trust_away_from_that_of_its_source() {
    let moved = r#","moved":{"source":0.4,"by":{"interactions":40,"trust":0.85}}"#;
    for (trust, moved, shown) in [
        ("0.4", "", "trust 0.40: say"),
        (
            "0.47",
            moved,
            "trust 0.47 (0.40, moved by 40 earlier messages with a trust of 0.85): say",
        ),
    ] {
        let payload = format!(
            r#"{{"perception":{{"attested":{{"delivery":{{"world":"w","number":1}},"source":"say",
                "sender":{{"entity":{{"id":"player:alice","name":"Alice"}}}},"at":0}},"words":"hello"}},
                "classification":{{"verdict":"context","rule":"6"}},"trust":{trust},"tokens":1{moved}}}"#
        );
        let line = event(&stored("perceived", &payload));
        assert!(line.contains(shown), "{line}");
    }
}

#[test]
fn an_event_that_cannot_be_read_is_printed_as_it_is() {
    let line = event(&stored("dreamt", "{\"of\":\"tea\"}"));
    assert!(
        line.contains("dreamt") && line.contains("{\"of\":\"tea\"}"),
        "{line}"
    );
}

#[test]
fn long_and_broken_texts_stay_on_one_line_of_bounded_length() {
    assert_eq!(excerpt("a\nb"), "a b");
    assert_eq!(excerpt(&"é".repeat(1_000)).chars().count(), EXCERPT);
}

#[test]
fn a_stop_event_states_its_reason() {
    let stopped = Status {
        activity: Activity::Stopped(StopCause::ConsecutiveErrors(5)),
        ..Status::default()
    };
    assert!(status(&stopped, None).starts_with("stopped (5 errors in a row); "));
    assert_eq!(
        stop_cause(&StopCause::ConsecutiveErrors(1)),
        "1 error in a row"
    );
}

#[test]
fn an_assistant_that_answers_no_other_assistant_says_why() {
    let silent = Status {
        exchanges: Some(8),
        ..Status::default()
    };
    let status = status(&silent, None);
    assert!(
        status.ends_with(
            "; answers no other assistant until a person says something (8 messages of theirs answered since; \
             limits.max_exchanges)"
        ),
        "{status}"
    );
}

#[test]
fn messages_that_end_without_an_answer_are_counted_and_explained() {
    let unanswered = Status {
        unanswered: 1,
        ..Status::default()
    };
    let status = status(&unanswered, None);
    assert!(
        status.contains("; 1 message ended without an answer"),
        "{status}"
    );
    let payload = r#"{"trigger":7,"from":"Alice","cause":{"failures":5},"calls":[],"tokens":0}"#;
    let line = event(&stored("unanswered", payload));
    assert!(
        line.ends_with("the message of Alice (event 7): it led to 5 errors in a row"),
        "{line}"
    );
    let done = event(&stored(
        "tick_ended",
        r#"{"reason":"noop","resume_at":null}"#,
    ));
    assert!(done.ends_with(" noop"), "{done}");
}

#[test]
fn a_switch_of_models_is_one_sentence_in_each_direction() {
    let local = ("local".parse().unwrap(), "tiny".parse().unwrap());
    let offline = ("offline".parse().unwrap(), "offline".parse().unwrap());
    let away = ModelSwitch {
        purpose: Purpose::Answer,
        from: local,
        to: offline,
        cause: SwitchCause::NotAttempted,
    };
    assert_eq!(
        switch(&away),
        "offline answers in place of local:tiny, which is being skipped for now."
    );
    let back = ModelSwitch {
        purpose: Purpose::Scoring,
        from: away.to.clone(),
        to: away.from.clone(),
        cause: SwitchCause::Recovered,
    };
    assert_eq!(
        switch(&back),
        "local:tiny has recovered and answers again in place of offline (scoring)."
    );
}

#[test]
fn durations_are_rounded_for_people() {
    for (milliseconds, expected) in [
        ("0.4", "in under 1 ms"),
        ("1.6", "in 2 ms"),
        ("999.4", "in 999 ms"),
        ("999.6", "in 1.0 s"),
        ("1489.114", "in 1.5 s"),
        ("62003.4", "in 1 min 2 s"),
        ("119700.0", "in 2 min 0 s"),
    ] {
        let payload =
            format!(r#"{{"attempts":3,"duration_ms":{milliseconds},"kind":"unavailable"}}"#);
        let line = event(&stored("model_failed", &payload));
        assert!(line.ends_with(expected), "{line}");
    }
}

#[test]
fn a_wait_of_today_is_shown_as_a_time_of_day() {
    let until = Timestamp::from_micros(1_795_235_761_987_654);
    let waits = |activity: Activity| super::activity(&activity);
    let reached = "waiting until 04:36:01 UTC";
    assert_eq!(waits(Activity::Waiting(until)), reached);
    let cause = None;
    assert_eq!(
        waits(Activity::WorldUnreachable { until, cause }),
        "waiting for its world until 04:36:01 UTC"
    );
}

#[test]
fn the_status_shows_how_long_messages_wait_while_no_call_is_running() {
    let until = Timestamp::from_micros(1_795_235_761_987_654);
    let status = Status {
        activity: Activity::Waiting(until),
        waiting_since: Some(Timestamp::from_micros(1_795_235_700_000_000)),
        ..Status::default()
    };
    assert_eq!(
        held("Dormouse", &status).unwrap(),
        "No answer since 04:35:00 UTC: Dormouse is waiting until 04:36:01 UTC. Messages are kept."
    );
    let busy = Status {
        activity: Activity::Thinking,
        ..status
    };
    assert_eq!(held("Dormouse", &busy), None);
}
