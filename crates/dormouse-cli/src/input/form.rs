//! The forms of a line of input, other than a command of the program.
//!
//! The words `say`, `pose`, `whisper`, `page`, `channel` and `public` always begin a command. If the rest does not fit,
//! the line is refused, because a slip must never make private words public. So is a line such as `wisper NAME = TEXT`,
//! whose first word is one slip away from a command that speaks privately. The words `look` and `go` begin a command
//! only if the rest names something, so that "look what I found" and "go on" stay speech.

use std::fmt;

use dormouse_contracts::{ChannelId, Words};
use dormouse_sandbox::Act;

use super::{Input, InputError};

/// The words for directions; the first six can be shortened to their first letter.
const COMPASS: [&str; 8] = ["north", "south", "east", "west", "up", "down", "in", "out"];
const WITH_INITIAL: usize = 6;

/// The commands that speak privately, and the form to suggest. Many worlds have `tell`; here it is not a command.
const PRIVATE: [(&str, Form); 3] = [
    ("whisper", Form::Whisper),
    ("page", Form::Page),
    ("tell", Form::Whisper),
];

/// If there are more words before a `=`, they are not the name of a listener.
const MOST_WORDS_IN_A_NAME: usize = 4;

/// A command that begins with a word of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `say TEXT`
    Say,
    /// `pose TEXT`
    Pose,
    /// `whisper NAME = TEXT`
    Whisper,
    /// `page NAME = TEXT`
    Page,
    /// `channel NAME = TEXT`
    Channel,
    /// `public TEXT`
    Public,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Say => "say TEXT",
            Self::Pose => "pose TEXT",
            Self::Whisper => "whisper NAME = TEXT",
            Self::Page => "page NAME = TEXT",
            Self::Channel => "channel NAME = TEXT",
            Self::Public => "public TEXT",
        })
    }
}

/// The input that the form of a line means; `None` if it is plain speech.
pub(super) fn input_of(line: &str, assistant: &str) -> Result<Option<Input>, InputError> {
    if let Some(act) = act_by_sign(line)? {
        return Ok(Some(Input::Act(act)));
    }
    if let Some(direction) = compass(line) {
        return Ok(Some(Input::Act(Act::Move { direction })));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "look" => looking(line, rest).map(Some),
        "go" => going(line, rest),
        _ => match form_of(word, rest) {
            Some(form) => act_by_form(form, rest, assistant).map(|act| Some(Input::Act(act))),
            None => match private_form_meant(word, rest) {
                Some(form) => Err(InputError::Misspelt {
                    form,
                    assistant: assistant.to_owned(),
                }),
                None => Ok(None),
            },
        },
    }
}

/// The act that a sign at the beginning of the line means.
fn act_by_sign(line: &str) -> Result<Option<Act>, InputError> {
    if let Some(text) = line.strip_prefix('"') {
        let text = text
            .strip_suffix('"')
            .filter(|inner| !inner.contains('"'))
            .unwrap_or(text);
        return Ok(Some(Act::Say(Words::try_new(text.trim())?)));
    }
    if let Some(text) = line.strip_prefix(':')
        && text.starts_with(char::is_alphabetic)
    {
        return Ok(Some(Act::Pose(Words::try_new(text)?)));
    }
    let mentions = line
        .strip_prefix('@')
        .is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    if mentions {
        return Ok(Some(Act::Say(Words::try_new(line)?)));
    }
    Ok(None)
}

fn form_of(word: &str, rest: &str) -> Option<Form> {
    match word {
        "say" => return Some(Form::Say),
        "pose" => return Some(Form::Pose),
        "public" => return Some(Form::Public),
        _ => {}
    }
    let name = word.trim_end_matches(':').to_lowercase();
    let form = match name.strip_suffix('s').unwrap_or(&name) {
        "whisper" => Form::Whisper,
        "page" => Form::Page,
        "channel" => Form::Channel,
        _ => return None,
    };
    // "Whisper it to me" and "pages turn" are speech; "WHISPER Bob = hush" and "whispers Bob = hush" are meant as
    // private.
    let is_command = matches!(word, "whisper" | "page" | "channel") || word.ends_with(':');
    let is_directed = rest.contains(" = ") || rest.starts_with("= ");
    (is_command || is_directed).then_some(form)
}

