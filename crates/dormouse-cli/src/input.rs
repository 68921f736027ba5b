//! The meaning of a line of input. It is the same in a terminal and in a pipe.
//!
//! A line is speech to the assistant unless its form says otherwise; [`form`] describes the forms.

use dormouse_contracts::{IdError, Words, WordsError};
use dormouse_sandbox::Act;
use dormouse_text::beginning;

mod form;
pub(crate) mod lines;

use form::Form;

#[cfg(test)]
mod tests;

/// The text of `/help`.
pub(crate) const HELP: &str = "\
Type a line to say it to the assistant. You can also type:
  @NAME TEXT             say it to the room; the assistant that is mentioned answers
  say TEXT   \"TEXT       say it to the room, to nobody in particular
  /to NAME               say plain lines to this assistant from now on
  to: TEXT               say it to the assistant, even if it begins like a command
  whisper NAME = TEXT    say it to one listener here
  page NAME = TEXT       say it to one listener anywhere
  pose TEXT   :TEXT      do something that is seen: :smiles
  public TEXT            say it on the channel public
  channel NAME = TEXT    say it on a channel
  channel NAME on|off    join or leave a channel
  look   look THING      look around, or at something or somebody here
  go WAY   WAY           go somewhere: go north, north, n
Commands to the program:
  /help   /status   /memories   /log [N]   /stop [WHY] and /clear (the emergency stop)
  /retry (call the model now, even during a pause)   /quit
  /sleep [WHY], /wake, /night and /journal [...] (as the commands of dormouse: /journal search \"two words\")
  /approvals, /approve N [WHY] and /deny N [WHY] (dangerous acts that wait for a person)
  /exec, /goal, /history, /interact, /memory, /audit, /config, /project, /note, /entity, /budget, /prompt and /assistant (as the
  commands of dormouse: /audit events --from 5)";

/// The commands of the program, for the error that lists them.
const COMMANDS: &str = "/help, /to NAME, /status, /memories, /log [N], /stop [WHY], /clear, /approvals, /approve N [WHY], /deny N [WHY], /retry, /sleep [WHY], /wake, /night, /journal [...], the commands of dormouse \
    /exec, /goal, /history, /interact, /memory, /audit, /config, /project, /note, /entity, /budget, /prompt and /assistant, and /quit";

/// How many events `/log` shows if no number is given, and at most.
const LOG_DEFAULT: usize = 10;
const LOG_LIMIT: usize = 1_000;

/// The meaning of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Something to do in the world.
    Act(Act),
    /// Going this way if the way exists; otherwise the whole line is speech.
    Go {
        /// The word for the way.
        way: String,
        /// The line.
        speech: Words,
    },
    /// Going, without a word for the way.
    GoNowhere,
    /// Looking at this if it is here; otherwise the whole line is speech.
    LookAt {
        /// The possible name of the thing.
        thing: String,
        /// The line.
        speech: Words,
    },
    /// Plain lines are said to the assistant of this name from now on.
    SpeakTo(String),
    /// A command to the program.
    Command(Command),
}

/// A command to the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// How to use it.
    Help,
    /// What the assistant is doing.
    Status,
    /// What it remembers.
    Memories,
    /// Its last events, this many.
    Log(usize),
    /// Trigger the emergency stop, for this reason; it may be empty.
    Stop(String),
    /// Clear the emergency stop.
    Clear,
    /// What the program does for these arguments: its command, and what follows.
    Program(Vec<String>),
    /// Ask the model again now.
    Retry,
    /// End.
    Quit,
}

impl Command {
    /// Whether it is carried out as soon as it is read, even while earlier lines wait for an answer. A command that
    /// shows the results of earlier lines keeps its place after them.
    pub(crate) fn acts_at_once(&self) -> bool {
        match self {
            Self::Help | Self::Status | Self::Stop(_) | Self::Clear | Self::Retry | Self::Quit => {
                true
            }
            Self::Program(_) | Self::Memories | Self::Log(_) => false,
        }
    }
}

/// Why a line is not valid input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    /// The line is blank.
    #[error("the line is empty")]
    Blank,
    /// Its text is not a valid message.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// It begins with a slash but is not a command.
    #[error(
        "there is no command {name:?}; there are {COMMANDS}. To say it, put \"to: \" before it"
    )]
    NoSuchCommand {
        /// The word, cut to 64 characters.
        name: String,
    },
    /// It begins with the word of a form, but does not have that form.
    #[error("expected `{form}`; to say this line to {assistant}, begin with `to: `")]
    Unfit {
        /// The form.
        form: Form,
        /// The name of the assistant that plain speech goes to.
        assistant: String,
    },
    /// It is probably meant to be private, and its first word is misspelt. Saying it aloud could not be undone.
    #[error(
        "did you mean `{form}`? Nothing was said. To say this line to {assistant}, begin with `to: `"
    )]
    Misspelt {
        /// The form that was probably meant.
        form: Form,
        /// The name of the assistant that plain speech goes to.
        assistant: String,
    },
    /// The text after `/log` is not a number.
    #[error("/log takes a number from 1 to {LOG_LIMIT}")]
    LogCount,
    /// The text after `/approve` or `/deny` does not begin with a number.
    #[error("/approve and /deny take the number of an act, as /approvals prints it")]
    ApprovalNumber,
    /// The name is missing after `/to`.
    #[error("expected `/to NAME`; to say something, begin with `to: `")]
    NobodyToSpeakTo,
    /// That is not a valid name of a channel.
    #[error(transparent)]
    Channel(#[from] IdError),
}

