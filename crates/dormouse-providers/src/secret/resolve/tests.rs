use std::{error::Error, io::Write};

use tempfile::NamedTempFile;

use super::*;

fn nothing(_: &str) -> Option<OsString> {
    None
}

/// A file that only its owner can read, as `tempfile` creates them.
fn file(content: &[u8]) -> (NamedTempFile, SecretSource) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let source = SecretSource::File(file.path().to_owned());
    (file, source)
}

/// Everything that an error prints.
fn shown(error: &ResolveSecretError) -> String {
    let mut shown = format!("{error:?} {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        shown.push_str(&format!(" {error} {error:?}"));
        cause = error.source();
    }
    shown
}

#[test]
fn variables_are_read_by_name_and_empty_ones_count_as_unset() {
    let source = SecretSource::Environment("MY_KEY".to_owned());
    let key = source.resolve(|name| (name == "MY_KEY").then(|| "sk-secret\n".into()));
    assert_eq!(key.unwrap().expose(), "sk-secret");
    for empty in [None, Some(OsString::new())] {
        let error = source.resolve(|_| empty).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the environment variable MY_KEY is not set"
        );
    }
}

#[test]
fn a_key_file_may_end_with_a_newline() {
    for content in ["sk-secret", "sk-secret\n", " sk-secret\r\n\n"] {
        let (_file, source) = file(content.as_bytes());
        assert_eq!(source.resolve(nothing).unwrap().expose(), "sk-secret");
    }
}

#[test]
fn an_invalid_key_is_rejected_and_not_printed() {
    let long = "sk-secret".repeat(10_000);
    for content in [
        &b""[..],
        b"\n\n",
        b"sk-secret\nsk-secret",
        b"sk-secret \xff",
        b"\"sk-secret\"\x00",
        long.as_bytes(),
    ] {
        let (_file, source) = file(content);
        let error = source.resolve(nothing).unwrap_err();
        let shown = shown(&error);
        assert!(!shown.contains("sk-"), "{shown}");
        assert!(
            matches!(
                error,
                ResolveSecretError::NoKey { .. } | ResolveSecretError::NotText { .. }
            ),
            "{shown}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_or_change_is_refused_with_advice() {
    use std::os::unix::fs::PermissionsExt;
    let (file, source) = file(b"sk-secret");
    let with_mode = |mode| {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        source.resolve(nothing)
    };
    for mode in [0o600, 0o400, 0o440, 0o640] {
        assert_eq!(with_mode(mode).unwrap().expose(), "sk-secret", "{mode:o}");
    }
    for mode in [0o644, 0o604, 0o602, 0o620, 0o660, 0o444, 0o777] {
        let error = with_mode(mode).unwrap_err();
        let shown = error.to_string();
        assert!(
            matches!(error, ResolveSecretError::Exposed { .. }),
            "{shown}"
        );
        assert!(
            shown.contains(&format!("{mode:o}")) && shown.contains("chmod 600"),
            "{shown}"
        );
    }
}

#[test]
fn a_pipe_is_rejected_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &Path| SecretSource::File(path.to_owned()).resolve(nothing);
    assert!(matches!(
        at(folder.path()),
        Err(ResolveSecretError::NoFile { .. })
    ));
    let missing = at(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(missing, ResolveSecretError::File { .. }));
    assert!(missing.to_string().contains("missing"), "{missing}");
    #[cfg(unix)]
    assert!(matches!(
        at(Path::new("/dev/zero")),
        Err(ResolveSecretError::NoFile { .. })
    ));
}

#[test]
fn a_keyring_without_the_key_is_an_error_with_the_cause() {
    let source: SecretSource = "keyring:dormouse-test/nobody".parse().unwrap();
    let error = source.resolve(nothing).unwrap_err();
    if cfg!(feature = "keyring") {
        assert!(
            matches!(
                error,
                ResolveSecretError::Keyring(_) | ResolveSecretError::NotInKeyring { .. }
            ),
            "{error}"
        );
    } else {
        assert!(error.to_string().contains("--features keyring"), "{error}");
    }
}
