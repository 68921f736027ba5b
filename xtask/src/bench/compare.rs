//! `cargo xtask bench --compare REV`: the main rows of a revision and of this tree, measured in turn.
//!
//! Both are measured by the measurements of this tree, so that only the product differs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

use super::load;
use crate::workspace::{Result, root};

/// How often both are measured, and how many turns each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    Quick,
}

impl Effort {
    fn rounds(self) -> usize {
        match self {
            Self::Full => 7,
            Self::Quick => 3,
        }
    }

    fn turns(self) -> &'static str {
        match self {
            Self::Full => "40",
            Self::Quick => "10",
        }
    }
}

/// A program and its arguments that print main rows.
const RUNS: [(&str, &[&str]); 4] = [
    ("turning", &["--history", "0"]),
    ("turning", &["--history", "50"]),
    ("turning", &["--history", "200"]),
    ("runtime", &["--main-rows"]),
];

/// The programs that measure one revision, by name.
type Programs = BTreeMap<String, PathBuf>;

/// What a row measured in each round, in the order of the rows.
#[derive(Debug, Default)]
struct Measured(Vec<(String, Values)>);

#[derive(Debug)]
struct Values {
    unit: String,
    values: Vec<f64>,
}

/// Builds both, measures them in turn, and prints for each row whether it differs by more than it varies.
pub(crate) fn compare(sh: &Shell, revision: &str, effort: Effort) -> Result {
    let wanted = format!("{revision}^{{commit}}");
    let commit = cmd!(sh, "git rev-parse --verify {wanted}").read()?;
    let short = commit.get(..12).unwrap_or(&commit);
    let folder = unpacked(sh, &commit)?;
    let before = build(sh, &folder, "target/compare/build").map_err(|failure| {
        format!(
            "the measurements of this tree do not build on {revision}, whose interfaces may differ: {failure}"
        )
    })?;
    let now = build(sh, root(), "target")?;
    let load_before = load(sh);
    let (mut old, mut new) = (Measured::default(), Measured::default());
    for round in 0..effort.rounds() {
        eprintln!("round {} of {}", round + 1, effort.rounds());
        for (program, arguments) in RUNS {
            // Each goes first in every other round, so that a machine that gets busier favours neither.
            let mut both = [(&before, &mut old), (&now, &mut new)];
            if round % 2 == 1 {
                both.reverse();
            }
            for (programs, measured) in both {
                let printed = measure(sh, programs, program, arguments, effort)?;
                measured.read(&printed);
            }
        }
    }
    println!("{}", table(short, &old, &new));
    println!(
        "{} rounds in turn. The difference of the medians is significant if it is larger than what lies between the least and \
         the most of either.",
        effort.rounds()
    );
    println!(
        "load of the machine: {load_before} before, {} after",
        load(sh)
    );
    Ok(())
}

/// A folder with this commit, and with the tests of this tree in place of its own. Cargo believes the times of files, and does
/// not see that the folder holds another commit than before, so everything that is written there is new.
fn unpacked(sh: &Shell, commit: &str) -> Result<PathBuf> {
    let place = root().join("target/compare");
    let (folder, stamp) = (place.join("tree"), place.join("commit"));
    if !sh
        .read_file(&stamp)
        .is_ok_and(|unpacked| unpacked == commit)
    {
        sh.remove_path(&stamp)?;
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        let packed = place.join("commit.tar");
        cmd!(sh, "git archive --output {packed} {commit}").run()?;
        cmd!(
            sh,
            "tar --extract --touch --file {packed} --directory {folder}"
        )
        .run()?;
        sh.remove_path(packed)?;
        sh.write_file(stamp, commit)?;
    }
    let (own, tests) = (root().join("tests"), folder.join("tests"));
    sh.remove_path(&tests)?;
    cmd!(sh, "cp -R {own} {tests}").run()?;
    Ok(folder)
}

/// Builds the programs of the main rows in this folder. The two trees must not share a target folder: cargo gives the crates of
/// both the same names.
fn build(sh: &Shell, folder: &Path, target: &str) -> Result<Programs> {
    let _there = sh.push_dir(folder);
    let target = root().join(target);
    let built = cmd!(
        sh,
        "cargo bench --package dormouse-tests --bench runtime --bench turning --no-run --message-format json-render-diagnostics --target-dir {target}"
    )
    .read()?;
    let mut programs = Programs::new();
    for line in built.lines() {
        let message: Value = serde_json::from_str(line)?;
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        if text("/target/kind/0") == Some("bench")
            && let (Some(name), Some(file)) = (text("/target/name"), text("/executable"))
        {
            programs.insert(name.to_owned(), file.into());
        }
    }
    Ok(programs)
}

