//! `dormouse assistant`: the assistants of the folder.

mod life;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use clap::Subcommand;
use dormouse_contracts::{AssistantId, Habitat};
use dormouse_engine::{RosterChange, Tag};
use dormouse_host::{
    DataFolder, OpenLog, Summary, SystemClock,
    archive::LifeWish,
    check_format,
    roster::{self, KnownNames, LookedUp, Newcomer, RosterDecision, RosterError},
};
use dormouse_sandbox::{Sandbox, landmarks};
use dormouse_store::{LogView, RedbLog};
use serde::Serialize;

use crate::{
    command::{
        CommandError, CommandFailure, JsonFlag, Places, Printing, author, block_on, callers_host,
        roster_exit, say, view_log, whole,
    },
    config::Config,
    data,
    exit::{Exit, Report},
    grammar::listed,
    lines::Lines,
};

/// The assistants of the folder.
#[derive(Debug, Subcommand)]
pub(crate) enum Assistant {
    /// List the assistants, without archived ones
    List {
        /// Only those with this tag
        #[arg(long, value_name = "TAG")]
        tag: Option<Tag>,
        /// Also list archived ones
        #[arg(long)]
        archived: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Show an assistant, its character and its problems; or all assistants with a tag
    Show {
        /// Its key, or a tag
        #[arg(value_name = "KEY|TAG")]
        who: String,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Create an assistant. It wakes when `dormouse run` next starts, or at once if that is running
    Create {
        /// Its key, which stays the same: letters, digits, '_', '-' and '.'
        #[arg(value_name = "KEY")]
        key: AssistantId,
        #[command(flatten)]
        who: Who,
        /// A tag by which commands find it; may be given several times
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<Tag>,
    },
    /// Create an assistant with the persona, notices and tags of another one, but without its memories
    Clone {
        /// The key of the original, which is not changed
        #[arg(value_name = "FROM")]
        from: AssistantId,
        /// The key of the clone
        #[arg(value_name = "KEY")]
        key: AssistantId,
        #[command(flatten)]
        who: Who,
    },
    /// Create an assistant that has lived as another one did, up to an event, with a log of its own. It begins switched off
    Fork {
        /// The key of the original, which is not changed
        #[arg(value_name = "FROM")]
        from: AssistantId,
        /// The last event that both have, or the last one before it after which no turn was under way [default: the end]
        #[arg(long, value_name = "SEQ", value_parser = whole::<u64>(1..=u64::MAX))]
        at: Option<u64>,
        /// The key of the fork [default: FROM-fork]
        #[arg(long = "as", value_name = "KEY")]
        key: Option<AssistantId>,
        #[command(flatten)]
        who: Who,
    },
    /// Write the whole life of an assistant into a file: its log, from which memory, goals and journal follow (docs/archive-format.md)
    Export {
        /// Its key
        #[arg(value_name = "KEY")]
        key: AssistantId,
        /// The new file; an existing file is never overwritten
        #[arg(long = "to", value_name = "FILE")]
        into: PathBuf,
    },
    /// Create an assistant that goes on with the life in a file. Everything in it is checked first. It begins switched off
    Import {
        /// A file that `dormouse assistant export` wrote
        #[arg(value_name = "FILE")]
        from: PathBuf,
        /// Its key [default: the one in the file]
        #[arg(long = "as", value_name = "KEY")]
        key: Option<AssistantId>,
        /// The name of its character [default: the one in the life]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Show, add and remove the tags of an assistant
    Tag {
        /// Its key
        #[arg(value_name = "KEY")]
        key: AssistantId,
        /// A tag to add
        #[arg(long, value_name = "TAG")]
        add: Vec<Tag>,
        /// A tag to remove
        #[arg(long, value_name = "TAG")]
        remove: Vec<Tag>,
    },
    /// Switch an assistant off until it is restored. Its log, its memory and its character are kept
    Archive {
        /// Its key
        #[arg(value_name = "KEY")]
        key: AssistantId,
        /// Why, for the log
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "archived at the command line"
        )]
        reason: String,
    },
    /// Restore an archived assistant
    Restore {
        /// Its key
        #[arg(value_name = "KEY")]
        key: AssistantId,
        /// Why, for the log
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "restored at the command line"
        )]
        reason: String,
    },
}

