//! The file with what servers offered, and to what of it a person agreed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    io::Write,
    path::PathBuf,
    process,
    sync::{Mutex, PoisonError},
};

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use super::definition::Definition;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnownToolsError {
    /// It could not be read or written.
    #[error("the known tools of servers, {}, could not be read or written", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It does not hold tools.
    #[error("{} does not hold the known tools of servers; remove it, and agree to the tools again", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Who agreed to a definition, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpAgreement {
    /// The name that the person gave.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// A tool that a server offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownTool {
    /// What a person agreed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) accepted: Option<Definition>,
    /// Who did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agreement: Option<McpAgreement>,
    /// What the server offered last, if that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) offered: Option<Definition>,
    /// The digest of what a person was shown. Nobody can agree to anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<String>,
    /// Whether the server does not have it any more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) is_gone: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the serialiser passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

impl KnownTool {
    /// What a person agreed to, unless the server has changed it since, or has it no more.
    pub(super) fn in_use(&self) -> Option<&Definition> {
        let is_current = self.offered.is_none() && !self.is_gone;
        self.accepted.as_ref().filter(|_| is_current)
    }
}

/// To what a person agreed, or the names of what was not shown.
pub(super) type Agreed = Result<Vec<(String, Definition)>, Vec<String>>;

type ServerTools = BTreeMap<String, KnownTool>;

/// The known tools by server and name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownServers {
    servers: BTreeMap<String, ServerTools>,
}

impl KnownServers {
    pub(super) fn of(&self, server: &str) -> impl Iterator<Item = (&str, &KnownTool)> {
        let tools = self.servers.get(server).into_iter().flatten();
        tools.map(|(name, tool)| (name.as_str(), tool))
    }

    /// What a server offers now. Tools that it does not offer any more stay, if a person agreed to them.
    fn note(&mut self, server: &str, offered: &BTreeMap<String, Definition>) {
        let known = self.servers.entry(server.to_owned()).or_default();
        known.retain(|name, tool| tool.accepted.is_some() || offered.contains_key(name));
        for (name, tool) in known.iter_mut() {
            tool.is_gone = !offered.contains_key(name);
            if tool.is_gone {
                tool.offered = None;
            }
        }
        for (name, definition) in offered {
            let tool = known.entry(name.clone()).or_default();
            let is_accepted = (tool.accepted.as_ref())
                .is_some_and(|accepted| accepted.digest == definition.digest);
            tool.offered = (!is_accepted).then(|| definition.clone());
        }
    }
}

/// A command in a program that runs writes the same file as the program.
static WRITING: Mutex<()> = Mutex::new(());

/// The file.
#[derive(Debug)]
pub(super) struct KnownTools {
    file: PathBuf,
}

impl KnownTools {
    pub(super) fn at(file: PathBuf) -> Self {
        Self { file }
    }

    pub(super) fn read(&self) -> Result<KnownServers, KnownToolsError> {
        let text = match fs::read(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(KnownServers::default());
            }
            Err(source) => {
                let file = self.file.clone();
                return Err(KnownToolsError::File { file, source });
            }
        };
        serde_json::from_slice(&text).map_err(|source| self.damaged(source))
    }

    /// Notes what a server offers now.
    pub(super) fn note(
        &self,
        server: &str,
        offered: &BTreeMap<String, Definition>,
    ) -> Result<(), KnownToolsError> {
        self.change(|known| known.note(server, offered))
    }

    /// A person was shown what servers offer: the digests of it by server.
    pub(super) fn show(
        &self,
        shown: &BTreeMap<&str, BTreeSet<&str>>,
    ) -> Result<(), KnownToolsError> {
        self.change(|known| {
            for (server, tools) in &mut known.servers {
                let Some(shown) = shown.get(server.as_str()) else {
                    continue;
                };
                for tool in tools.values_mut() {
                    let digest = tool.offered.as_ref().map(|offered| &offered.digest);
                    if let Some(digest) = digest.filter(|digest| shown.contains(digest.as_str())) {
                        tool.shown = Some(digest.clone());
                    }
                }
            }
        })
    }

    /// A person agrees to these tools of a server, if all of them were shown as they are offered now. Otherwise nothing changes,
    /// and the error names those that were not.
    pub(super) fn accept(
        &self,
        server: &str,
        chosen: &[String],
        agreement: &McpAgreement,
    ) -> Result<Agreed, KnownToolsError> {
        self.change(|known| {
            let tools = known.servers.entry(server.to_owned()).or_default();
            let is_new = |tool: &KnownTool| match &tool.offered {
                Some(offered) => tool.shown.as_ref() != Some(&offered.digest),
                None => true,
            };
            let unseen = chosen.iter();
            let unseen = unseen.filter(|name| tools.get(*name).is_none_or(is_new));
            let unseen: Vec<String> = unseen.cloned().collect();
            if !unseen.is_empty() {
                return Err(unseen);
            }
            let accepted = chosen.iter().filter_map(|name| {
                let known = tools.get_mut(name)?;
                let definition = known.offered.take()?;
                known.accepted = Some(definition.clone());
                known.agreement = Some(agreement.clone());
                Some((name.clone(), definition))
            });
            Ok(accepted.collect())
        })
    }

    /// Replaces the file completely or not at all, unless nothing changes.
    fn change<T>(&self, work: impl FnOnce(&mut KnownServers) -> T) -> Result<T, KnownToolsError> {
        let _one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.read()?;
        let mut known = before.clone();
        let done = work(&mut known);
        if known == before {
            return Ok(done);
        }
        let text = serde_json::to_vec_pretty(&known).map_err(|source| self.damaged(source))?;
        let new = self
            .file
            .with_extension(format!("json.new{}", process::id()));
        let replace = || {
            let mut written = fs::File::create(&new)?;
            written.write_all(&text)?;
            written.sync_all()?;
            fs::rename(&new, &self.file)
        };
        replace().map_err(|source| KnownToolsError::File {
            file: self.file.clone(),
            source,
        })?;
        Ok(done)
    }

    fn damaged(&self, source: serde_json::Error) -> KnownToolsError {
        KnownToolsError::Damaged {
            file: self.file.clone(),
            source,
        }
    }
}
