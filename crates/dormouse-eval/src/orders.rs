//! Measures which messages are recognised as standing orders: how many of those that are one, and how many that only look
//! like one.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use dormouse_entities::orders_in;

use crate::{
    args::{Half, Orders},
    error::EvalError,
};

/// A file of messages cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrdersFileError {
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    #[error(
        "{}:{line}: expected `learn` or `kept`, then `+` for an order or `-` for none, then the message, each after one space",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    #[error("{} has no message of the half `{half}`; expected lines such as `{half} + Always knock.`", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// The half.
        half: Half,
    },
}

/// How many messages of each sort were recognised.
#[derive(Debug, Default)]
pub(crate) struct OrdersReport {
    orders: usize,
    found: usize,
    others: usize,
    /// The orders that were not recognised.
    missed: Vec<String>,
    /// The messages that were taken for orders.
    mistaken: Vec<String>,
}

impl OrdersReport {
    pub(crate) fn of(asked: &Orders) -> Result<Self, EvalError> {
        let mut report = Self::default();
        for (is_order, message) in read_half(&asked.file, asked.half)? {
            report.ask(is_order, &message);
        }
        Ok(report)
    }

    fn ask(&mut self, is_order: bool, message: &str) {
        let is_found = !orders_in(message).is_empty();
        match is_order {
            true => self.orders += 1,
            false => self.others += 1,
        }
        match (is_order, is_found) {
            (true, true) => self.found += 1,
            (true, false) => self.missed.push(message.to_owned()),
            (false, true) => self.mistaken.push(message.to_owned()),
            (false, false) => {}
        }
    }
}

/// The messages of one half of a file, each with whether it contains an order.
pub(crate) fn read_half(path: &Path, half: Half) -> Result<Vec<(bool, String)>, OrdersFileError> {
    let text = fs::read_to_string(path).map_err(|source| OrdersFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut messages = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (of, is_order, message) = read(line).ok_or_else(|| OrdersFileError::Line {
            path: path.to_owned(),
            line: number + 1,
        })?;
        if of == half {
            messages.push((is_order, message.to_owned()));
        }
    }
    if messages.is_empty() {
        let path = path.to_owned();
        return Err(OrdersFileError::Empty { path, half });
    }
    Ok(messages)
}

/// A line of the file: the half, whether the message contains an order, and the message.
fn read(line: &str) -> Option<(Half, bool, &str)> {
    let (half, rest) = line.split_once(' ')?;
    let (sign, message) = rest.split_once(' ')?;
    let half = match half {
        "learn" => Half::Learn,
        "kept" => Half::Kept,
        _ => return None,
    };
    let is_order = match sign {
        "+" => true,
        "-" => false,
        _ => return None,
    };
    Some((half, is_order, message))
}

impl fmt::Display for OrdersReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        let taken = self.found + self.mistaken.len();
        writeln!(f, "messages with an order   {:>5}", self.orders)?;
        writeln!(
            f,
            "recognised (coverage)    {:>5}  {:>5.1} %",
            self.found,
            share(self.found, self.orders)
        )?;
        writeln!(f, "messages without one     {:>5}", self.others)?;
        writeln!(
            f,
            "taken for an order       {:>5}  {:>5.1} %",
            self.mistaken.len(),
            share(self.mistaken.len(), self.others)
        )?;
        writeln!(
            f,
            "precision                       {:>5.1} %",
            share(self.found, taken)
        )?;
        for message in &self.missed {
            writeln!(f, "missed: {message}")?;
        }
        for message in &self.mistaken {
            writeln!(f, "mistaken: {message}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str, half: Half) -> Result<OrdersReport, EvalError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orders.txt");
        fs::write(&file, text).unwrap();
        OrdersReport::of(&Orders { file, half })
    }

    #[test]
    fn each_message_counts_in_its_half_and_is_named_if_it_was_misjudged() {
        let text = "# messages\nlearn + Always knock.\nlearn + Blue.\n\nlearn - I love you.\nlearn - Never eat snow.\nkept - Hi!\n";
        let learnt = report(text, Half::Learn).unwrap();
        assert_eq!((learnt.orders, learnt.found, learnt.others), (2, 1, 2));
        assert_eq!(
            (&learnt.missed, &learnt.mistaken),
            (
                &vec!["Blue.".to_owned()],
                &vec!["Never eat snow.".to_owned()]
            )
        );
        assert_eq!(report(text, Half::Kept).unwrap().others, 1);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named_and_so_is_a_missing_half() {
        let error =
            report("learn + Always knock.\nlearn Always knock.\n", Half::Learn).unwrap_err();
        assert!(
            error.to_string().contains("orders.txt:2: expected"),
            "{error}"
        );
        let error = report("learn + Always knock.\n", Half::Kept).unwrap_err();
        assert!(
            error.to_string().contains("no message of the half `kept`"),
            "{error}"
        );
    }
}
