use super::*;
use dormouse_engine::{ExecutionPattern, ToolCalling};
use dormouse_providers::ServedBy;

fn refused(text: &str) -> String {
    parse(text).unwrap_err().to_string()
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
    assert_eq!(config.classify, ClassifyConfig::default());
    assert_eq!(config.provider.kind, None);
}

#[test]
fn every_documented_field_is_read() {
    let example = include_str!("../../../../docs/configuration.md");
    let toml = example
        .split("```toml")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let config = parse(toml).unwrap();
    assert_eq!(config.limits.limits(None).unwrap().max_history(), 50);
    assert_eq!(config.provider.kind, Some(ServedBy::Local));
    assert_eq!(config.provider.tool_calling, Some(ToolCalling::Fallback));
    assert_eq!(config.classify.channels.len(), 1);
}

#[test]
fn a_wrong_type_is_said_with_line_column_field_and_what_was_expected() {
    assert_eq!(
        refused("[assistant]\nkey = \"tea\"\n\n[limits]\nmax_history = \"many\"\n"),
        "5:15: limits.max_history: invalid type: string \"many\", expected usize"
    );
}

#[test]
fn a_number_out_of_range_is_said_with_line_column_field_and_bounds() {
    assert_eq!(
        refused("[limits]\ntick_rate = 5\nmax_iterations_per_tick = 11\n"),
        "3:27: limits.max_iterations_per_tick: max_iterations_per_tick is 11; it must be between 1 and 10"
    );
    for (line, bounds) in [
        ("tick_rate = 0", "between 1 and 3600"),
        ("max_context_tokens = 100", "between 2048 and 10000000"),
        ("max_history = 201", "between 0 and 200"),
        ("max_consecutive_errors = 0", "between 1 and 100"),
        ("max_parts_per_answer = 0", "between 1 and 100"),
    ] {
        let error = refused(&format!("[limits]\n{line}\n"));
        assert!(error.starts_with("2:") && error.contains(bounds), "{error}");
    }
    for (line, bounds) in [
        ("temperature = 2.5", "between 0 and 2"),
        ("max_tokens = 0", "between 1 and 1000000"),
        ("timeout = 0", "between 1 and 3600 seconds"),
    ] {
        let error = refused(&format!("[provider]\n{line}\n"));
        assert!(error.starts_with("2:") && error.contains(bounds), "{error}");
    }
}

#[test]
fn a_negative_number_is_refused_with_its_line() {
    let error = refused("[limits]\nmax_history = -1\n");
    assert!(error.starts_with("2:15: limits.max_history: "), "{error}");
}

#[test]
fn an_unknown_field_or_section_is_refused_with_the_known_ones() {
    let error = refused("[limits]\nmax_histroy = 5\n");
    assert!(
        error.starts_with("2:1: limits.max_histroy: unknown field `max_histroy`"),
        "{error}"
    );
    assert!(error.contains("`max_history`"), "{error}");
    let error = refused("[limit]\n");
    assert!(
        error.starts_with("1:2: limit: unknown field `limit`"),
        "{error}"
    );
    assert!(refused("[classify]\nroom = \"context\"\n").contains("`rooms`"));
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
fn plan_execute_is_refused_with_what_there_is_instead() {
    let error = refused("[execution]\nmode = \"plan_execute\"\n");
    assert_eq!(
        error,
        "2:8: execution.mode: the mode plan_execute is reserved and does not exist yet; use react_loop or \
         single_action"
    );
    let single = parse("[execution]\nmulti_action_enabled = false\n").unwrap();
    assert_eq!(single.execution.pattern(), ExecutionPattern::SingleAction);
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
fn names_and_scores_that_are_none_are_refused_with_their_line() {
    let error = refused("[assistant]\nkey = \"dor mouse\"\n");
    assert!(
        error.contains("2:7: assistant.key: an assistant key contains ' '"),
        "{error}"
    );
    let error = refused("[classify.trust_overrides]\n\"player:bob\" = 1.5\n");
    assert!(
        error.starts_with("2:") && error.contains("between 0 and 1"),
        "{error}"
    );
    let error = refused("[provider]\nkind = \"acme\"\n");
    assert!(
        error.contains("2:8: provider.kind: no such provider"),
        "{error}"
    );
}

#[test]
fn text_that_is_no_toml_or_no_text_is_refused_with_its_place() {
    assert!(refused("[assistant]\nkey = \n").starts_with("2:"));
    assert_eq!(
        parse_bytes(b"[limits]\n\xff").unwrap_err().to_string(),
        "2:1: this is not UTF-8 text"
    );
}

#[test]
fn what_a_memory_cannot_recall_by_is_refused_with_its_line() {
    for (line, hint) in [
        ("vectors = \"qdrant\"", "gRPC address"),
        ("embedder = \"bert\"", "memory.embedder"),
        ("tokens = 100001", "between 0 and 100000"),
        ("timeout = 0", "between 1 and 60"),
        ("qdrant_api_key = \"k\"", "keys do not belong into a file"),
    ] {
        let error = refused(&format!("[memory]\n{line}\n"));
        assert!(
            error.starts_with("2:") && error.contains(hint),
            "{line}: {error}"
        );
    }
    let config = parse("[memory]\nembedder = \"none\"\nvectors = \"exact\"\n").unwrap();
    assert_eq!(config.memory.vectors, VectorsWish::Exact);
}

#[test]
fn a_number_with_bounds_of_its_own_is_said_with_line_column_field_and_bounds() {
    for (section, line, error) in [
        (
            "provider",
            "temperature = 2.5",
            "temperature: the number is 2.5; it must be between 0 and 2",
        ),
        (
            "provider",
            "top_p = -0.5",
            "top_p: the number is -0.5; it must be between 0 and 1",
        ),
        (
            "provider",
            "max_tokens = 0",
            "max_tokens: the number is 0; it must be between 1 and 1000000",
        ),
        (
            "provider",
            "at_once = 1001",
            "at_once: the number is 1001; it must be between 1 and 1000",
        ),
        (
            "provider",
            "timeout = 3601",
            "timeout: the number is 3601; it must be between 1 and 3600 seconds",
        ),
        (
            "memory",
            "timeout = 61",
            "timeout: the number is 61; it must be between 1 and 60 seconds",
        ),
        (
            "memory",
            "tokens = 100001",
            "tokens: the number is 100001; it must be between 0 and 100000",
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
    assert_eq!(config.provider.timeout.unwrap().0.as_secs(), 3_600);
    assert_eq!(config.memory.tokens.unwrap().0, 0);
}
