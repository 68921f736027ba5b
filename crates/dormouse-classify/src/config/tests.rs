use super::*;

fn read(json: &str) -> Result<ClassifyConfig, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn the_default_configuration_listens_and_answers_when_addressed() {
    let config = read("{}").unwrap();
    assert_eq!(config, ClassifyConfig::default());
    assert!(config.interaction_enabled);
    assert!(config.enable_addressing);
    assert_eq!(config.rooms, RoomPolicy::Context);
    assert!(config.trigger_permissions.is_empty());
    assert!(config.channels.is_empty());
    assert!(config.trust_overrides.is_empty());
}

#[test]
fn a_configuration_round_trips() {
    let config = read(
        r##"{
            "rooms": "ignore",
            "trigger_permissions": ["#7"],
            "channels": {"public": {"action": "context"}, "staff": {"action": "trigger", "trust": 0.8}},
            "trust_overrides": {"#8": 0.1}
        }"##,
    )
    .unwrap();
    let staff = &config.channels[&ChannelId::try_new("staff").unwrap()];
    assert_eq!(staff.action(), ChannelAction::Trigger);
    assert_eq!(staff.trust(), Trust::try_new(0.8).ok());
    let public = &config.channels[&ChannelId::try_new("public").unwrap()];
    assert_eq!(*public, ChannelConfig::new(ChannelAction::Context));
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(read(&text), Ok(config));
}

#[test]
fn invalid_input_is_rejected_with_the_reason() {
    for (json, why) in [
        (r#"{"room": "ignore"}"#, "unknown field `room`"),
        (r#"{"rooms": "capture"}"#, "unknown variant `capture`"),
        (r#"{"interaction_enabled": "yes"}"#, "expected a boolean"),
        (r#"{"trigger_permissions": [""]}"#, "an entity id is empty"),
        (
            r##"{"trust_overrides": {"#7": 1.5}}"##,
            "1.5 is not a trust score",
        ),
        (
            r#"{"channels": {"public": {"action": "trigger", "trust": -1}}}"#,
            "-1 is not a trust score",
        ),
        (r#"{"channels": {"public": {}}}"#, "missing field `action`"),
        (
            r#"{"channels": {"public": {"action": "trigger", "loud": true}}}"#,
            "unknown field `loud`",
        ),
        (
            r#"{"channels": {"": {"action": "trigger"}}}"#,
            "a channel id is empty",
        ),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(why), "{json}: {error}");
    }
}
