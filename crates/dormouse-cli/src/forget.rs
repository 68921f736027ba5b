//! `dormouse forget` removes what a person said, a record, a span of time or a text from every file of the data folder.
//!
//! [`prepare`] writes new files next to the old ones. Writing one small file, the journal, is the commit point. Before
//! that, nothing has changed. From then on, [`journal`] puts the new files in place, and after an interruption the next
//! command continues with that.

mod args;
mod journal;
mod links;
mod other_files;
mod prepare;
mod requests;
mod show;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufRead, IsTerminal, Write},
};

use dormouse_contracts::{AssistantId, Clock, LoadSnapshot, Origin, ReadEvents, Seq, Timestamp};
use dormouse_engine::{ForgetPlan, KnownPeople, Selection, WhoError, messages_behind, unreferred};
use dormouse_host::{SystemClock, check_format};
use dormouse_store::RedbLog;

pub(crate) use args::Forget;
pub(crate) use journal::finish_pending;
pub(crate) use requests::describe as describe_request;

use crate::{
    command::{
        CommandError, CommandFailure, MemoryFile, Places, Printing, block_on, chosen, operator,
        remark, say, view_log,
    },
    exit::Exit,
};

/// What an operator must type to forget everything.
const EVERYTHING: &str = "forget everything";

/// What is removed from the log of each assistant.
type Plans = BTreeMap<AssistantId, ForgetPlan>;

/// Nothing was forgotten.
#[derive(Debug, thiserror::Error)]
enum ForgetError {
    #[error(transparent)]
    Who(#[from] WhoError),
    #[error("there is nothing to forget for {what}; nothing was changed")]
    Nothing {
        /// What was selected, without its words.
        what: String,
    },
    #[error("--{name} needs at least one word")]
    NoWords {
        /// The option.
        name: &'static str,
    },
    #[error(
        "utterances_kept_days in [memory] is 0: what was said is kept for ever; expected 1 to 36500 days"
    )]
    KeptForEver,
    #[error("the span ends before it begins")]
    EmptySpan,
    #[error(
        "forgetting cannot be undone: give --yes to forget without a question, or --dry-run only to look"
    )]
    NotAsked,
    #[error("this removes every message of {assistant}: give --everything in addition to --yes")]
    Everything {
        /// Whose.
        assistant: AssistantId,
    },
    #[error("nothing was forgotten")]
    Refused,
}

impl CommandFailure for ForgetError {
    fn exit(&self) -> Exit {
        match self {
            Self::Refused => Exit::Failure,
            _ => Exit::Usage,
        }
    }
}

/// Shows what would be forgotten, asks, and forgets it.
pub(crate) fn run(places: &Places, command: &Forget) -> Result<Exit, CommandError> {
    if command.requests {
        return requests::run(places, command);
    }
    let file = MemoryFile::locate(places)?;
    block_on(check_format(file.data()))??;
    let data = file.data();
    links::refuse(data)?;
    let by = operator(command.by.clone())?;
    let printing = command.json.printing();
    if command.dry_run {
        // Nothing is written here, so this also works during a visit.
        let log = view_log(&data.log(), printing)?;
        let assistants = log.assistants()?;
        let found = Found::of(places, &file, command, &log, assistants)?;
        if found.is_nothing() {
            return found.nothing(command);
        }
        found
            .summary(command)
            .print(printing, show::Moment::Before)?;
        return Ok(Exit::Success);
    }
    // The program that has the log open owns the folder.
    let log = RedbLog::open_existing(&data.log())?;
    let assistants = log.assistants()?;
    let found = Found::of(places, &file, command, &log, assistants)?;
    if found.is_nothing() {
        return found.nothing(command);
    }
    let summary = found.summary(command);
    // Forgetting what is due asks nobody, so this is the only place where it is shown.
    if !command.yes && printing == Printing::Text {
        summary.print(printing, show::Moment::Before)?;
    }
    if !command.retention {
        confirm(command, &found.plans)?;
    }
    let Found { plans, files, .. } = found;
    let new_files = prepare::new_files(&file, &log, &plans, &files, &by, &command.reason)?;
    let summary = summary.vectors_left(new_files.vectors_left.clone());
    new_files.commit(data)?;
    journal::finish(data, log)?;
    summary.print(printing, show::Moment::After)?;
    for left in files.unknown() {
        remark(&format!(
            "{} is not a file of this program and holds some of these words; it is unchanged",
            left.display()
        ));
    }
    Ok(Exit::Success)
}

/// What is removed from the folder.
struct Found {
    plans: Plans,
    files: prepare::FoundFiles,
    /// The messages that the record was made from, and which stay.
    made_from: Vec<Origin>,
    vectors_left: Vec<AssistantId>,
}

impl Found {
    /// Searches the log and the folder. Changes nothing.
    fn of<L: ReadEvents + LoadSnapshot>(
        places: &Places,
        file: &MemoryFile,
        command: &Forget,
        log: &L,
        assistants: Vec<(AssistantId, Seq)>,
    ) -> Result<Self, CommandError> {
        let all: Vec<_> = assistants.iter().map(|(key, _)| key.clone()).collect();
        let whose = match (&command.of.assistant, command.record) {
            (None, None) => assistants.into_iter().map(|(key, _)| key).collect(),
            (asked, _) => vec![chosen(places, file.data(), asked.clone(), assistants)?],
        };
        let kept_since = file
            .config()
            .memory
            .utterances_kept_since(SystemClock.now());
        let mut made_from = match (command.record, whose.as_slice()) {
            (Some(record), [key]) => block_on(messages_behind(log, key, record))??,
            _ => Vec::new(),
        };
        let with_messages = match command.with_messages {
            true => std::mem::take(&mut made_from).into_iter().collect(),
            false => BTreeSet::new(),
        };
        let others: Vec<_> = all.into_iter().filter(|key| !whose.contains(key)).collect();
        let chosen = (&*whose, &*others);
        let plans = block_on(plans(log, chosen, command, kept_since, with_messages))??;
        let files = prepare::FoundFiles::in_folder(file, &plans, others.is_empty())?;
        let vectors_left = prepare::without_memory(file, ends(&plans).keys())?;
        Ok(Self {
            plans,
            files,
            made_from,
            vectors_left,
        })
    }

