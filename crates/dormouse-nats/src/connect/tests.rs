use super::*;

fn config() -> NatsConfig {
    NatsConfig::new(
        ["nats://127.0.0.1:4222"],
        NatsDurability::AcknowledgedBeforeSync,
    )
}

fn with(mut config: Value, setting: &str, value: Value) -> Value {
    config
        .as_object_mut()
        .unwrap()
        .insert(setting.to_owned(), value);
    config
}

#[test]
fn a_stream_as_it_is_made_is_accepted_and_one_with_more_copies_too() {
    let wanted = lives(&config());
    assert!(check_stream(&wanted, &wanted).is_ok());
    assert!(check_stream(&wanted, &with(wanted.clone(), "num_replicas", json!(5))).is_ok());
    let wanted = snapshots(&config());
    assert!(check_stream(&wanted, &wanted).is_ok());
}

#[test]
fn a_stream_that_could_lose_events_is_refused_with_the_setting() {
    let wanted = lives(&config());
    let unsafe_settings = [
        ("num_replicas", json!(1)),
        ("storage", json!("memory")),
        ("retention", json!("interest")),
        ("max_age", json!(60)),
        ("max_msgs_per_subject", json!(1)),
        ("discard", json!("old")),
        ("deny_delete", json!(false)),
        ("deny_purge", json!(false)),
        ("subjects", json!(["other.>"])),
        ("no_ack", json!(true)),
        ("sealed", json!(true)),
        ("persist_mode", json!("async")),
        ("sources", json!([{ "name": "OTHER" }])),
    ];
    for (name, value) in unsafe_settings {
        let refused = check_stream(&wanted, &with(wanted.clone(), name, value));
        let found = match refused {
            Err(NatsConnectError::Stream { setting, .. }) => setting,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(found, name);
    }
}

fn answer(name: &str, ver: &str, sync_always: bool) -> ServerAnswer {
    serde_json::from_value(json!({
        "server": { "name": name, "ver": ver },
        "data": { "jetstream": { "config": { "sync_always": sync_always } } },
    }))
    .unwrap()
}

#[test]
fn every_server_of_the_stream_that_answers_must_sync_and_most_must_answer() {
    let peers = ["a", "b", "c"].map(str::to_owned).into();
    let good = |name| answer(name, "2.15.1", true);
    let check = |answers: &[ServerAnswer]| check_servers(&peers, answers);
    assert!(check(&[good("a"), good("b"), good("c")]).is_ok());
    assert!(check(&[good("a"), good("b")]).is_ok());
    assert!(
        check(&[good("a"), good("b"), answer("d", "2.9.0", false)]).is_ok(),
        "a server without the stream does not matter"
    );
    let lazy = check(&[good("a"), good("b"), answer("c", "2.15.1", false)]);
    assert!(matches!(
        lazy,
        Err(NatsConnectError::AcknowledgesBeforeSync { server }) if server == "c"
    ));
    let old = check(&[good("a"), good("b"), answer("c", "2.10.27", true)]);
    assert!(matches!(
        old,
        Err(NatsConnectError::Version { server, .. }) if server == "c"
    ));
    assert!(matches!(
        check(&[good("a"), good("a")]),
        Err(NatsConnectError::NotAsked {
            answered: 1,
            replicas: 3
        })
    ));
}

#[test]
fn a_server_that_does_not_say_that_it_syncs_does_not() {
    let silent = serde_json::from_value(json!({
        "server": { "name": "a", "ver": "2.15.1" }, "data": {},
    }));
    let peers = BTreeSet::from(["a".to_owned()]);
    assert!(check_servers(&peers, &[silent.unwrap()]).is_err());
}

#[test]
fn versions_before_2_11_are_refused_and_unreadable_ones_too() {
    for version in ["2.11.0", "2.15.1", "2.12.0-RC.1", "3.0.0"] {
        assert!(check_version("a", version).is_ok(), "{version}");
    }
    for version in ["2.10.27", "2.9.10", "1.99.0", "", "devel"] {
        assert!(check_version("a", version).is_err(), "{version:?}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused_before_a_connection_is_made() {
    let refused = |change: fn(&mut NatsConfig)| {
        let mut config = config();
        change(&mut config);
        match check_config(&config) {
            Err(NatsConnectError::Setting { setting, .. }) => setting,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|c| c.servers.clear()), "servers");
    assert_eq!(refused(|c| c.stream = "a.b".to_owned()), "stream");
    assert_eq!(refused(|c| c.replicas = 0), "replicas");
    assert_eq!(
        refused(|c| c.patience = std::time::Duration::from_secs(120)),
        "patience"
    );
    assert!(check_config(&config()).is_ok());
}

#[test]
fn passwords_in_addresses_are_not_printed() {
    let servers = ["nats://me:secret@host:4222", "other:4222"].map(str::to_owned);
    assert_eq!(
        without_passwords(&servers),
        "nats://host:4222, nats://other:4222"
    );
}
