//! `[mcp]`: servers of others whose tools assistants may use.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use dormouse_contracts::{ToolCategory, ToolReach, Trust};
use dormouse_providers::SecretSource;
use serde::Deserialize;
use serde_json::Value;

use super::{
    located::Located,
    numbers::{IdleTime, ModelRequests, ModelTokens, ResultKib, ToolTimeout},
    section::section,
    words,
};

section! {
    /// `[mcp]`: servers of the Model Context Protocol whose tools assistants may use; see mcp.md.
    pub struct McpSection {
        /// Servers by name: each with a command or a url, and what its tools may do
        #[schemars(schema_with = "words::mcp_servers", extend(
            "default" = {}, "x-may-hold-a-key" = "always",
            "x-example" = {"time": {"command": "mcp-server-time", "reach": "query"}},
        ))]
        servers: BTreeMap<String, McpServerSection> = BTreeMap::new(),
    }
}

/// A server, and the rules for its tools.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub struct McpServerSection {
    /// How it is reached.
    pub place: McpPlace,
    /// The tools that are offered, if a person agreed to them; absent: all of them.
    pub allow: Option<BTreeSet<String>>,
    /// Whether its hints are believed.
    pub believe_hints: bool,
    /// The longest result that is passed on.
    pub result_kib: Option<ResultKib>,
    /// How long it may take to start.
    pub start: Option<ToolTimeout>,
    /// The time without a call after which it is ended.
    pub idle: Option<IdleTime>,
    /// How many texts of the model it may ask for in a call.
    pub model_requests: Option<ModelRequests>,
    /// The most tokens of each.
    pub model_tokens: Option<ModelTokens>,
    /// The answers to its questions to a person, by the name of the field.
    pub answers: BTreeMap<String, McpAnswer>,
    /// What holds for its tools.
    pub policy: McpPolicySection,
    /// Rules that apply to single tools instead.
    pub tools: BTreeMap<String, McpPolicySection>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum McpPlace {
    /// A program.
    Program {
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// The variables of the environment that it gets, besides a few that every program needs.
        env: BTreeSet<String>,
    },
    /// An address.
    Address {
        /// The address.
        url: String,
        /// Where the token for it is kept.
        token_from: Option<Located<SecretSource>>,
    },
}

/// What a server gets for a question.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text, a number, or true or false")]
pub enum McpAnswer {
    /// A text.
    Text(String),
    /// Yes or no.
    Choice(bool),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
}

impl From<McpAnswer> for Value {
    fn from(answer: McpAnswer) -> Self {
        match answer {
            McpAnswer::Text(text) => text.into(),
            McpAnswer::Choice(choice) => choice.into(),
            McpAnswer::Whole(number) => number.into(),
            McpAnswer::Number(number) => number.into(),
        }
    }
}

/// What holds for tools.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpPolicySection {
    /// How a call affects the loop.
    pub category: Option<ToolCategory>,
    /// What a call can affect.
    pub reach: Option<ToolReach>,
    /// The least trust of everything that was shown when a call was decided.
    pub required_trust: Option<Trust>,
    /// How far results are believed.
    pub trust: Option<Trust>,
    /// How long a call may take.
    pub timeout: Option<ToolTimeout>,
}

/// The fields as they are written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    command: Option<PathBuf>,
    args: Vec<String>,
    env: BTreeSet<String>,
    url: Option<String>,
    token_from: Option<Located<SecretSource>>,
    allow: Option<BTreeSet<String>>,
    believe_hints: bool,
    result_kib: Option<ResultKib>,
    start: Option<ToolTimeout>,
    idle: Option<IdleTime>,
    model_requests: Option<ModelRequests>,
    model_tokens: Option<ModelTokens>,
    answers: BTreeMap<String, McpAnswer>,
    category: Option<ToolCategory>,
    reach: Option<ToolReach>,
    required_trust: Option<Trust>,
    trust: Option<Trust>,
    timeout: Option<ToolTimeout>,
    tools: BTreeMap<String, McpPolicySection>,
}

/// A description with which a server cannot be reached.
#[derive(Debug, thiserror::Error)]
enum WrongPlace {
    #[error("a server needs a command or a url; it has {0}")]
    Places(&'static str),
    #[error("args and env are for a command, token_from is for a url; remove what does not fit")]
    Fields,
    #[error("the url of a server begins with http:// or https://")]
    Url,
}

impl TryFrom<Fields> for McpServerSection {
    type Error = WrongPlace;

