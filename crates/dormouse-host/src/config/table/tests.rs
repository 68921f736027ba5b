use std::{ffi::OsString, time::Duration};

use dormouse_contracts::{Seq, Timestamp};
use dormouse_engine::{ChangedSettings, Event, SettingChanged, State};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::config::{
    ConfigFileError, ValueOrigin,
    numbers::Seconds,
    parse,
    section::{Section, section},
};

/// The example without its comment signs.
fn uncommented() -> String {
    let lines = example();
    let lines = lines.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => setting.to_owned(),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_setting_of_every_section_is_taken() {
    for setting in settings() {
        // Fails for a section that would ignore what is asked for.
        Config::default().take(setting, Config::default());
    }
}

#[test]
fn every_setting_has_a_sentence_an_expectation_and_a_value_to_show() {
    for setting in settings() {
        let name = &setting.name;
        assert!(
            !setting.sentence.is_empty() && !setting.sentence.ends_with('.'),
            "{name}"
        );
        assert!(!setting.expects().is_empty(), "{name}");
        if name != "prices" {
            assert!(setting.shown().is_some(), "{name}");
            assert!(
                setting.default.is_some() || setting.unset.is_some(),
                "{name}"
            );
        }
    }
    assert_eq!(find("limits.tick_rate").unwrap().default, Some(json!(5)));
    assert_eq!(find("quote_trust").unwrap().default, Some(json!(0.2)));
    assert_eq!(
        find("limits.tick_rate").unwrap().expects(),
        "1 to 3600 seconds"
    );
    assert_eq!(find("memory.privacy").unwrap().expects(), "kept, shared");
}

/// Compares the part of a page between two marks with what the table says, or writes it.
fn compare_or_write(page: &str, (start, end): (&str, &str), part: &str) {
    let path = format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(start).unwrap();
    let (shown, after) = rest.split_once(end).unwrap();
    if std::env::var_os("DORMOUSE_WRITE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{start}{part}{end}{after}")).unwrap();
    } else {
        assert!(
            shown == part,
            "docs/{page} differs from the table of settings: run this test with DORMOUSE_WRITE_DOCS=1"
        );
    }
}

#[test]
fn the_documented_example_is_made_of_the_table_and_each_of_its_settings_is_read() {
    compare_or_write("configuration.md", ("```toml\n", "```"), &example());
    parse(None, &example()).unwrap();
    let config = parse(Some("x".as_ref()), &uncommented()).unwrap();
    for setting in settings() {
        assert!(
            config.given(setting).is_some(),
            "{} is not in the example",
            setting.name
        );
    }
}

#[test]
fn the_conformance_page_says_of_each_documented_attribute_what_it_is_here() {
    let mut rows = String::new();
    for setting in settings() {
        for alias in &setting.aliases {
            rows += &format!("| `{alias}` | done | `{}` |\n", setting.name);
        }
    }
    for Missing { name, why } in missing() {
        rows += &format!("| `{name}` | differs | {why} |\n");
        let Err(UnknownSetting::Documented { .. }) = find(name) else {
            panic!("{name} is a setting")
        };
    }
    let head = "| documented attribute | state | here |\n| --- | --- | --- |\n";
    compare_or_write("conformance.md", (head, "\n\n"), rows.trim_end());
}

/// Every attribute that the reference documents name as configuration.
const DOCUMENTED: [&str; 54] = [
    "assistant_key",
    "tick_rate",
    "enabled",
    "max_history",
    "default_tool_timeout",
    "character_dbref",
    "llm_provider",
    "llm_api_url",
    "llm_auth_token",
    "llm_model",
    "llm_temperature",
    "llm_top_p",
    "llm_max_tokens",
    "llm_reasoning_effort",
    "llm_extra_params",
    "llm_app_name",
    "llm_site_url",
    "system_prompt",
    "system_prompt_native",
    "applied_template",
    "reflection_prompt_template",
    "max_context_tokens",
    "reflection_interval",
    "execution_config",
    "multi_action_enabled",
    "max_iterations_per_tick",
    "task_assessment_enabled",
    "use_quick_assessment",
    "sub_agents_enabled",
    "sub_agent_budget",
    "personality_insulation",
    "delegate_assistant_tag",
    "result_summarization",
    "trusted_api",
    "context_configs",
    "sleep_schedule",
    "compact_enabled",
    "compact_sleep_threshold",
    "compact_emergency_threshold",
    "compact_preserve_window",
    "compact_model",
    "compact_prompt",
    "last_compaction",
    "max_consecutive_errors",
    "max_log_entries",
    "reflection_state.threshold",
    "journal.max_entries",
    "interaction_enabled",
    "enable_addressing",
    "trigger_permissions",
    "user_entity",
    "embedder",
    "mode",
    "rooms",
];