impl InputError {
    /// Whether the line begins like a command but is not a known one. A visit from a pipe ends with a code that says so.
    pub(crate) fn is_of_a_command(&self) -> bool {
        match self {
            Self::NoSuchCommand { .. }
            | Self::Unfit { .. }
            | Self::Misspelt { .. }
            | Self::LogCount
            | Self::ApprovalNumber
            | Self::NobodyToSpeakTo => true,
            Self::Blank | Self::Words(_) | Self::Channel(_) => false,
        }
    }
}

/// Reads a line. `assistant` is the name of the assistant that plain speech goes to.
pub(crate) fn parse(line: &str, assistant: &str) -> Result<Input, InputError> {
    let line = line.trim();
    if line.is_empty() {
        return Err(InputError::Blank);
    }
    if let Some(command) = line.strip_prefix('/') {
        return match command.split_once(char::is_whitespace) {
            Some(("to", name)) => Ok(Input::SpeakTo(name.trim().to_owned())),
            None if command == "to" => Err(InputError::NobodyToSpeakTo),
            _ => command_of(command).map(Input::Command),
        };
    }
    if let Some(text) = line.strip_prefix("to:") {
        return Ok(Input::Act(speak_to(
            assistant,
            Words::try_new(text.trim())?,
        )));
    }
    match form::input_of(line, assistant)? {
        Some(input) => Ok(input),
        None => Ok(Input::Act(speak_to(assistant, Words::try_new(line)?))),
    }
}

/// Speech that the server directs to the assistant.
pub(crate) fn speak_to(assistant: &str, words: Words) -> Act {
    Act::SayTo {
        to: assistant.to_owned(),
        words,
    }
}

/// `/approve` or `/deny`. What follows the number is the reason.
fn answer(name: &str, text: &str) -> Result<Command, InputError> {
    let (number, reason) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if number.parse::<u64>().is_err() {
        return Err(InputError::ApprovalNumber);
    }
    let mut arguments = vec![name, number];
    if !reason.trim().is_empty() {
        arguments.extend(["--reason", reason.trim()]);
    }
    Ok(program(&arguments))
}

fn program(arguments: &[&str]) -> Command {
    Command::Program(arguments.iter().copied().map(str::to_owned).collect())
}

/// Splits a text into arguments. Words in quotation marks are one argument.
fn arguments_of(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (argument, left) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        arguments.push(argument.to_owned());
        rest = left.trim_start();
    }
    arguments
}

fn command_of(text: &str) -> Result<Command, InputError> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match (name, rest.trim()) {
        ("help", "") => Ok(Command::Help),
        ("status", "") => Ok(Command::Status),
        ("memories", "") => Ok(Command::Memories),
        ("stop", reason) => Ok(Command::Stop(reason.to_owned())),
        ("clear", "") => Ok(Command::Clear),
        ("approvals", "") => Ok(program(&[name])),
        ("approve" | "deny", rest) => answer(name, rest),
        ("sleep", reason) if !reason.is_empty() && !reason.starts_with("--") => {
            Ok(program(&["sleep", "--reason", reason]))
        }
        ("journal", "") => Ok(program(&["journal", "list"])),
        ("journal" | "sleep" | "wake" | "night", rest)
        | (
            "exec" | "goal" | "history" | "interact" | "memory" | "audit" | "config" | "project"
            | "note" | "entity" | "budget" | "prompt" | "assistant",
            rest,
        ) => {
            let mut arguments = vec![name.to_owned()];
            arguments.extend(arguments_of(rest));
            Ok(Command::Program(arguments))
        }
        ("retry", "") => Ok(Command::Retry),
        ("quit", "") => Ok(Command::Quit),
        ("log", "") => Ok(Command::Log(LOG_DEFAULT)),
        ("log", count) => match count.parse() {
            Ok(count @ 1..=LOG_LIMIT) => Ok(Command::Log(count)),
            Ok(_) | Err(_) => Err(InputError::LogCount),
        },
        _ => Err(InputError::NoSuchCommand {
            name: beginning(&format!("/{text}"), 64).to_owned(),
        }),
    }
}