/// The private command that a line was probably meant to be. The form of such a line is `WORD NAME = TEXT`. Its first
/// word differs by one slip from a command that speaks privately, or is such a command in other worlds.
fn private_form_meant(word: &str, rest: &str) -> Option<Form> {
    let (to, text) = rest.split_once('=')?;
    let is_a_name = (1..=MOST_WORDS_IN_A_NAME).contains(&to.split_whitespace().count());
    if !is_a_name || text.trim().is_empty() {
        return None;
    }
    let word = word.trim_end_matches(':').to_lowercase();
    let is_meant = |command: &str| {
        is_within_one_slip(&word, command) || is_within_one_slip(&word, &format!("{command}s"))
    };
    PRIVATE
        .iter()
        .find_map(|(command, form)| is_meant(command).then_some(*form))
}

/// Whether two words are equal, or one letter is missing, added or replaced, or two neighbours are exchanged.
fn is_within_one_slip(word: &str, other: &str) -> bool {
    let (word, other): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    let same = |a: &[char], b: &[char]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let before = same(&word, &other);
    let rest = |of: &[char]| of.iter().skip(before).copied().collect::<Vec<_>>();
    let (word, other) = (rest(&word), rest(&other));
    match (word.as_slice(), other.as_slice()) {
        ([], []) | ([_], []) | ([], [_]) => true,
        ([a, b, word @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && word == other => true,
        ([_, word @ ..], other) if word == other => true,
        (word, [_, other @ ..]) if word == other => true,
        ([_, word @ ..], [_, other @ ..]) => word == other,
        _ => false,
    }
}

fn act_by_form(form: Form, rest: &str, assistant: &str) -> Result<Act, InputError> {
    let unfit = || InputError::Unfit {
        form,
        assistant: assistant.to_owned(),
    };
    let words = |text: &str| match text.trim() {
        "" => Err(unfit()),
        text => Ok(Words::try_new(text)?),
    };
    let directed = || match rest.split_once(" = ") {
        Some((to, text)) if !to.trim().is_empty() => Ok((to.trim(), words(text)?)),
        Some(_) | None => Err(unfit()),
    };
    Ok(match form {
        Form::Say => Act::Say(words(rest)?),
        Form::Pose => Act::Pose(words(rest)?),
        Form::Public => Act::Channel {
            channel: ChannelId::try_new("public")?,
            words: words(rest)?,
        },
        Form::Whisper => {
            let (to, words) = directed()?;
            let to = to.to_owned();
            Act::Whisper { to, words }
        }
        Form::Page => {
            let (to, words) = directed()?;
            let to = to.to_owned();
            Act::Page { to, words }
        }
        Form::Channel => {
            if let Some((channel, word)) = rest.split_once(' ')
                && let Some(act) = tuning(channel, word.trim())?
            {
                return Ok(act);
            }
            let (channel, words) = directed()?;
            let channel = ChannelId::try_new(channel)?;
            Act::Channel { channel, words }
        }
    })
}

/// `channel NAME on` and `channel NAME off`.
fn tuning(channel: &str, word: &str) -> Result<Option<Act>, InputError> {
    let tunes: fn(ChannelId) -> Act = match word {
        "on" => Act::JoinChannel,
        "off" => Act::LeaveChannel,
        _ => return Ok(None),
    };
    Ok(Some(tunes(ChannelId::try_new(channel)?)))
}

/// `look`, `look THING` and `look at THING`.
fn looking(line: &str, rest: &str) -> Result<Input, InputError> {
    if rest.is_empty() {
        return Ok(Input::Act(Act::Look));
    }
    let thing = rest.strip_prefix("at ").unwrap_or(rest);
    Ok(Input::LookAt {
        thing: thing.trim().to_owned(),
        speech: Words::try_new(line)?,
    })
}

/// `go` and `go WAY`, where the way is one or two words.
fn going(line: &str, rest: &str) -> Result<Option<Input>, InputError> {
    if let Some(direction) = compass(rest) {
        return Ok(Some(Input::Act(Act::Move { direction })));
    }
    Ok(match rest.split_whitespace().count() {
        0 => Some(Input::GoNowhere),
        1 | 2 => Some(Input::Go {
            way: rest.to_owned(),
            speech: Words::try_new(line)?,
        }),
        _ => None,
    })
}

/// The way that a compass word, or its first letter, means.
fn compass(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    let is_initial = word.len() == 1;
    let by_initial = COMPASS
        .iter()
        .take(WITH_INITIAL)
        .find(|way| is_initial && way.starts_with(&word));
    let way = COMPASS.iter().find(|way| **way == word).or(by_initial)?;
    Some((*way).to_owned())
}