#[test]
fn every_documented_attribute_is_a_setting_or_says_why_it_is_not() {
    for name in DOCUMENTED {
        match find(name) {
            Ok(_) | Err(UnknownSetting::Documented { .. }) => {}
            Err(unknown) => panic!("{unknown}"),
        }
    }
}

/// What the parser says of a value.
fn read(setting: &Setting, text: &str) -> Result<Value, String> {
    setting.read(text).map_err(|error| error.to_string())
}

#[test]
fn schema_and_parser_accept_the_same_words_and_no_other() {
    for setting in settings() {
        let Some(Value::Array(words)) = setting.schema.get("enum") else {
            continue;
        };
        for word in words {
            let word = word.as_str().unwrap();
            assert_eq!(read(setting, word), Ok(json!(word)));
        }
        let error = read(setting, "?").unwrap_err();
        assert!(error.starts_with(&setting.name), "{error}");
        let (_, expected) = error.split_once("expected ").unwrap();
        let expected = expected.trim_start_matches("one of ");
        let expected: std::collections::BTreeSet<_> = expected
            .split(';')
            .next()
            .unwrap()
            .split([',', ' '])
            .collect();
        let known: std::collections::BTreeSet<_> = words.iter().filter_map(Value::as_str).collect();
        let said = expected
            .into_iter()
            .filter(|word| !["", "or"].contains(word))
            .collect();
        assert_eq!(known, said, "{}", setting.name);
    }
}

fn bounded() -> Vec<(&'static Setting, f64, f64)> {
    let number = |setting: &Setting, name: &str| setting.schema.get(name).and_then(Value::as_f64);
    let bounded = |setting| {
        Some((
            setting,
            number(setting, "minimum")?,
            number(setting, "maximum")?,
        ))
    };
    settings().iter().filter_map(bounded).collect()
}

fn is_whole(setting: &Setting) -> bool {
    setting.schema.get("type") == Some(&json!("integer"))
}

proptest! {
    #[test]
    fn any_number_within_bounds_parses_and_any_outside_is_refused_with_its_name(
        which in any::<prop::sample::Index>(),
        part in 0.0..=1.0_f64,
        beyond in 1_u32..1_000_000,
    ) {
        let bounded = bounded();
        prop_assert!(bounded.len() > 15);
        let (setting, low, high) = bounded[which.index(bounded.len())];
        let text = |number: f64| if is_whole(setting) { format!("{number:.0}") } else { format!("{number:.3}") };
        let within = text(low + (high - low) * part);
        let but = setting.schema.get("not").is_some() && within == "1";
        prop_assert_eq!(read(setting, &within).is_ok(), !but, "{} = {}", setting.name, within);
        let outside = [high + f64::from(beyond), low - f64::from(beyond)];
        for outside in outside {
            let error = read(setting, &text(outside)).unwrap_err();
            prop_assert!(error.starts_with(&format!("{} is ", setting.name)), "{}", error);
            prop_assert!(error.contains("expected"), "{}", error);
        }
    }

    #[test]
    fn any_text_that_somebody_types_is_read_or_refused_with_the_name(
        which in any::<prop::sample::Index>(),
        text in "\\PC{0,12}|[\\n\\[\\]\"'={}a-z0-9#.]{0,12}",
    ) {
        let setting = &settings()[which.index(settings().len())];
        match setting.read(&text) {
            Ok(value) => {
                // The form in the log reads back as the same value.
                prop_assert_eq!(setting.read(&inline_or_text(setting, &value)).ok(), Some(value));
            }
            Err(error) => prop_assert!(error.to_string().starts_with(&setting.name), "{}", error),
        }
    }
}

fn inline_or_text(setting: &Setting, value: &Value) -> String {
    match (setting.is_text(), value) {
        (true, Value::String(text)) => text.clone(),
        _ => inline(value),
    }
}

