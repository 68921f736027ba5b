//! Ids of calls and names of tools in the few characters that this API takes.

use std::{collections::HashSet, fmt::Write};

use dormouse_contracts::ToolDefinition;
use dormouse_text::beginning;

/// With what every id begins that is not sent as it is.
const MARK: &str = "dm";

/// The longest name of a tool, in bytes. Newer models take 128; some servers no more than this.
const NAME_LIMIT: usize = 64;

/// An id as it is sent: the `earlier`th time that this id names another call of the conversation, from zero.
///
/// Letters, digits, `_` and `-` are allowed. An id of these is sent as it is; in any other, and in one that begins like
/// those written here, every other byte stands as its number. So no two calls ever get the same id, and the same call gets the same one in
/// every request.
pub(super) fn call_id(id: &str, earlier: usize) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let may_stay = id.bytes().all(|byte| is_plain(byte) || byte == b'_');
    if may_stay && earlier == 0 && !id.is_empty() && !id.starts_with(MARK) {
        return id.to_owned();
    }
    let mut written = MARK.to_owned();
    if earlier > 0 {
        written.push_str(&earlier.to_string());
    }
    written.push('_');
    for byte in id.bytes() {
        if is_plain(byte) {
            written.push(char::from(byte));
        } else if write!(written, "_{byte:02x}").is_err() {
            break; // A text can always be written to.
        }
    }
    written
}

/// The names of the tools of a request, as they are sent and as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolNames(Vec<(String, String)>);

impl ToolNames {
    /// Those of these tools: `world.say` becomes `world_say`, and `world_say_2` where there is one already.
    pub(super) fn of(tools: &[ToolDefinition]) -> Self {
        let mut taken: HashSet<String> = HashSet::new();
        let mut names = Vec::new();
        // Those that need no change keep their names, whatever comes before them.
        let (fit, other): (Vec<_>, Vec<_>) = tools
            .iter()
            .map(|tool| tool.name.as_str())
            .partition(|name| fitting(name) == **name);
        for name in fit.into_iter().chain(other) {
            let written = free(fitting(name), &taken);
            taken.insert(written.clone());
            names.push((written, name.to_owned()));
        }
        Self(names)
    }

    /// A tool's name as it is sent. A model may have called one that there never was.
    pub(super) fn written(&self, name: &str) -> String {
        let mut names = self.0.iter();
        let known = names.find(|(_, original)| original == name);
        known.map_or_else(|| fitting(name), |(written, _)| written.clone())
    }

    /// The tool that the model means.
    pub(super) fn original(&self, written: String) -> String {
        let mut names = self.0.iter();
        let known = names.find(|(name, _)| *name == written);
        known.map_or(written, |(_, original)| original.clone())
    }
}

/// The name in characters that are allowed.
fn fitting(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fit = |c| if allowed(c) { c } else { '_' };
    let written: String = name.chars().map(fit).take(NAME_LIMIT).collect();
    if written.is_empty() {
        "_".to_owned()
    } else {
        written
    }
}

/// The name, or one with a number behind it that nobody has.
fn free(name: String, taken: &HashSet<String>) -> String {
    let numbered = |number: usize| {
        let number = format!("_{number}");
        beginning(&name, NAME_LIMIT - number.len()).to_owned() + &number
    };
    if !taken.contains(&name) {
        return name;
    }
    let mut names = (2..).map(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::ToolName;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tools(names: &[String]) -> Vec<ToolDefinition> {
        let tool = |name: &String| ToolDefinition {
            name: ToolName::try_new(name.as_str()).unwrap(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        };
        names.iter().map(tool).collect()
    }

    #[test]
    fn an_id_is_changed_only_where_it_must_be() {
        assert_eq!(call_id("toolu_01-a", 0), "toolu_01-a");
        assert_eq!(call_id("call:3.0", 0), "dm_call_3a3_2e0");
        assert_eq!(call_id("call_3", 1), "dm1_call_5f3");
        assert_eq!(call_id("dm_x", 0), "dm_dm_5fx");
    }

    #[test]
    fn a_tool_is_known_by_its_own_name_again() {
        let names = ["world.say", "world_say", "say"].map(str::to_owned);
        let names = ToolNames::of(&tools(&names));
        assert_eq!(names.written("world_say"), "world_say");
        assert_eq!(names.written("world.say"), "world_say_2");
        assert_eq!(names.original("world_say_2".to_owned()), "world.say");
        assert_eq!(names.written("no such tool"), "no_such_tool");
        assert_eq!(names.original("unknown".to_owned()), "unknown");
    }

    proptest! {
        #[test]
        fn no_two_calls_get_the_same_id(
            a in "(dm|dm1|)[_a.é-]{0,6}", b in "(dm|dm1|)[_a.é-]{0,6}", n in 0_usize..3, m in 0_usize..3,
        ) {
            let (one, other) = (call_id(&a, n), call_id(&b, m));
            prop_assert_eq!(one == other, (&a, n) == (&b, m));
            prop_assert!(!one.is_empty());
            prop_assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        }

        #[test]
        fn no_two_tools_get_the_same_name_and_each_is_found_again(
            names in prop::collection::hash_set("[a_.]{1,3}|[a.]{64}", 1..12),
        ) {
            let names: Vec<String> = names.into_iter().collect();
            let written = ToolNames::of(&tools(&names));
            let mut seen = HashSet::new();
            for name in names {
                let sent = written.written(&name);
                prop_assert!(sent.len() <= NAME_LIMIT && !sent.contains('.'));
                prop_assert!(seen.insert(sent.clone()));
                prop_assert_eq!(written.original(sent), name);
            }
        }
    }
}
