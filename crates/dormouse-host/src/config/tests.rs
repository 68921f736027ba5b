use super::*;
use dormouse_contracts::Landmarks;
use dormouse_engine::ExecutionPattern;

fn parse(text: &str) -> Result<Config, Mistake> {
    super::parse(Some("dormouse.toml".as_ref()), text)
}

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// The error for one line of a section, without its place, which must be in that line.
fn refused_line(section: &str, line: &str) -> String {
    let error = refused(&format!("[{section}]\n{line}\n"));
    let mut parts = error.splitn(3, ':');
    assert_eq!(parts.next(), Some("2"), "{error}");
    parts.nth(1).unwrap().trim_start().to_owned()
}

#[test]
fn an_empty_file_is_the_defaults() {
    let config = parse("").unwrap();
    assert_eq!(config.assistant.key().as_str(), "dormouse");
    assert_eq!(config.assistant.name(), "Dormouse");
    assert!(config.assistant.enabled);
    assert_eq!(
        config.limits.limits(None).unwrap(),
        dormouse_engine::Limits::default()
    );
    assert_eq!(config.execution.pattern(), ExecutionPattern::ReactLoop);
    assert_eq!(
        config.classify.config(),
        dormouse_classify::ClassifyConfig::default()
    );
    assert_eq!(config.provider.kind, None);
}

#[test]
fn a_wrong_type_is_reported_with_line_column_field_and_expectation() {
    assert_eq!(
        refused("[assistant]\nkey = \"tea\"\n\n[limits]\nmax_history = \"many\"\n"),
        "5:15: limits.max_history is \"many\"; expected a whole number, 0 to 2000"
    );
}

#[test]
fn a_number_out_of_range_is_reported_with_line_column_field_and_bounds() {
    assert_eq!(
        refused("[limits]\ntick_rate = 5\nmax_iterations_per_tick = 11\n"),
        "3:27: limits.max_iterations_per_tick is 11; expected 1 to 10"
    );
    for (line, bounds) in [
        ("tick_rate = 0", "expected 1 to 3600"),
        ("max_context_tokens = 100", "expected 2048 to 10000000"),
        ("max_history = 2001", "expected 0 to 2000"),
        ("max_consecutive_errors = 0", "expected 1 to 100"),
        ("max_parts_per_answer = 0", "expected 1 to 100"),
    ] {
        let error = refused(&format!("[limits]\n{line}\n"));
        assert!(error.starts_with("2:") && error.contains(bounds), "{error}");
    }
    for line in ["independent_accounts = 1", "independent_accounts = 101"] {
        let error = refused(&format!("[trust]\n{line}\n"));
        assert!(
            error.starts_with("2:") && error.contains("expected 0, or 2 to 100"),
            "{error}"
        );
    }
    for (line, bounds) in [
        ("temperature = 2.5", "expected 0 to 2"),
        ("max_tokens = 0", "expected 1 to 1000000"),
        ("timeout = 0", "expected 1 to 3600 seconds"),
    ] {
        let error = refused(&format!("[provider]\n{line}\n"));
        assert!(error.starts_with("2:") && error.contains(bounds), "{error}");
    }
}

#[test]
fn a_negative_number_is_refused_with_its_line() {
    let error = refused("[limits]\nmax_history = -1\n");
    assert!(
        error == "2:15: limits.max_history is -1; expected a whole number, 0 to 2000",
        "{error}"
    );
}

#[test]
fn an_unknown_field_or_section_is_refused_with_the_known_ones() {
    let error = refused("[limits]\nmax_histroy = 5\n");
    assert!(
        error.starts_with("2:1: limits.max_histroy is not a setting; expected one of "),
        "{error}"
    );
    assert!(error.contains("max_history,"), "{error}");
    let error = refused("[limit]\n");
    assert!(
        error.starts_with("1:2: limit is not a setting; expected one of "),
        "{error}"
    );
    assert!(refused("[classify]\nroom = \"context\"\n").contains("rooms,"));
}

#[test]
fn a_key_in_the_file_is_refused_and_not_repeated() {
    for field in ["api_key", "key", "token", "openai_api_key"] {
        let error = refused(&format!("[provider]\n{field} = \"sk-very-secret\"\n"));
        assert!(
            error.contains("OPENAI_API_KEY") && error.starts_with("2:1:"),
            "{error}"
        );
        assert!(!error.contains("sk-very"), "{error}");
    }
}

