//! What an operator decides about a server.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

use dormouse_contracts::{ToolCategory, ToolReach, ToolSourceName, Trust};

use dormouse_tools::RegistryError;
use serde_json::Value;

use super::known::KnownToolsError;

/// A server, and what its tools may do.
#[derive(Clone, Debug)]
pub struct McpServer {
    /// Its name, which the names of its tools begin with: letters, digits and '-'.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// Why it is not used, if something that it needs is missing.
    pub disabled: Option<String>,
    /// The names of the tools that are offered, if a person agreed to them; absent: all of them.
    pub allow: Option<BTreeSet<String>>,
    /// What holds for its tools.
    pub policy: McpToolPolicy,
    /// What holds for single tools instead, by name.
    pub each: BTreeMap<String, McpToolPolicy>,
    /// Whether its hints are believed: that a tool only reads, or destroys nothing.
    pub believe_hints: bool,
    /// The longest result that is passed on, in bytes.
    pub result_bytes: usize,
    /// How long it may take to start and to say which tools it has.
    pub start_limit: Duration,
    /// After this time without a call it is ended.
    pub idle_after: Duration,
    /// What it may ask for while one of its tools is called.
    pub requests: McpRequests,
}

/// What a server may ask for while one of its tools is called. Nothing by default.
#[derive(Clone, Debug, PartialEq)]
pub struct McpRequests {
    /// How many texts of the model it may ask for in one call.
    pub model_requests: u32,
    /// The most tokens of each.
    pub model_tokens: u32,
    /// What it gets for a question to a person, by the name of the field: texts, numbers, and true or false.
    pub answers: BTreeMap<String, Value>,
}

impl McpRequests {
    /// The most tokens of a text by default.
    pub const MODEL_TOKENS: u32 = 500;

    pub(super) fn is_nothing(&self) -> bool {
        self.model_requests == 0 && self.answers.is_empty()
    }
}

impl Default for McpRequests {
    fn default() -> Self {
        Self {
            model_requests: 0,
            model_tokens: Self::MODEL_TOKENS,
            answers: BTreeMap::new(),
        }
    }
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum McpTransport {
    /// A program, by its standard input and output.
    Program {
        /// The program: a path, or a name that is looked for in `PATH`.
        command: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its whole environment.
        environment: BTreeMap<String, SecretText>,
    },
    /// An address of streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// The token that is sent to it.
        token: Option<SecretText>,
    },
}

/// A text that no `Debug` shows.
#[derive(Clone)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// What holds for tools. What is absent is as the server's policy says, or else the default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct McpToolPolicy {
    /// How a call affects the loop; another call may follow by default.
    pub category: Option<ToolCategory>,
    /// What a call can affect; by default it changes something.
    pub reach: Option<ToolReach>,
    /// The trust that everything needs which was shown when a call was decided.
    pub required_trust: Option<Trust>,
    /// How far results are believed.
    pub result_trust: Option<Trust>,
    /// How long a call may take without an answer or a report of progress; with reports, four times as long in total.
    pub timeout: Option<Duration>,
}

impl McpToolPolicy {
    /// Text from a server is not trusted enough to decide another call by default, of this server or of another one.
    pub const REQUIRED_TRUST: Trust = match Trust::try_new(0.2) {
        Ok(trust) => trust,
        Err(_) => Trust::NONE,
    };
    /// How long a call may take by default.
    pub const TIMEOUT: Duration = Duration::from_secs(30);

    fn or(self, other: Self) -> Self {
        Self {
            category: self.category.or(other.category),
            reach: self.reach.or(other.reach),
            required_trust: self.required_trust.or(other.required_trust),
            result_trust: self.result_trust.or(other.result_trust),
            timeout: self.timeout.or(other.timeout),
        }
    }
}

/// Why servers cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpServerError {
    /// The name of a server cannot begin the names of tools.
    #[error(
        "the server {server:?} cannot be named so; expected 1 to 32 letters, digits and '-', because the names of its tools begin with it"
    )]
    Name {
        /// The name.
        server: String,
    },
    /// Two servers have the same name.
    #[error("two servers are named {server:?}; give one of them another name")]
    Twice {
        /// The name.
        server: String,
    },
    /// A tool of a server can only be an effect or a query.
    #[error(
        "tools of the server {server:?} cannot affect only the assistant; expected effect or query"
    )]
    Reach {
        /// The server.
        server: String,
    },
    /// The tools cannot be offered together.
    #[error(transparent)]
    Tools(#[from] RegistryError),
    /// The file with the known definitions failed.
    #[error(transparent)]
    Known(#[from] KnownToolsError),
}

impl McpServer {
    /// The longest result by default, in bytes.
    pub const RESULT_BYTES: usize = 8 * 1024;
    /// How long a server may take to start by default. One of the older protocols that ignores the first request of the
    /// newer one is asked in the older way after 10 seconds.
    pub const START_LIMIT: Duration = Duration::from_secs(30);
    /// The time without a call after which a server is ended by default.
    pub const IDLE_AFTER: Duration = Duration::from_secs(300);

    /// A server with the usual bounds.
    #[must_use]
    pub fn new(name: impl Into<String>, transport: McpTransport) -> Self {
        Self {
            name: name.into(),
            transport,
            disabled: None,
            allow: None,
            policy: McpToolPolicy::default(),
            each: BTreeMap::new(),
            believe_hints: false,
            result_bytes: Self::RESULT_BYTES,
            start_limit: Self::START_LIMIT,
            idle_after: Self::IDLE_AFTER,
            requests: McpRequests::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), McpServerError> {
        // With '_' in it, the tool `c` of `a_b` and the tool `b_c` of `a` would have the same name.
        if self.name.contains('_') || ToolSourceName::try_new(self.name.as_str()).is_err() {
            let server = self.name.clone();
            return Err(McpServerError::Name { server });
        }
        let policies = self.each.values().chain([&self.policy]);
        let mut reaches = policies.filter_map(|policy| policy.reach);
        if reaches.any(|reach| !matches!(reach, ToolReach::Effect | ToolReach::Query)) {
            let server = self.name.clone();
            return Err(McpServerError::Reach { server });
        }
        Ok(())
    }

    pub(super) fn allows(&self, tool: &str) -> bool {
        (self.allow.as_ref()).is_none_or(|allowed| allowed.contains(tool))
    }

    /// What holds for this tool.
    pub(super) fn policy(&self, tool: &str) -> McpToolPolicy {
        let of_tool = self.each.get(tool).copied().unwrap_or_default();
        of_tool.or(self.policy)
    }
}
