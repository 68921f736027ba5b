//! Whether tasks find their tool among many.

use std::path::Path;

use crate::program::{Folder, run};

/// The numbers of a row of the table.
fn row(table: &str, name: &str) -> Vec<f64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap()
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect()
}

#[test]
fn nearly_every_task_finds_its_tool_among_three_hundred() {
    let sets = Path::new(env!("CARGO_MANIFEST_DIR")).join("sets/tools");
    let path = |name: &str| sets.join(name).to_str().unwrap().to_owned();
    let (servers, tasks) = (path("servers.txt"), path("tasks.txt"));
    let folder = Folder::new();
    // One task of six of the half that the rules were not tuned with, so that it takes seconds.
    let all = std::fs::read_to_string(&tasks).unwrap();
    let kept = all.lines().filter(|line| line.starts_with("kept"));
    let few: Vec<_> = kept.step_by(6).collect();
    let few = folder.write("few.txt", &few.join("\n"));
    let few = few.to_str().unwrap();
    let budget = ["--half", "kept", "--budget", "8192"];
    let ran = run(&folder, &[&["tools", &servers, few], &budget[..]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let called = row(&ran.out, "tool called, % of tasks");
    assert!(called.iter().all(|share| *share >= 95.0), "{}", ran.out);
    let most = row(&ran.out, "tokens in a request, most");
    assert!(most[0] > 2.0 * 8_192.0, "{}", ran.out);
    assert!(most[1..].iter().all(|most| *most <= 8_192.0), "{}", ran.out);
}

#[test]
fn a_wrong_file_is_named_with_the_line() {
    let folder = Folder::new();
    let servers = folder.write("servers.txt", "[s]\nread | Read. | path string A path\n");
    let tasks = folder.write("tasks.txt", "learn | write | Write it. | write\n");
    let (servers, tasks) = (servers.to_str().unwrap(), tasks.to_str().unwrap());
    let ran = run(&folder, &["tools", servers, tasks]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("tasks.txt:1: expected"), "{ran:?}");
    let ran = run(&folder, &["tools", tasks, tasks]);
    assert!(ran.err.contains("a server in brackets"), "{ran:?}");
}
