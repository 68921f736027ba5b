//! Commands of a game's staff, carried out as commands of this program.
//!
//! Only what is listed here can be asked for: a game must not reach files of this machine.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use dormouse_contracts::EntityId;
use dormouse_evennia::StaffRequest;
use dormouse_host::{FolderWorld, Host, config::find};
use dormouse_text::beginning;

use crate::{
    args::CommandLine,
    carry_out,
    command::{Caller, CallerOutput, Places, carry_out_for},
    exit::in_short,
};

/// The longest answer that the game's package shows, in characters.
const ANSWER: usize = 32_000;

/// What can be asked for, for who asked for something else.
const USAGE: &str = "possible are: aimemory, aimemory/search WORDS, aiinteract, aiinteract/SETTING, aiinteract/SETTING VALUE (settings of admission), aigoal, aigoal/add TEXT, aigoal/done ID, aigoal/drop ID, aiexec, aihistory/reset, \
    aiaudit FROM TO, aisetup/config show FIELD, aisetup/config set FIELD VALUE (admission.*, limits.max_exchanges, sleep.enabled, sleep.start_hour, sleep.duration_hours, sleep.time_zone; no limit can be taken away), assistant emergency clear";

/// What the staff of a game may see and set: how lively an assistant is. Privacy, trust, prompts, models and what they cost
/// are the operator's.
const OF_STAFF: [&str; 11] = [
    "admission.waiting",
    "admission.burst",
    "admission.cool_down",
    "admission.lines_per_minute",
    "admission.refusal_notice",
    "admission.farewell",
    "limits.max_exchanges",
    "sleep.enabled",
    "sleep.start_hour",
    "sleep.duration_hours",
    "sleep.time_zone",
];

/// A limit of which 0 means that there is none, which may run up a bill.
fn is_no_limit(field: &str, value: &str) -> bool {
    let is_limit = ["waiting", "burst", "cool_down", "lines_per_minute"];
    is_limit.iter().any(|limit| field.ends_with(limit)) && value.trim().parse() == Ok(0_u32)
}

fn may_set(field: &str) -> bool {
    // By its own name, because a setting has other names, too.
    find(field).is_ok_and(|setting| OF_STAFF.contains(&&*setting.name))
}

/// The command of this program for a staff command; `None` if no command is offered for it.
fn command_for(
    (command, switches): (&str, &[String]),
    arguments: &str,
    by: Option<&EntityId>,
) -> Option<Vec<String>> {
    let (first, rest) = match arguments.trim().split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim()),
        None => (arguments.trim(), ""),
    };
    let all = arguments.trim();
    let switch = switches.first().map_or("", String::as_str);
    let words: &[&str] = match (command, switch, first) {
        ("aigoal", "" | "list", "") => {
            let listener = format!("--for={}", by?);
            return Some(["goal", "list", &listener].map(str::to_owned).into());
        }
        ("aigoal", "add" | "done" | "drop", first) if !first.is_empty() => {
            &["goal", switch, "--", all]
        }
        ("aiexec", "", "") => &["exec", "show"],
        ("aimemory", "", "") => &["memory", "stats"],
        // Only what the one who asks may be told by the assistant itself.
        ("aimemory", "search", first) if !first.is_empty() => {
            let listener = format!("--for={}", by?);
            return Some(
                ["memory", "search", &listener, "--", all]
                    .map(str::to_owned)
                    .into(),
            );
        }
        // Profiles are not offered: they hold what others said about somebody.
        ("aiinteract", "", "") => &["config", "show", "--", "classify.interaction_enabled"],
        ("aiinteract", field, value) if !field.is_empty() => {
            let field = format!("admission.{field}");
            find(&field).ok()?;
            let words = match value {
                "" => vec!["config", "show", "--", &field],
                _ if is_no_limit(&field, all) => return None,
                _ => vec!["config", "set", "--", &field, all],
            };
            return Some(words.into_iter().map(str::to_owned).collect());
        }
        ("aihistory", "reset", "") => &["history", "reset"],
        ("aiaudit", "", first) if !first.is_empty() && !rest.is_empty() => {
            return Some(vec![
                "log".to_owned(),
                "show".to_owned(),
                // Words would be those of whispers and pages, too.
                "--kinds".to_owned(),
                format!("--from={first}"),
                format!("--to={rest}"),
            ]);
        }
        ("aisetup", "config", "show") if may_set(rest) => &["config", "show", "--", rest],
        ("aisetup", "config", "set") => {
            let (field, value) = rest.split_once(char::is_whitespace)?;
            if !may_set(field) || is_no_limit(field, value) {
                return None;
            }
            &["config", "set", "--", field, value.trim()]
        }
        ("assistant", "", "emergency") if rest == "clear" => &["emergency", "clear"],
        _ => return None,
    };
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Collects what a command prints.
struct Printed {
    text: Mutex<String>,
    remarks: Remarks,
}

/// Whether what a command says besides its result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remarks {
    Shown,
    /// A search says who perceived the records that it leaves out.
    Left,
}

impl Printed {
    fn add(&self, text: &str) {
        let mut all = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_str(text);
    }

    fn take(&self) -> String {
        let mut all = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }
}

impl CallerOutput for Printed {
    fn out(&self, bytes: &[u8]) -> io::Result<()> {
        self.add(&String::from_utf8_lossy(bytes));
        Ok(())
    }

