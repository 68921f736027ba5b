//! Names in the configuration that match no sender.

use crate::program::Home;

#[test]
fn a_permission_that_matches_no_sender_is_a_warning() {
    for (named, meant) in [
        ("alice", "player:alice"),
        ("Alice", "player:alice"),
        ("player:Alice", "player:alice"),
    ] {
        let home = Home::new();
        home.write(
            "dormouse.toml",
            &format!(
                "[classify]\ntrigger_permissions = [\"{named}\"]\ntrust_overrides = {{ \"{named}\" = 0.2 }}\n"
            ),
        );
        let run = home.play("");
        assert_eq!(run.code, Some(0), "{}", run.err);
        let doctor = home.run(&["doctor", "--provider", "offline"], "");
        assert_eq!(doctor.code, Some(0), "{}", doctor.out);
        for output in [run.err, doctor.out] {
            for field in ["trigger_permissions", "trust_overrides"] {
                let line = output.lines().find(|line| line.contains(field));
                let line = line.unwrap_or_else(|| panic!("{field}: {output}"));
                assert!(line.contains(&format!("{named:?}")), "{line}");
                assert!(line.contains(meant), "{line}");
            }
        }
    }
}

#[test]
fn a_permission_that_can_match_is_not_a_warning() {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[classify]\ntrigger_permissions = [\"player:alice\", \"assistant:bob\"]\n",
    );
    let run = home.play("");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let doctor = home.run(&["doctor", "--provider", "offline"], "").out;
    assert!(!doctor.contains("trigger_permissions"), "{doctor}");
}