#[test]
fn documented_names_and_last_parts_find_their_settings_and_others_the_nearest() {
    let name = |written: &str| find(written).unwrap().name.as_str();
    assert_eq!(name("llm_temperature"), "provider.temperature");
    assert_eq!(name("max_history"), "limits.max_history");
    assert_eq!(name("system_prompt"), "assistant.persona");
    assert_eq!(name("give_up_after"), "limits.give_up_after");
    let error = |written: &str| find(written).unwrap_err().to_string();
    assert_eq!(
        error("limits.max_histroy"),
        "limits.max_histroy is not a setting; did you mean limits.max_history?"
    );
    assert_eq!(
        error("llm_temprature"),
        "llm_temprature is not a setting; did you mean provider.temperature?"
    );
    // Two sections have a setting with this name.
    assert!(
        error("timeout").contains("provider.timeout or memory.timeout"),
        "{}",
        error("timeout")
    );
    assert!(error("llm_auth_token").contains("a key is never a setting"));
}

fn load(file: Option<&str>, variables: &[(&str, &str)]) -> Result<Config, ConfigFileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dormouse.toml");
    if let Some(text) = file {
        std::fs::write(&path, text).unwrap();
    }
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Config::load(None, &path, variables).map(|(config, _)| config)
}

fn origin(config: &Config, name: &str) -> Option<ValueOrigin> {
    config
        .given(find(name).unwrap())
        .map(|given| given.origin.clone())
}

#[test]
fn the_file_wins_over_the_environment_and_changes_win_over_both() {
    let file = "[limits]\ntick_rate = 7\n";
    let variables = [
        ("DORMOUSE_LIMITS__TICK_RATE", "9"),
        ("DORMOUSE_LIMITS__MAX_HISTORY", "11"),
        ("DORMOUSE_ASSISTANT__APOLOGY", "Sorry, \"no\"."),
        ("DORMOUSE_BASE_URL", "not ours"),
    ];
    let config = load(Some(file), &variables).unwrap();
    let limits = config.limits.limits(None).unwrap();
    assert_eq!(
        (limits.tick_rate().as_secs(), limits.max_history()),
        (7, 11)
    );
    assert_eq!(config.assistant.apology, "Sorry, \"no\".");
    assert!(matches!(
        origin(&config, "limits.tick_rate"),
        Some(ValueOrigin::File { line: 2, .. })
    ));
    assert_eq!(
        origin(&config, "limits.max_history"),
        Some(ValueOrigin::Variable(
            "DORMOUSE_LIMITS__MAX_HISTORY".to_owned()
        ))
    );
    assert_eq!(origin(&config, "limits.slow_after"), None);

    let changes = changes(&[
        ("limits.tick_rate", json!(3)),
        ("limits.max_history", json!(2001)),
    ]);
    let (config, warnings) = config.with_changes(&changes);
    let limits = config.limits.limits(None).unwrap();
    assert_eq!(
        (limits.tick_rate().as_secs(), limits.max_history()),
        (3, 11)
    );
    // A value that was valid once causes a warning and no error.
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("limits.max_history is 2001; expected 0 to 2000"),
        "{warnings:?}"
    );
    assert!(matches!(
        origin(&config, "limits.tick_rate"),
        Some(ValueOrigin::Changed { seq: Seq(1), .. })
    ));
}

fn changes(changes: &[(&str, Value)]) -> ChangedSettings {
    let mut state = State::default();
    for (number, (setting, value)) in (1..).zip(changes) {
        let event = Event::SettingChanged(SettingChanged {
            setting: (*setting).to_owned(),
            old: None,
            new: Some(value.clone()),
            by: "Alice".to_owned(),
        });
        state.apply(Seq(number), Timestamp::EPOCH, &event);
    }
    state.changed_settings
}

