//! Tools of servers, and tasks that need one of them each, from two files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{IdError, ToolName, ToolSpec};
use serde_json::{Map, json};

use crate::args::{Half, ToolTasks};

/// A file of tools or tasks cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolFileError {
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    #[error("{}:{line}: expected {expected}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
    },
    #[error("{}:{line}: the name of the tool is not valid", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Why not.
        source: IdError,
    },
    #[error("{} has no task of the half `{half}`", path.display())]
    NoTasks {
        /// The file.
        path: PathBuf,
        /// The half.
        half: Half,
    },
}

const SERVER: &str = "a server in brackets before the first tool";
const TOOL: &str = "a name, a description and parameters, separated by ` | `";
const PARAMETER: &str = "parameters such as `path string The file; depth? integer How deep`";
const TASK: &str = "`learn` or `kept`, the name of a known tool, a message and what is searched for, separated by ` | `";

/// The tools of a server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) tools: Vec<ToolSpec>,
}

/// What somebody asks for.
#[derive(Clone, Debug)]
pub(crate) struct ToolTask {
    /// The tool that does it.
    pub(crate) tool: String,
    /// The message.
    pub(crate) message: String,
    /// What a model searches for.
    pub(crate) search: String,
}

/// Tools, and tasks of one half that need them.
#[derive(Clone, Debug)]
pub(crate) struct ToolSet {
    pub(crate) servers: Vec<Server>,
    pub(crate) tasks: Vec<ToolTask>,
}

impl ToolSet {
    pub(crate) fn read(asked: &ToolTasks) -> Result<Self, ToolFileError> {
        let servers = servers(&asked.servers)?;
        let tasks = tasks(&asked.tasks, asked.half, &servers)?;
        Ok(Self { servers, tasks })
    }
}

/// The lines of a file that are neither empty nor comments, with their numbers.
fn lines(path: &Path) -> Result<Vec<(usize, String)>, ToolFileError> {
    let text = fs::read_to_string(path).map_err(|source| ToolFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    let lines = text.lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(|(line, at)| (at, line.to_owned())).collect())
}

fn servers(path: &Path) -> Result<Vec<Server>, ToolFileError> {
    let mut servers: Vec<Server> = Vec::new();
    for (line, text) in lines(path)? {
        let wrong = |expected| ToolFileError::Line {
            path: path.to_owned(),
            line,
            expected,
        };
        if let Some(name) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            servers.push(Server {
                name: name.to_owned(),
                tools: Vec::new(),
            });
            continue;
        }
        let server = servers.last_mut().ok_or_else(|| wrong(SERVER))?;
        let mut fields = text.splitn(3, '|').map(str::trim);
        let (Some(name), Some(description), Some(parameters)) =
            (fields.next(), fields.next(), fields.next())
        else {
            return Err(wrong(TOOL));
        };
        let name = ToolName::try_new(name).map_err(|source| ToolFileError::Name {
            path: path.to_owned(),
            line,
            source,
        })?;
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in parameters.split(';').map(str::trim) {
            if parameter.is_empty() {
                continue;
            }
            let mut words = parameter.splitn(3, ' ');
            let (Some(name), Some(kind), Some(about)) = (words.next(), words.next(), words.next())
            else {
                return Err(wrong(PARAMETER));
            };
            let key = name.trim_end_matches('?');
            if key == name {
                required.push(key);
            }
            let schema = json!({"type": kind, "description": about});
            properties.insert(key.to_owned(), schema);
        }
        let schema = json!({"type": "object", "properties": properties, "required": required});
        server
            .tools
            .push(ToolSpec::query(name, description, schema));
    }
    Ok(servers)
}

fn tasks(path: &Path, half: Half, servers: &[Server]) -> Result<Vec<ToolTask>, ToolFileError> {
    let known: Vec<_> = servers
        .iter()
        .flat_map(|server| &server.tools)
        .map(|tool| tool.name.as_str())
        .collect();
    let mut tasks = Vec::new();
    for (line, text) in lines(path)? {
        let fields: Vec<_> = text.split(" | ").map(str::trim).collect();
        let [of, tool, message, search] = fields[..] else {
            return Err(wrong(path, line));
        };
        if !known.contains(&tool) || !matches!(of, "learn" | "kept") {
            return Err(wrong(path, line));
        }
        if of == half.to_string() {
            tasks.push(ToolTask {
                tool: tool.to_owned(),
                message: message.to_owned(),
                search: search.to_owned(),
            });
        }
    }
    if tasks.is_empty() {
        let path = path.to_owned();
        return Err(ToolFileError::NoTasks { path, half });
    }
    Ok(tasks)
}

fn wrong(path: &Path, line: usize) -> ToolFileError {
    ToolFileError::Line {
        path: path.to_owned(),
        line,
        expected: TASK,
    }
}
