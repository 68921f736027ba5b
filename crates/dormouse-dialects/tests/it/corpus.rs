//! The whole corpus.

use std::collections::BTreeSet;

use dormouse_dialects::corpus::{ExpectedReply, families, rates, table};

#[test]
fn every_reply_of_the_corpus_parses_as_expected() {
    let mut wrong = Vec::new();
    for family in families().unwrap() {
        for case in &family.cases {
            for calling in case.callings() {
                let found = ExpectedReply::of(&case.reading(calling).unwrap());
                if found != case.expect {
                    let (family, name) = (&family.family, &case.name);
                    let wanted = &case.expect;
                    wrong.push(format!(
                        "{family}: {name} ({calling})\n  wanted {wanted:?}\n  found  {found:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), wrong.len());
}

#[test]
fn the_corpus_is_large_and_names_each_case_once() {
    let families = families().unwrap();
    let cases: usize = families.iter().map(|family| family.cases.len()).sum();
    assert!(cases >= 60, "{cases}");
    for family in families {
        let names: BTreeSet<_> = family.cases.iter().map(|case| &case.name).collect();
        assert_eq!(names.len(), family.cases.len(), "{}", family.family);
    }
}

#[test]
fn no_quoted_call_is_executed_and_the_readme_has_the_rates() {
    let rates = rates(&families().unwrap());
    assert!(rates.iter().all(|rate| rate.wrong == 0), "{rates:?}");
    let table = table(&rates);
    println!("{table}");
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&table), "README.md should hold:\n{table}");
}