/// Who a new assistant is.
#[derive(Debug, clap::Args)]
pub(crate) struct Who {
    /// The name of its character [default: its key with a capital letter]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Who it is, in words
    #[arg(long, value_name = "TEXT")]
    persona: Option<String>,
}

impl CommandFailure for RosterError {
    fn exit(&self) -> Exit {
        roster_exit(self)
    }
}

/// No assistant has this key or tag.
#[derive(Debug, thiserror::Error)]
#[error(
    "{who:?} is neither the key nor a tag of an assistant; `dormouse assistant list --archived` shows all"
)]
struct Nobody {
    who: String,
}

impl CommandFailure for Nobody {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Prints the assistants of the folder, or changes them.
pub(crate) fn run(places: &Places, command: Assistant) -> Result<Exit, CommandError> {
    let data = data::locate(places.data.as_deref())?;
    let (config, _) = Config::load(
        places.config.as_deref(),
        &data.config(),
        std::env::vars_os(),
    )?;
    let folder = Folder { data, config };
    block_on(Box::pin(folder.carry_out(command)))?
}

struct Folder {
    data: DataFolder,
    config: Config,
}

impl Folder {
    async fn carry_out(&self, command: Assistant) -> Result<Exit, CommandError> {
        match command {
            Assistant::List {
                tag,
                archived,
                json,
            } => {
                let has_tag = |it: &LookedUp| match &tag {
                    Some(tag) => it.state.roster.tags.contains(tag),
                    None => true,
                };
                let is_listed = |it: &LookedUp| archived || it.state.roster.archived.is_none();
                let log = view_log(&self.data.log(), json.printing())?;
                let all = self.look_up_all(&log, None).await?;
                let listed = all.iter().filter(|it| has_tag(it) && is_listed(it));
                self.print(listed, json.printing()).await
            }
            Assistant::Show { who, json } => self.show(&who, json.printing()).await,
            Assistant::Create { key, who, tags } => {
                let tags = tags.into_iter().collect();
                self.create(Newcomer {
                    tags,
                    ..newcomer(&key, who)
                })
                .await?;
                say(&format!("{key} is created"))?;
                Ok(Exit::Success)
            }
            Assistant::Clone { from, key, who } => {
                let (newcomer, decision) = (newcomer(&key, who), decision("cloned"));
                match callers_host() {
                    Some(host) => host.clone_of(&from, newcomer, decision).await?,
                    None => {
                        let log = self.open_to_write().await?;
                        self.check_name(&log, &newcomer).await?;
                        let from_it = (&from, newcomer);
                        let config = (&self.config, &landmarks());
                        roster::clone_of(&log, &SystemClock, config, from_it, decision).await?;
                    }
                }
                say(&format!("{key} is created as a clone of {from}"))?;
                Ok(Exit::Success)
            }
            Assistant::Fork { from, at, key, who } => self.fork(&from, at, (key, who)).await,
            Assistant::Export { key, into } => self.export(&key, &into).await,
            Assistant::Import { from, key, name } => {
                self.import(&from, LifeWish { key, name }).await
            }
            Assistant::Tag { key, add, remove } => self.tag(&key, add, &remove).await,
            Assistant::Archive { key, reason } => {
                let changed = self.change(&key, RosterChange::Archived, reason).await?;
                say_change(&key, changed, "archived")
            }
            Assistant::Restore { key, reason } => {
                let changed = self.change(&key, RosterChange::Restored, reason).await?;
                say_change(&key, changed, "restored")
            }
        }
    }

    /// The log, if no program runs the assistants.
    async fn open_to_write(&self) -> Result<RedbLog, CommandError> {
        check_format(&self.data).await?;
        Ok(RedbLog::open_existing(&self.data.log())?)
    }