    fn is_nothing(&self) -> bool {
        self.plans.values().all(|plan| plan.events() == 0) && self.files.is_nothing()
    }

    /// Reports that there is nothing to remove. For regular runs that is a success.
    fn nothing(&self, command: &Forget) -> Result<Exit, CommandError> {
        if !command.is_regular() {
            let selection = show::asked(&self.plans);
            self.summary(command).print_unclear();
            let what = selection.map_or_else(|| "nobody".to_owned(), |it| show::what(it, command));
            return Err(ForgetError::Nothing { what }.into());
        }
        match command.json.printing() {
            Printing::Text => say("nothing to remove; nothing was changed")?,
            json => self.summary(command).print(json, show::Moment::Before)?,
        }
        Ok(Exit::Success)
    }

    fn summary(&self, command: &Forget) -> show::Summary {
        let summary = show::Summary::of(&self.plans, &self.files, command);
        let summary = summary.made_from(self.made_from.clone());
        summary.vectors_left(self.vectors_left.clone())
    }
}

async fn plans<L: ReadEvents + LoadSnapshot>(
    log: &L,
    (whose, others): (&[AssistantId], &[AssistantId]),
    command: &Forget,
    kept_since: Option<Timestamp>,
    with_messages: BTreeSet<Origin>,
) -> Result<Plans, CommandError> {
    if command.retention {
        let before = kept_since.ok_or(ForgetError::KeptForEver)?;
        return due(log, whose, before).await;
    }
    let mut people = KnownPeople::default();
    if command.person.is_some() {
        // Several assistants may have heard the same person, under several names.
        for key in whose {
            people.read(log, key).await?;
        }
    }
    let selection = selection(command, &people, with_messages)?;
    Ok(ForgetPlan::of_each(log, whose, others, selection, &people).await?)
}

/// What must be removed because of its age.
async fn due<L: ReadEvents + LoadSnapshot>(
    log: &L,
    whose: &[AssistantId],
    before: Timestamp,
) -> Result<Plans, CommandError> {
    let mut plans = Plans::new();
    for key in whose {
        let messages = unreferred(log, key, before).await?;
        let selection = Selection::Unreferred { before, messages };
        let (key, nobody) = (std::slice::from_ref(key), KnownPeople::default());
        plans.extend(ForgetPlan::of_each(log, key, &[], selection, &nobody).await?);
    }
    Ok(plans)
}

fn selection(
    command: &Forget,
    people: &KnownPeople,
    messages: BTreeSet<Origin>,
) -> Result<Selection, ForgetError> {
    if command.secrets {
        return Ok(Selection::Secrets);
    }
    if let Some(who) = &command.person {
        if who.trim().is_empty() {
            return Err(ForgetError::NoWords { name: "person" });
        }
        let person = people.find(who)?;
        return Ok(Selection::Person(match command.named {
            true => person.with_unclear(),
            false => person,
        }));
    }
    if let Some(record) = command.record {
        return Ok(match messages.is_empty() {
            true => Selection::Record(record),
            false => Selection::WithMessages { record, messages },
        });
    }
    if let Some(text) = &command.text {
        if !text.chars().any(char::is_alphanumeric) {
            return Err(ForgetError::NoWords { name: "text" });
        }
        return Ok(Selection::Text(text.clone()));
    }
    let (from, until) = (command.from, command.until);
    if from.zip(until).is_some_and(|(from, until)| until <= from) {
        return Err(ForgetError::EmptySpan);
    }
    Ok(Selection::Span { from, until })
}

/// Asks at a terminal, unless `--yes` is given. Removing everything needs a longer confirmation.
fn confirm(command: &Forget, plans: &Plans) -> Result<(), ForgetError> {
    let everything = plans.iter().find(|(_, plan)| plan.takes_everything());
    if command.yes {
        return match everything {
            Some((assistant, _)) if !command.everything => Err(ForgetError::Everything {
                assistant: assistant.clone(),
            }),
            _ => Ok(()),
        };
    }
    if !io::stdin().is_terminal() {
        return Err(ForgetError::NotAsked);
    }
    let expected = match everything {
        Some((assistant, _)) => {
            ask(&format!(
                "This removes every message of {assistant} for good. Type `{EVERYTHING}` to continue: "
            ));
            EVERYTHING
        }
        None => {
            ask("This cannot be undone. Type `forget` to continue: ");
            "forget"
        }
    };
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    match read {
        Ok(_) if line.trim() == expected => Ok(()),
        Ok(_) | Err(_) => Err(ForgetError::Refused),
    }
}

/// Prints a question on standard error.
fn ask(question: &str) {
    // If standard error is closed, nobody can answer.
    drop(write!(io::stderr(), "{question}").and_then(|()| io::stderr().flush()));
}

/// The last event of each log that a plan changes, to see whether the new log is in place.
fn ends(plans: &Plans) -> BTreeMap<AssistantId, Seq> {
    let changed = plans.iter().filter(|(_, plan)| plan.events() > 0);
    changed
        .map(|(key, plan)| (key.clone(), plan.through()))
        .collect()
}
