use dormouse_contracts::{ChannelId, SourceKind};
use proptest::prelude::*;

use super::*;
use crate::testkit::{hour, importance, journal_of, label, person};

#[test]
fn an_entry_has_the_documented_fields() {
    let journal = journal_of(&["Player Alice prefers formal address and dislikes jokes"]);
    let entry = journal.entries().next().unwrap();
    let json = serde_json::to_value(entry).unwrap();
    for (field, value) in [
        ("id", serde_json::json!(1)),
        ("source_type", serde_json::json!("direct")),
        ("importance", serde_json::json!(9)),
        ("importance_method", serde_json::json!("heuristic")),
        ("timestamp", serde_json::json!(hour(0).as_micros())),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
    assert_eq!(
        serde_json::from_value::<JournalEntry>(json).unwrap(),
        *entry
    );
}

#[test]
fn a_source_type_follows_from_how_it_was_said() {
    let channel = SourceKind::Channel(ChannelId::try_new("guild").unwrap());
    for (heard_as, expected) in [
        (None, SourceType::Inference),
        (Some(SourceKind::Whisper), SourceType::Direct),
        (Some(SourceKind::Page), SourceType::Direct),
        (Some(SourceKind::Addressed), SourceType::Direct),
        (Some(SourceKind::Pose), SourceType::Observation),
        (Some(SourceKind::Movement), SourceType::Observation),
        (Some(SourceKind::Emit), SourceType::Observation),
        (Some(SourceKind::CommandOutput), SourceType::Observation),
        (Some(SourceKind::Say), SourceType::Environmental),
        (Some(channel), SourceType::Environmental),
    ] {
        assert_eq!(
            SourceType::of_trigger(heard_as.as_ref()),
            expected,
            "{heard_as:?}"
        );
    }
}

#[test]
fn an_entry_is_never_believed_more_than_what_it_was_made_from() {
    let trust = |score| Trust::try_new(score).unwrap();
    for (source, default) in SourceType::ALL.into_iter().zip([0.9, 0.8, 0.6, 0.3]) {
        let mut new = NewEntry::new("tea", source);
        assert_eq!(new.trust(), trust(default), "{source}");
        new.believed = trust(0.2);
        assert_eq!(new.trust(), trust(0.2), "{source}");
        new.source_trust = Some(Trust::FULL);
        assert_eq!(new.trust(), trust(0.2), "{source}");
        new.believed = Trust::FULL;
        new.source_trust = Some(trust(0.1));
        assert_eq!(new.trust(), trust(0.1), "{source}");
    }
}

#[test]
fn bad_input_is_refused_with_what_was_expected() {
    let refusal = |content: &str| {
        NewEntry::new(content, SourceType::Direct)
            .check()
            .unwrap_err()
    };
    for blank in ["", " \n\t", "\u{200b}\u{2060}"] {
        assert_eq!(refusal(blank), EntryError::Blank);
    }
    let long = "tea ".repeat(250_000);
    assert_eq!(
        refusal(&long).to_string(),
        "content has 1000000 bytes; at most 32768 are kept: write several entries"
    );
    let mut many = NewEntry::new("tea", SourceType::Direct);
    many.tags = (0..40)
        .map(|number| label(&format!("tag {number}")))
        .collect();
    assert_eq!(
        many.check().unwrap_err().to_string(),
        "tags has 40 members; at most 32 are kept"
    );

    for number in [0.0, 11.0, 7.5, -3.0, f64::NAN, f64::INFINITY] {
        let error = Importance::try_new(number).unwrap_err().to_string();
        assert!(
            error.ends_with("expected a whole number from 1 to 10"),
            "{error}"
        );
    }
    assert!(serde_json::from_str::<Importance>("11").is_err());
    assert_eq!(
        serde_json::from_str::<Importance>("10").unwrap(),
        importance(10)
    );

    let error = "rumour".parse::<SourceType>().unwrap_err().to_string();
    assert!(
        error.starts_with("source_type is \"rumour\"; expected \"direct\""),
        "{error}"
    );

    for (text, part) in [
        ("", "blank"),
        ("tea, mill", "','"),
        ("tea;mill", "';'"),
        ("tea\nmill", "'\\n'"),
        (&*"x".repeat(65), "65 characters"),
    ] {
        let error = EntryLabel::try_new(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(label(" Alice_Quest "), label("alice_quest"));
}

#[test]
fn two_people_of_one_name_are_two_sources() {
    let mut journal = crate::Journal::new();
    let settings = crate::JournalSettings::default();
    for id in ["#7", "#8", "#7"] {
        let mut new = NewEntry::new("The bridge is down", SourceType::Direct);
        new.source_entity = person(id, "Alice");
        crate::testkit::write(&mut journal, new, hour(0), &settings);
    }
    let near: Vec<_> = journal.entries().map(|entry| entry.upkeep.near).collect();
    assert_eq!(near, [None, None, Some(EntryId(1))]);
}

#[test]
fn a_label_of_a_log_is_read_whatever_was_taken_out_of_it() {
    for text in ["", "Code: [secret: password], kept", &"x".repeat(100)] {
        let json = serde_json::to_string(text).unwrap();
        let label: EntryLabel = serde_json::from_str(&json).unwrap();
        assert_eq!(label.as_str(), text);
        assert_eq!(serde_json::to_string(&label).unwrap(), json);
    }
}

proptest! {
    #[test]
    fn every_label_that_is_accepted_is_accepted_again_and_stays_the_same(text in "\\PC{0,70}|[a-zİΣ ,;]{0,9}") {
        if let Ok(label) = EntryLabel::try_new(&text) {
            prop_assert_eq!(EntryLabel::try_new(label.as_str()), Ok(label.clone()));
            let json = serde_json::to_string(&label).unwrap();
            prop_assert_eq!(serde_json::from_str::<EntryLabel>(&json).unwrap(), label);
        }
    }
}