    fn err(&self, text: &str) -> io::Result<()> {
        if self.remarks == Remarks::Shown {
            self.add(text);
        }
        Ok(())
    }
}

/// Carries out a staff command on a thread of its own, and answers it.
pub(crate) fn attend(host: &Host<FolderWorld>, places: Places, asked: StaffRequest) {
    let host = host.clone();
    let attending = thread::Builder::new()
        .name("staff".to_owned())
        .spawn(move || {
            let (text, is_done) = answer(&host, &places, &asked);
            asked.answer(beginning(text.trim(), ANSWER).to_owned(), is_done);
        });
    if let Err(error) = attending {
        tracing::warn!(%error, "no thread for a staff command could be started");
    }
}

fn answer(host: &Host<FolderWorld>, places: &Places, asked: &StaffRequest) -> (String, bool) {
    let StaffRequest {
        command,
        switches,
        arguments,
        ..
    } = asked;
    let by = asked.entity.as_ref();
    let Some(mut words) = command_for((command, switches), arguments, by) else {
        return (USAGE.to_owned(), false);
    };
    // Commands about the memory have no such flag.
    if words.first().is_none_or(|first| first != "memory") {
        // Before the separator, behind which everything is a value.
        words.insert(2, format!("--assistant={}", asked.assistant));
    }
    words.insert(0, "dormouse".to_owned());
    let line = match CommandLine::read(&words) {
        Ok(line) => line,
        Err(error) => return (in_short(&error.to_string()), false),
    };
    let printed = Arc::new(Printed {
        text: Mutex::default(),
        remarks: match command.as_str() {
            "aimemory" => Remarks::Left,
            _ => Remarks::Shown,
        },
    });
    let caller = Caller {
        folder: host.folder().path().to_owned(),
        host: host.in_any_world(),
        world: Some(host.world().clone()),
        user: Some(format!("{} (staff of the game)", asked.by)),
        out: Arc::clone(&printed) as Arc<dyn CallerOutput>,
        about: Some(asked.assistant.clone()),
        visited: None,
    };
    let done = carry_out_for(caller, || carry_out(places, line.command));
    let is_done = match done {
        Ok(_exit) => true,
        Err(failure) => {
            printed.add(failure.report.as_deref().unwrap_or_default());
            false
        }
    };
    (printed.take(), is_done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_commands_can_be_asked_for_and_values_are_never_flags() {
        let line = |command, switch: &str, arguments| {
            let switches: Vec<_> = Some(switch.to_owned())
                .filter(|it| !it.is_empty())
                .into_iter()
                .collect();
            let by = EntityId::try_new("account:3").unwrap();
            let words = command_for((command, &switches), arguments, Some(&by));
            words.map(|words| words.join(" "))
        };
        for (asked, expected) in [
            (("aigoal", "", ""), "goal list --for=account:3"),
            (
                ("aigoal", "add", "--data /etc water the plants"),
                "goal add -- --data /etc water the plants",
            ),
            (("aiaudit", "", "5 9"), "log show --kinds --from=5 --to=9"),
            (
                ("aisetup", "config", "set limits.max_exchanges 6"),
                "config set -- limits.max_exchanges 6",
            ),
            (("assistant", "", "emergency clear"), "emergency clear"),
            (("aihistory", "reset", ""), "history reset"),
            (("aimemory", "", ""), "memory stats"),
            (
                ("aimemory", "search", "--for=account:4 roses"),
                "memory search --for=account:3 -- --for=account:4 roses",
            ),
            (
                ("aiinteract", "", ""),
                "config show -- classify.interaction_enabled",
            ),
            (
                ("aiinteract", "burst", ""),
                "config show -- admission.burst",
            ),
            (
                ("aiinteract", "refusal_notice", "Later, please."),
                "config set -- admission.refusal_notice Later, please.",
            ),
        ] {
            assert_eq!(line(asked.0, asked.1, asked.2).as_deref(), Some(expected));
        }
        for asked in [
            ("aimemory", "export", "/etc/passwd"),
            ("aimemory", "", "7"),
            ("aimemory", "search", ""),
            ("aiinteract", "", "account:4"),
            ("aiinteract", "list", ""),
            ("aiinteract", "../limits.tick_rate", "1"),
            ("aigoal", "--data", "x"),
            ("assistant", "", "emergency stop"),
            ("backup", "", "/tmp/x"),
            ("aisetup", "config", "set x"),
            ("aisetup", "config", "set memory.privacy shared"),
            ("aisetup", "config", "set trust.approval never"),
            ("aisetup", "config", "set goals.pursue_trust 0"),
            ("aisetup", "config", "set compaction.prompt Obey carol."),
            ("aisetup", "config", "set limits.max_context_tokens 1000000"),
            ("aisetup", "config", "set admission.burst 0"),
            ("aisetup", "config", "show evennia.password_from"),
            ("aisetup", "config", "show assistant.persona"),
            ("aiinteract", "lines_per_minute", "0"),
            ("aisetup", "config", "set no_such_setting 1"),
        ] {
            assert_eq!(line(asked.0, asked.1, asked.2), None, "{asked:?}");
        }
        assert!(
            CommandLine::read([
                "dormouse",
                "goal",
                "add",
                "--assistant=x",
                "--",
                "--data /etc"
            ])
            .is_ok()
        );
    }
}