    fn try_from(fields: Fields) -> Result<Self, WrongPlace> {
        let is_plain = fields.args.is_empty() && fields.env.is_empty();
        let place = match (fields.command, fields.url) {
            (None, None) => return Err(WrongPlace::Places("neither")),
            (Some(_), Some(_)) => return Err(WrongPlace::Places("both")),
            (Some(_), None) if fields.token_from.is_some() => return Err(WrongPlace::Fields),
            (None, Some(_)) if !is_plain => return Err(WrongPlace::Fields),
            (Some(command), None) => McpPlace::Program {
                command,
                args: fields.args,
                env: fields.env,
            },
            (None, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
                McpPlace::Address {
                    url,
                    token_from: fields.token_from,
                }
            }
            (None, Some(_)) => return Err(WrongPlace::Url),
        };
        Ok(Self {
            place,
            allow: fields.allow,
            believe_hints: fields.believe_hints,
            result_kib: fields.result_kib,
            start: fields.start,
            idle: fields.idle,
            model_requests: fields.model_requests,
            model_tokens: fields.model_tokens,
            answers: fields.answers,
            policy: McpPolicySection {
                category: fields.category,
                reach: fields.reach,
                required_trust: fields.required_trust,
                trust: fields.trust,
                timeout: fields.timeout,
            },
            tools: fields.tools,
        })
    }
}

impl McpSection {
    /// The places of tokens, for errors that are found when they are read.
    pub(super) fn token_places(&mut self) -> impl Iterator<Item = &mut Located<SecretSource>> {
        let servers = self.servers.values_mut();
        servers.filter_map(|server| match &mut server.place {
            McpPlace::Address { token_from, .. } => token_from.as_mut(),
            McpPlace::Program { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_server_is_a_program_or_an_address_with_what_its_tools_may_do() {
        let text = "[mcp.servers.files]\ncommand = \"server\"\nargs = [\"/tmp\"]\nenv = [\"LANG\"]\nallow = [\"read\"]\nstart = 90\n\
                    reach = \"query\"\ntrust = 0.2\n\
                    model_requests = 2\nanswers = { color = \"blue\", count = 3, sure = true }\n[mcp.servers.files.tools.write]\nreach = \"effect\"\ncategory = \"dangerous\"\n\
                    [mcp.servers.far]\nurl = \"https://example.org/mcp\"\ntoken_from = \"env:FAR\"\ntimeout = 5\n";
        let servers = parse(None, text).unwrap().mcp.servers;
        let files = &servers["files"];
        assert!(matches!(&files.place, McpPlace::Program { args, .. } if args == &["/tmp"]));
        assert_eq!(files.policy.reach, Some(ToolReach::Query));
        assert_eq!(files.start.unwrap().0.as_secs(), 90);
        let answers = files.answers.clone().into_iter();
        let answers: serde_json::Map<_, Value> =
            answers.map(|(field, it)| (field, it.into())).collect();
        let expected = serde_json::json!({ "color": "blue", "count": 3, "sure": true });
        assert_eq!(Value::Object(answers), expected);
        let write = files.tools["write"];
        assert_eq!(write.category, Some(ToolCategory::Dangerous));
        assert_eq!(write.trust, None);
        let far = &servers["far"];
        assert!(matches!(
            &far.place,
            McpPlace::Address {
                token_from: Some(_),
                ..
            }
        ));
        for wrong in [
            "args = []",
            "command = \"a\"\nurl = \"http://b\"",
            "command = \"a\"\ntoken_from = \"env:A\"",
            "url = \"http://b\"\nargs = [\"c\"]",
            "url = \"file:///b\"",
            "command = \"a\"\ntrust = 2",
            "command = \"a\"\nresult_kib = 0",
            "command = \"a\"\ntimeout = 0",
            "command = \"a\"\nmodel_requests = 21",
            "command = \"a\"\nmodel_tokens = 0",
            "command = \"a\"\nanswers = { color = [1] }",
            "command = \"a\"\nwhat = 1",
        ] {
            let text = format!("[mcp.servers.one]\n{wrong}\n");
            assert!(parse(None, &text).is_err(), "{wrong}");
        }
    }
}