    async fn check_name(&self, log: &RedbLog, newcomer: &Newcomer) -> Result<(), CommandError> {
        let known = log.assistants()?;
        let mut names = KnownNames::new();
        let config = (&self.config, &mut names);
        let is_free = roster::check_name_is_free(log, known, config, newcomer).await;
        Ok(is_free?)
    }

    async fn create(&self, newcomer: Newcomer) -> Result<(), CommandError> {
        match callers_host() {
            Some(host) => host.create(newcomer, decision("created")).await?,
            None => {
                let log = self.open_or_create().await?;
                self.check_name(&log, &newcomer).await?;
                let decision = decision("created");
                let config = (&self.config, &landmarks());
                roster::create(&log, &SystemClock, config, newcomer, decision).await?;
            }
        }
        Ok(())
    }

    async fn tag(
        &self,
        key: &AssistantId,
        add: Vec<Tag>,
        remove: &[Tag],
    ) -> Result<Exit, CommandError> {
        let log = view_log(&self.data.log(), Printing::Text)?;
        let it = roster::look_up(&log, None, &self.config, key).await?;
        drop(log);
        let before = it.state.roster.tags;
        let mut tags = before.clone();
        tags.extend(add);
        tags.retain(|tag| !remove.contains(tag));
        let text = match tags.is_empty() {
            true => format!("{key} has no tags"),
            false => format!("{key}: {}", listed_tags(&tags)),
        };
        if tags != before {
            let reason = decision("tagged").reason;
            self.change(key, RosterChange::Tagged(tags), reason).await?;
        }
        say(&text)?;
        Ok(Exit::Success)
    }

    /// Whether something changed.
    async fn change(
        &self,
        key: &AssistantId,
        change: RosterChange,
        reason: String,
    ) -> Result<bool, CommandError> {
        let decision = RosterDecision {
            author: author(),
            reason,
        };
        let event = match callers_host() {
            Some(host) => host.change_roster(key, change, decision).await?,
            None => {
                let log = OpenLog::new(self.open_to_write().await?, None);
                roster::change(&log, &SystemClock, key, change, decision).await?
            }
        };
        Ok(event.is_some())
    }

    /// All assistants, by key.
    async fn look_up_all(
        &self,
        log: &LogView,
        world: Option<&dyn Habitat>,
    ) -> Result<Vec<LookedUp>, CommandError> {
        let mut all = Vec::new();
        for (key, _) in log.assistants()? {
            all.push(roster::look_up(log, world, &self.config, &key).await?);
        }
        Ok(all)
    }

    async fn show(&self, who: &str, printing: Printing) -> Result<Exit, CommandError> {
        let (host, own) = (callers_host(), self.own_world());
        let own = own.as_ref().map(|world| world as &dyn Habitat);
        let habitat = host.as_ref().map(|host| host.world()).or(own);
        let log = view_log(&self.data.log(), printing)?;
        let mut found = Vec::new();
        // A key takes precedence over a tag of the same name. If the key exists, the logs of the other assistants are
        // not read.
        let known = log.assistants()?;
        if let Some((key, _)) = known.iter().find(|(key, _)| key.as_str() == who) {
            found.push(roster::look_up(&log, habitat, &self.config, key).await?);
        } else if let Ok(tag) = Tag::try_new(who) {
            found = self.look_up_all(&log, habitat).await?;
            found.retain(|it| it.state.roster.tags.contains(&tag));
        }
        if found.is_empty() {
            let who = who.to_owned();
            return Err(Nobody { who }.into());
        }
        self.print(found.iter(), printing).await
    }

    /// The sandbox of the folder; `None` if its file is missing or a process has it open.
    fn own_world(&self) -> Option<Sandbox> {
        let path = self.data.world();
        if callers_host().is_some() || !path.exists() {
            return None;
        }
        Sandbox::open(&path, std::sync::Arc::new(SystemClock)).ok()
    }