#[test]
fn a_variable_that_is_wrong_is_named_with_what_was_expected() {
    for (variable, value, expected) in [
        (
            "DORMOUSE_LIMITS__TICK_RATE",
            "0",
            "limits.tick_rate is 0; expected 1 to 3600",
        ),
        (
            "DORMOUSE_LIMITS__TICK_RATE",
            "soon",
            "limits.tick_rate is \"soon\"; expected a whole number",
        ),
        (
            "DORMOUSE_LIMITS__TICK_RAT",
            "5",
            "did you mean DORMOUSE_LIMITS__TICK_RATE?",
        ),
    ] {
        let error = load(None, &[(variable, value)]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{variable}: ")), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    // The file does not set this, but a mistake in the variable is still an error.
    assert!(
        load(
            Some("[limits]\ntick_rate = 5\n"),
            &[("DORMOUSE_LIMITS__TICK_RATE", "0")]
        )
        .is_err()
    );
}

#[test]
fn values_of_two_places_that_contradict_each_other_are_refused() {
    let file = "[execution]\nmode = \"react_loop\"\n";
    let error = load(
        Some(file),
        &[("DORMOUSE_EXECUTION__MULTI_ACTION_ENABLED", "false")],
    );
    assert!(error.unwrap_err().to_string().contains("contradicts"));
    let config = load(Some(file), &[]).unwrap();
    let (config, warnings) = config.with_changes(&changes(&[(
        "execution.multi_action_enabled",
        json!(false),
    )]));
    assert!(warnings[0].contains("contradicts"), "{warnings:?}");
    assert_eq!(
        config.execution.pattern(),
        dormouse_engine::ExecutionPattern::ReactLoop
    );
}

#[test]
fn what_may_hold_a_key_cannot_be_changed_while_the_program_runs() {
    let hidden = settings()
        .iter()
        .filter(|setting| setting.may_hold_a_key != MayHoldAKey::No);
    let hidden: Vec<_> = hidden.collect();
    assert!(hidden.len() >= 6, "{hidden:?}");
    for setting in hidden {
        let error = setting.may_be_changed().unwrap_err().to_string();
        assert!(error.contains(&setting.variable()), "{error}");
    }
}

#[test]
fn a_value_with_a_key_is_never_shown_and_an_address_without_one_is() {
    let shows = |name: &str, value: &str| find(name).unwrap().can_be_shown(value);
    assert!(shows("provider.base_url", "http://127.0.0.1:8080/v1"));
    assert!(!shows(
        "provider.base_url",
        "http://me:word@127.0.0.1:8080/v1"
    ));
    assert!(!shows(
        "provider.base_url",
        "http://127.0.0.1:8080/v1?token=word"
    ));
    assert!(shows(
        "memory.embedder",
        "ollama:all-minilm@http://127.0.0.1:11434"
    ));
    assert!(!shows("provider.key_from", "env:MY_KEY"));
    let key = format!("sk-proj-{}", "aB3dE5fG7hJ9kL1m".repeat(3));
    for setting in settings() {
        assert!(!setting.can_be_shown(&key), "{}", setting.name);
    }
}

section! {
    /// `[tea]`: how it serves tea.
    #[schemars(extend("x-when" = "next_tick"))]
    struct TeaSection {
        /// Whether it serves any
        served: bool = true,
        /// How long the tea draws
        draws_for: Seconds<600> = Seconds(Duration::from_secs(180)),
    }
}

#[test]
fn one_entry_is_all_that_a_new_setting_needs() {
    // The entry above is the one that the README adds.
    let readme = include_str!("../../../README.md");
    let here = include_str!("tests.rs");
    let added: Vec<_> = readme
        .lines()
        .filter_map(|line| line.strip_prefix('+'))
        .collect();
    assert_eq!(added.len(), 2);
    assert!(here.contains(&added.join("\n")), "{added:?}");

    assert_eq!(TeaSection::NAMES, ["served", "draws_for"]);
    let mut tea: TeaSection = toml::from_str("served = false").unwrap();
    assert_eq!(tea.draws_for.0, Duration::from_secs(180));
    tea.take("draws_for", toml::from_str("draws_for = 60").unwrap());
    assert_eq!((tea.served, tea.draws_for.0.as_secs()), (false, 60));
    let error = toml::from_str::<TeaSection>("draws_for = 601").unwrap_err();
    assert!(error.to_string().contains("expected 1 to 600 seconds"));
    let schema = settings_schema::<TeaSection>();
    let entry = &schema["properties"]["draws_for"];
    assert_eq!(entry["description"], "How long the tea draws");
    assert_eq!(
        (&entry["maximum"], &entry["default"]),
        (&json!(600), &json!(180))
    );
}