fn measure(
    sh: &Shell,
    programs: &Programs,
    program: &str,
    arguments: &[&str],
    effort: Effort,
) -> Result<String> {
    let file = programs.get(program);
    let file = file.ok_or_else(|| format!("cargo did not build {program}"))?;
    let printed = cmd!(sh, "{file} --bench {arguments...}")
        .env("DORMOUSE_BENCH_TURNS", effort.turns())
        .quiet()
        .read()?;
    Ok(printed)
}

impl Measured {
    /// Adds the rows of a table in Markdown: the name, and the value with its unit.
    fn read(&mut self, printed: &str) {
        for line in printed.lines() {
            let mut cells = line.split(" | ").map(|cell| cell.trim_matches(['|', ' ']));
            let (Some(name), Some(cell)) = (cells.next(), cells.next()) else {
                continue;
            };
            let Some((number, unit)) = cell.split_once(' ') else {
                continue;
            };
            let Ok(value) = number.replace(',', "").parse() else {
                continue;
            };
            self.add(name, unit, value);
        }
    }

    fn add(&mut self, name: &str, unit: &str, value: f64) {
        match self.0.iter_mut().find(|(row, _)| row == name) {
            Some((_, row)) => row.values.push(value),
            None => {
                let row = Values {
                    unit: unit.to_owned(),
                    values: vec![value],
                };
                self.0.push((name.to_owned(), row));
            }
        }
    }

    fn row(&self, name: &str) -> Option<&Values> {
        let found = self.0.iter().find(|(row, _)| row == name);
        found.map(|(_, values)| values)
    }
}

/// The least, the median and the most of some rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Values {
    fn spread(&self) -> Option<Spread> {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        Some(Spread {
            least: *values.first()?,
            median: *values.get(values.len() / 2)?,
            most: *values.last()?,
        })
    }
}

impl Spread {
    fn width(self) -> f64 {
        self.most - self.least
    }

    /// Whether the medians differ by more than either varies.
    fn differs_from(self, other: Self) -> bool {
        (self.median - other.median).abs() > self.width().max(other.width())
    }

    fn render(self, unit: &str) -> String {
        let Self {
            least,
            median,
            most,
        } = self;
        format!("{median:.2} {unit} ({least:.2} to {most:.2})")
    }
}

/// A row in Markdown for each that both have.
fn table(revision: &str, old: &Measured, new: &Measured) -> String {
    let mut lines = vec![
        format!("| row | {revision}, median (least to most) | this tree | change | significant |"),
        "| --- | --- | --- | --- | --- |".to_owned(),
    ];
    for (name, now) in &new.0 {
        let before = old.row(name).and_then(Values::spread);
        let (Some(before), Some(spread)) = (before, now.spread()) else {
            continue;
        };
        let is_significant = match spread.differs_from(before) {
            true => "yes",
            false => "no",
        };
        lines.push(format!(
            "| {name} | {} | {} | {:+.1} % | {is_significant} |",
            before.render(&now.unit),
            spread.render(&now.unit),
            100.0 * (spread.median / before.median - 1.0),
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(rounds: &[&str]) -> Measured {
        let mut measured = Measured::default();
        for round in rounds {
            measured.read(&format!(
                "| row | measured | baseline | ratio | compared with |\n| --- | --- | --- | --- | --- |\n{round}\nall of it"
            ));
        }
        measured
    }

    #[test]
    fn a_difference_within_what_either_varies_by_is_not_significant() {
        let old = measured(&[
            "| a turn | 8.00 ms | 4.00 ms | 2.000 | a client |\n| appends | 4,000 per second | 1 per second | 1 | raw |",
            "| a turn | 9.00 ms | 4.00 ms | 2.250 | a client |\n| appends | 5,000 per second | 1 per second | 1 | raw |",
        ]);
        let new = measured(&[
            "| a turn | 7.00 ms | 4.00 ms | 1.750 | a client |\n| appends | 4,100 per second | 1 per second | 1 | raw |",
            "| a turn | 7.20 ms | 4.00 ms | 1.800 | a client |\n| appends | 4,600 per second | 1 per second | 1 | raw |",
        ]);
        assert_eq!(
            table("0123", &old, &new),
            "| row | 0123, median (least to most) | this tree | change | significant |\n\
             | --- | --- | --- | --- | --- |\n\
             | a turn | 9.00 ms (8.00 to 9.00) | 7.20 ms (7.00 to 7.20) | -20.0 % | yes |\n\
             | appends | 5000.00 per second (4000.00 to 5000.00) | 4600.00 per second (4100.00 to 4600.00) | -8.0 % | no |"
        );
    }

    #[test]
    fn a_row_that_only_one_of_them_has_is_left_out() {
        let old = measured(&["| a turn | 8.00 ms | 4.00 ms | 2.000 | a client |"]);
        let new = measured(&["| another turn | 8.00 ms | 4.00 ms | 2.000 | a client |"]);
        assert_eq!(table("0123", &old, &new).lines().count(), 2);
    }
}