    async fn print<'a>(
        &self,
        them: impl Iterator<Item = &'a LookedUp>,
        printing: Printing,
    ) -> Result<Exit, CommandError> {
        let residents: Option<BTreeMap<_, _>> = match callers_host() {
            Some(host) => {
                let residents = host.residents().await.into_iter();
                Some(residents.map(|it| (it.key.clone(), it)).collect())
            }
            None => None,
        };
        let mut is_empty = true;
        for it in them {
            is_empty = false;
            let line = AssistantLine::new(it, residents.as_ref());
            printing.print(&line, || line.text())?;
        }
        if is_empty && printing == Printing::Text {
            say("no assistant")?;
        }
        Ok(Exit::Success)
    }
}

fn newcomer(key: &AssistantId, Who { name, persona }: Who) -> Newcomer {
    Newcomer {
        key: key.clone(),
        name,
        persona,
        tags: BTreeSet::new(),
    }
}

fn decision(what: &str) -> RosterDecision {
    RosterDecision {
        author: author(),
        reason: crate::command::reason(what),
    }
}

fn say_change(key: &AssistantId, changed: bool, what: &str) -> Result<Exit, CommandError> {
    match (changed, what) {
        (true, _) => say(&format!("{key} is {what}"))?,
        (false, "archived") => say(&format!("{key} is archived already; nothing was changed"))?,
        (false, _) => say(&format!("{key} is not archived; nothing was changed"))?,
    }
    Ok(Exit::Success)
}

fn listed_tags(tags: &BTreeSet<Tag>) -> String {
    let tags: Vec<_> = tags.iter().map(|tag| tag.as_str().to_owned()).collect();
    listed(&tags)
}

/// An assistant as JSON.
#[derive(Serialize)]
struct AssistantLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    name: &'a str,
    /// `null` if its character is not in the world, or the world could not be read.
    character: Option<&'a str>,
    /// The last event.
    seq: u64,
    tags: &'a BTreeSet<Tag>,
    clone_of: Option<&'a str>,
    archived: bool,
    /// `null` if no program runs the assistants.
    awake: Option<bool>,
    wrong: Vec<String>,
}

impl<'a> AssistantLine<'a> {
    fn new(it: &'a LookedUp, residents: Option<&BTreeMap<AssistantId, Summary>>) -> Self {
        let LookedUp {
            key,
            state,
            name,
            character,
            wrong,
        } = it;
        let beginning = state.roster.beginning.as_ref();
        let clone_of = beginning.and_then(|began| began.clone_of.as_ref());
        let resident = residents.and_then(|residents| residents.get(key));
        let failure = resident.and_then(|it| it.failure.as_ref());
        let failure = failure.map(|why| format!("it cannot wake: {}", Lines::from(why.as_str())));
        Self {
            r#type: "assistant",
            assistant: key.as_str(),
            name,
            character: character.as_ref().map(|id| id.as_str()),
            seq: state.seq.0,
            tags: &state.roster.tags,
            clone_of: clone_of.map(|(from, _)| from.as_str()),
            archived: state.roster.archived.is_some(),
            awake: residents.map(|_| resident.is_some_and(|it| it.is_awake)),
            wrong: wrong
                .iter()
                .map(|wrong| Report(wrong).to_string())
                .chain(failure)
                .collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({})", self.assistant, self.name);
        match self.awake {
            Some(true) => text += ", awake",
            Some(false) => text += ", put away",
            None => {}
        }
        text += &format!("; {} events", self.seq);
        if let Some(character) = self.character {
            text += &format!("; its character is {character}");
        }
        if let Some(from) = self.clone_of {
            text += &format!("; a clone of {from}");
        }
        if !self.tags.is_empty() {
            text += &format!("; tags: {}", listed_tags(self.tags));
        }
        if !self.wrong.is_empty() {
            text += &format!("; {}", self.wrong.join("; "));
        }
        text
    }
}