#[test]
fn plan_execute_is_refused_with_the_alternatives() {
    let error = refused("[execution]\nmode = \"plan_execute\"\n");
    assert_eq!(
        error,
        "2:8: execution.mode is \"plan_execute\"; expected react_loop or single_action; plan_execute is reserved and does \
         not exist yet"
    );
    let single = parse("[execution]\nmulti_action_enabled = false\n").unwrap();
    assert_eq!(single.execution.pattern(), ExecutionPattern::SingleAction);
}

#[test]
fn settings_of_prompts_are_refused_with_the_place_and_what_to_do() {
    for (text, expected) in [
        (
            "[prompt.components.x]\nid = 1000\ntext = \"a\"\n",
            "expected a free number",
        ),
        (
            "[prompt.components.x]\nid = 6500\ntext = \"a\"\n",
            "expected a free number",
        ),
        ("[prompt.components.x]\nid = 1200\n", "needs id and text"),
        (
            "[prompt.components.goals]\ntext = \"a\"\n",
            "only enabled and budget can be set",
        ),
        (
            "[prompt.components.pending_event]\nenabled = false\n",
            "no prompt can be read",
        ),
        (
            "[prompt.components.system_prompt]\nbudget = 9\n",
            "budget cannot be set",
        ),
        (
            "[prompt.components.x]\nid = 1\ntext = \"{who}\"\n",
            "the unknown placeholder {who}",
        ),
        ("[prompt]\norder = \"backwards\"\n", "prompt.order"),
        ("[execution.contexts.dream]\nmax_iterations = 1\n", "dream"),
        (
            "[execution.contexts.reflection]\nmax_iterations = 11\n",
            "expected 1 to 10",
        ),
        (
            "[execution.contexts.reflection]\ncomponents = [\"goals\"]\n",
            "lack system_prompt",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let together = |text: &str| {
        let mut config = parse(text).unwrap();
        config.take_variables([]).unwrap_err().to_string()
    };
    let error = together("[prompt]\ntemplate = \"gruff\"\n");
    assert!(
        error.contains("expected default or a name in prompt.templates"),
        "{error}"
    );
    let error = together("[prompt]\norder = [\"pending_event\"]\n");
    assert!(
        error.contains("prompt.order names \"pending_event\""),
        "{error}"
    );
}

#[test]
fn a_mode_and_a_switch_that_contradict_each_other_are_refused() {
    for (mode, switch) in [("react_loop", false), ("single_action", true)] {
        let text = format!("[execution]\nmulti_action_enabled = {switch}\nmode = \"{mode}\"\n");
        let error = refused(&text);
        assert!(
            error.contains("execution")
                && error.contains(&format!("multi_action_enabled = {switch}"))
                && error.contains(&format!("mode = \"{mode}\"")),
            "{error}"
        );
        parse(&text.replace(&switch.to_string(), &(!switch).to_string())).unwrap();
    }
    let single = parse("[execution]\nmode = \"single_action\"\n").unwrap();
    assert_eq!(single.execution.pattern(), ExecutionPattern::SingleAction);
}

#[test]
fn invalid_names_and_scores_are_refused_with_their_line() {
    let error = refused("[assistant]\nkey = \"dor mouse\"\n");
    assert!(
        error.starts_with("2:7: assistant.key is \"dor mouse\": an assistant key contains ' '"),
        "{error}"
    );
    let error = refused("[classify.trust_overrides]\n\"player:bob\" = 1.5\n");
    assert!(
        error.starts_with("2:") && error.contains("between 0 and 1"),
        "{error}"
    );
    let error = refused("[provider]\nkind = \"acme\"\n");
    assert!(
        error
            == "2:8: provider.kind is \"acme\"; expected one of openai, anthropic, openrouter, ollama, local, offline",
        "{error}"
    );
}

#[test]
fn invalid_toml_and_invalid_utf8_are_refused_with_their_position() {
    assert!(refused("[assistant]\nkey = \n").starts_with("2:"));
    assert_eq!(
        parse_bytes("dormouse.toml".as_ref(), b"[limits]\n\xff")
            .unwrap_err()
            .to_string(),
        "2:1: the text is not UTF-8"
    );
}

#[test]
fn invalid_memory_settings_are_refused_with_their_line() {
    for (line, hint) in [
        ("vectors = \"qdrant\"", "gRPC address"),
        ("embedder = \"bert\"", "memory.embedder"),
        ("tokens = 100001", "expected 0 to 100000"),
        ("timeout = 0", "expected 1 to 60"),
        ("qdrant_api_key = \"k\"", "keys do not belong in this file"),
    ] {
        let error = refused(&format!("[memory]\n{line}\n"));
        assert!(
            error.starts_with("2:") && error.contains(hint),
            "{line}: {error}"
        );
    }
    let config = parse("[memory]\nembedder = \"none\"\nvectors = \"exact\"\n").unwrap();
    assert_eq!(config.memory.vectors, VectorBackend::Exact);
}

#[test]
fn a_number_with_its_own_bounds_is_reported_with_line_column_field_and_bounds() {
    for (section, line, error) in [
        (
            "provider",
            "temperature = 2.5",
            "temperature is 2.5; expected 0 to 2",
        ),
        ("provider", "top_p = -0.5", "top_p is -0.5; expected 0 to 1"),
        (
            "provider",
            "max_tokens = 0",
            "max_tokens is 0; expected 1 to 1000000",
        ),
        (
            "provider",
            "at_once = 1001",
            "at_once is 1001; expected 1 to 1000",
        ),
        (
            "provider",
            "timeout = 3601",
            "timeout is 3601; expected 1 to 3600 seconds",
        ),
        (
            "memory",
            "timeout = 61",
            "timeout is 61; expected 1 to 60 seconds",
        ),
        (
            "memory",
            "tokens = 100001",
            "tokens is 100001; expected 0 to 100000",
        ),
    ] {
        let refused = refused(&format!("[{section}]\n{line}\n"));
        let expected = format!("{section}.{error}");
        assert!(
            refused.starts_with("2:") && refused.ends_with(&expected),
            "{refused}"
        );
    }
    let config = parse("[provider]\ntimeout = 3600\n[memory]\ntokens = 0\n").unwrap();
    assert_eq!(config.provider.timeout.0.as_secs(), 3_600);
    assert_eq!(config.memory.tokens.0, 0);
}

#[test]
fn a_value_that_is_no_word_is_answered_with_the_words_that_it_can_be() {
    for (section, line, error) in [
        (
            "memory",
            "privacy = true",
            "memory.privacy is true; expected kept or shared",
        ),
        (
            "provider",
            "heartbeats = 4",
            "provider.heartbeats is 4; expected first or any",
        ),
    ] {
        let refused = refused(&format!("[{section}]\n{line}\n"));
        assert!(
            refused.starts_with("2:") && refused.ends_with(error),
            "{refused}"
        );
    }
}

#[test]
fn an_invalid_value_is_named_with_the_expectation() {
    for (section, line, expected) in [
        (
            "assistant",
            "enabled = \"yes\"",
            "assistant.enabled is \"yes\"; expected true or false",
        ),
        (
            "assistant",
            "persona = 3",
            "assistant.persona is 3; expected a text in quotes",
        ),
        (
            "assistant",
            "name = \" \"",
            "assistant.name is \" \"; expected 1 to 200 characters in one line",
        ),
        (
            "provider",
            "temperature = \"hot\"",
            "provider.temperature is \"hot\"; expected a number, 0 to 2",
        ),
        (
            "provider",
            "temperature = nan",
            "provider.temperature is nan; expected 0 to 2",
        ),
        (
            "provider",
            "extra = { penalty = -inf }",
            "provider.extra: nan and inf cannot be sent",
        ),
        (
            "limits",
            "tick_rate = 2.5",
            "limits.tick_rate is 2.5; expected a whole number, 1 to 3600 seconds",
        ),
        (
            "provider",
            "tool_calling = \"both\"",
            "provider.tool_calling is \"both\"; expected native or fallback",
        ),
        (
            "provider",
            "base_url = \"nowhere\"",
            "provider.base_url is \"nowhere\": the base URL",
        ),
        (
            "provider",
            "fallbacks = \"offline\"",
            "provider.fallbacks; expected a list",
        ),
        (
            "memory.vectors",
            "shards = 0",
            "memory.vectors.shards is 0; expected a whole number, 1 or more",
        ),
        (
            "classify",
            "rooms = \"loud\"",
            "classify.rooms is \"loud\"; expected one of context, ignore, trigger",
        ),
    ] {
        let error = refused_line(section, line);
        assert!(error.starts_with(expected), "{error}");
    }
    let temperature = find("temperature").unwrap();
    for number in ["nan", "inf"] {
        assert_eq!(
            temperature.read(number).unwrap_err().to_string(),
            format!("provider.temperature is \"{number}\"; expected a number, 0 to 2")
        );
    }
    assert_eq!(
        refused("assistant = 3\n"),
        "1:13: assistant is 3; expected a section or a table such as { a = 1 }"
    );
}

#[test]
fn no_error_names_a_rust_type_or_repeats_a_possible_key() {
    for line in [
        "key_from = \"sk-very-secret\"",
        "key_from = 5",
        "base_url = \"http://user:sk-very-secret@host\"",
        "fallbacks = [\"sk-very-secret\"]",
        "extra = { password = \"sk-very-secret\" }",
    ] {
        let error = refused_line("provider", line);
        assert!(error.starts_with("provider."), "{error}");
        for part in ["sk-very", "invalid type", "struct ", "u64", "f64"] {
            assert!(!error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_price_is_checked_where_it_is_written() {
    let price = |line: &str| format!("[[prices]]\nmodel = \"m\"\noutput = 1\n{line}\n");
    for (lines, expected) in [
        (
            "input = 1\nprovider = \"opnai\"",
            "5:12: prices.provider is \"opnai\"; expected one of openai, ",
        ),
        (
            "provider = \"openai\"\ninput = -1",
            "5:9: prices.input is -1; expected 0 to 10000 dollars",
        ),
        (
            "provider = \"openai\"\ninput = \"1\"",
            "5:9: prices.input is \"1\"; expected a number",
        ),
        ("provider = \"openai\"", "1:1: prices has no input; add it"),
        (
            "provider = \"openai\"\ninput = 1\ninptu = 1",
            "6:1: prices.inptu is not a setting; expected one of ",
        ),
    ] {
        let error = refused(&price(lines));
        assert!(error.starts_with(expected), "{error}");
    }
    parse(&price("provider = \"openai\"\ninput = 0.5")).unwrap();
}

#[test]
fn names_are_compared_with_what_the_world_has_and_a_world_that_lists_nothing_accepts_all() {
    let config = parse(
        "[classify]\nchannels = { pubic = { action = \"trigger\" } }\ntrust_overrides = { \"player:Bob\" = 0.2 }\n\
         [memory]\npublic_places = [\"tavern\"]\n",
    );
    let config = config.unwrap();
    let tea_house = dormouse_sandbox::landmarks();
    let warnings = config.warnings(&tea_house);
    let expected = [
        "dormouse.toml:3:19: classify.trust_overrides names \"player:Bob\", which matches nobody: a player has the id \"player:bob\"",
        "dormouse.toml:2:12: classify.channels names \"pubic\", which the world does not have; its channels: public, tea",
    ];
    assert_eq!(warnings[..2], expected);
    assert!(warnings[2].starts_with("dormouse.toml:5:17: memory.public_places names \"tavern\""));
    let own = Landmarks {
        channels: Some(vec!["pubic".parse().unwrap()]),
        ..Landmarks::default()
    };
    assert!(config.warnings(&own).is_empty());
}

#[test]
fn values_of_pre_compaction_without_an_effect_are_warned_of_and_change_nothing_else() {
    let limited = "[execution.contexts.tick_event]\nmax_iterations = 2\n";
    let old = format!("{limited}[execution.contexts.pre_compaction]\ntoken_budget = 4000\n");
    let config = parse(&old).unwrap();
    let [warning] = &config.warnings(&Landmarks::default())[..] else {
        panic!("{:?}", config.warnings(&Landmarks::default()));
    };
    assert!(
        warning.contains("only max_iterations has an effect"),
        "{warning}"
    );
    let contexts = &config.execution.contexts;
    assert_eq!(
        contexts[&dormouse_engine::ContextType::TickEvent].max_iterations,
        Some(2)
    );
    let few = format!("{limited}[execution.contexts.pre_compaction]\nmax_iterations = 1\n");
    assert_eq!(
        parse(&few).unwrap().warnings(&Landmarks::default()),
        [""; 0]
    );
}

#[test]
fn the_world_decides_which_name_it_allows_and_the_error_has_its_place() {
    let config = parse("[assistant]\nname = \"a:b\"\n").unwrap();
    let refused = config
        .fits_into(&dormouse_sandbox::landmarks())
        .unwrap_err();
    let expected = "dormouse.toml:2:8: assistant.name is \"a:b\": a name must not contain ':'";
    assert!(refused.to_string().starts_with(expected), "{refused}");
    assert_eq!(config.fits_into(&Landmarks::default()), Ok(()));
}

#[test]
fn an_action_of_a_channel_is_one_of_three() {
    let error = refused("[classify]\nchannels = { public = { action = \"triger\" } }\n");
    assert!(
        error.contains("\"triger\"; expected one of trigger, context, ignore"),
        "{error}"
    );
}
