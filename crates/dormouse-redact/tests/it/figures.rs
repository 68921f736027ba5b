//! Precision and recall on the corpus, and false alarms on the project's own pages.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dormouse_redact::{
    RedactionProfile::{self, Errors, Inspection, Memory, Recordings},
    SensitiveKind, scan,
};

use crate::{
    agreement::found,
    corpus::{ADDRESSES, CREDENTIALS, HARMLESS, HARMLESS_IN_PROSE, PERSONAL, RANDOM},
};

/// How much of what was expected was found, and how much of what was found was expected.
#[derive(Debug, Default)]
struct Figures {
    expected: usize,
    found: usize,
    right: usize,
}

impl Figures {
    fn add(&mut self, text: &str, secrets: &[(&str, SensitiveKind)], profile: RedactionProfile) {
        let is_covered = |(_, kind): &&(&str, SensitiveKind)| profile.covers(*kind);
        let found = found(text, profile);
        let is_right =
            |(secret, _): &&(&str, SensitiveKind)| found.iter().any(|(there, _)| there == secret);
        self.found += found.len();
        self.expected += secrets.iter().filter(is_covered).count();
        self.right += secrets.iter().filter(is_covered).filter(is_right).count();
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.expected as f64
    }

    fn precision(&self) -> f64 {
        self.right as f64 / self.found as f64
    }
}

fn of_corpus(profile: RedactionProfile) -> Figures {
    let mut figures = Figures::default();
    for (text, secrets) in CREDENTIALS.iter().chain(PERSONAL).chain(RANDOM) {
        figures.add(text, secrets, profile);
    }
    for (text, password, both) in ADDRESSES {
        let secret = if profile == Memory { password } else { both };
        figures.add(text, &[(secret, SensitiveKind::Password)], profile);
    }
    for text in HARMLESS.iter().chain(HARMLESS_IN_PROSE) {
        figures.add(text, &[], profile);
    }
    figures
}

/// `cargo test -p dormouse-redact --test it figures -- --nocapture` prints them.
#[test]
fn precision_and_recall_on_the_corpus_reach_their_targets() {
    // Minimum recall and precision. Errors keep plain words after `password:`; some random texts of an inspection are paths,
    // hashes and ids.
    for (profile, recall, precision) in [
        (Memory, 0.98, 1.0),
        (Recordings, 1.0, 0.9),
        (Inspection, 1.0, 0.84),
        (Errors, 0.93, 0.97),
    ] {
        let figures = of_corpus(profile);
        let (r, p) = (figures.recall(), figures.precision());
        println!("{profile:?}: recall {r:.3}, precision {p:.3} ({figures:?})");
        assert!(r >= recall && p >= precision, "{profile:?}: {r} {p}");
    }
}

/// The README lists them. `-- --nocapture` prints those of today.
#[test]
fn false_alarms_on_the_projects_own_pages_are_few() {
    for profile in RedactionProfile::ALL {
        let (mut bytes, mut alarms) = (0, Vec::new());
        for page in pages() {
            let text = fs::read_to_string(&page).unwrap();
            bytes += text.len();
            let name = page.file_name().unwrap().to_string_lossy().into_owned();
            for one in scan(text.as_bytes(), profile) {
                let start = one.range.start;
                let line = text[..start].lines().count();
                alarms.push(format!(
                    "{name}:{line} {:?} {:?}",
                    one.kind, &text[one.range]
                ));
            }
        }
        println!("{profile:?}: {} in {bytes} bytes", alarms.len());
        for alarm in &alarms {
            println!("  {alarm}");
        }
        assert!(alarms.len() <= bytes / 20_000, "{profile:?}: {alarms:#?}");
    }
}

/// The pages of the project and of its crates, except this one's, which is full of examples.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).unwrap();
    pages.extend(docs.map(|entry| entry.unwrap().path()));
    let crates = fs::read_dir(root.join("crates")).unwrap();
    pages.extend(crates.map(|entry| entry.unwrap().path().join("README.md")));
    pages.retain(|page| !page.ends_with("dormouse-redact/README.md"));
    pages.retain(|page| page.extension().is_some_and(|end| end == "md") && page.is_file());
    pages.sort();
    pages
}
