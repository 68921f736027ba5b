use std::fs;

use dormouse_contracts::{CallId, ChatReply, ModelName, ProviderId, ReplyInfo, Timestamp};
use dormouse_dialects::{CallingChange, Evidence, ProbeVerdict, ToolCalling};
use dormouse_engine::Call;
use proptest::prelude::*;

use super::{Dialects, file::DialectsError};

fn model() -> (ProviderId, ModelName) {
    (
        ProviderId::try_new("local").unwrap(),
        ModelName::try_new("small").unwrap(),
    )
}

fn printed() -> ChatReply {
    let (provider, model) = model();
    ChatReply {
        content: "{\"name\": \"say\", \"arguments\": {}}".to_owned(),
        info: Some(Box::new(ReplyInfo {
            provider,
            model,
            served_model: None,
            request_id: None,
            rate_limits: dormouse_contracts::RateLimits::default(),
            left_out: Vec::new(),
        })),
        ..ChatReply::default()
    }
}

fn observe(book: &mut Dialects) -> Option<CallingChange> {
    book.observe(
        &printed(),
        ToolCalling::Native,
        &[call("say", "{}")],
        Timestamp::EPOCH,
    )
}

fn call(name: &str, arguments: &str) -> Call {
    Call {
        id: CallId::try_new("1").unwrap(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        continues: false,
    }
}

#[test]
fn a_call_among_words_counts_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (mut book, _) = Dialects::open(&folder.path().join("dialects.json"));
    let reply = ChatReply {
        content: "Sure: {\"tool\": \"say\", \"parameters\": {\"message\": \"hi\"}}".to_owned(),
        ..printed()
    };
    let mut observe = |made: &Call| {
        let made = std::slice::from_ref(made);
        book.observe(&reply, ToolCalling::Native, made, Timestamp::EPOCH)
    };
    // A call that the model only quotes in its speech is not evidence.
    for _ in 0..9 {
        assert_eq!(observe(&call("say", "{\"message\":\"no\"}")), None);
    }
    let made = call("say", "{\"message\":\"hi\"}");
    assert_eq!(observe(&made), None);
    assert_eq!(observe(&made).unwrap().to, ToolCalling::Fallback);
}

#[test]
fn the_learnt_book_is_loaded_at_the_next_start_and_readable_only_by_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dialects.json");
    let (mut book, problem) = Dialects::open(&file);
    assert!(problem.is_none());
    assert_eq!(observe(&mut book), None);
    book.save().unwrap();
    let (mut book, _) = Dialects::open(&file);
    let change = observe(&mut book).unwrap();
    assert_eq!(change.to, ToolCalling::Fallback, "the first was not lost");
    book.save().unwrap();
    let (book, _) = Dialects::look(&file);
    let (provider, model) = model();
    let learnt = book.learnt(&provider, &model);
    assert_eq!(learnt.calling, ToolCalling::Fallback);
    assert_eq!(learnt.evidence, Evidence::PrintedCalls(2));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_book_is_moved_aside_but_not_by_read_only_commands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dialects.json");
    for number in 1..=2 {
        fs::write(&file, b"\xff{").unwrap();
        let (_, problem) = Dialects::look(&file);
        assert!(
            matches!(problem, Some(DialectsError::Unreadable { .. })),
            "{problem:?}"
        );
        let (mut book, problem) = Dialects::open(&file);
        let Some(DialectsError::Damaged { aside, .. }) = problem else {
            panic!("{problem:?}")
        };
        assert!(aside.ends_with(format!("dialects.json.damaged-{number}")));
        assert_eq!(fs::read(aside).unwrap(), b"\xff{");
        observe(&mut book);
        book.save().unwrap();
    }
}

#[test]
fn an_unreadable_or_newer_book_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dialects.json");
    fs::write(&file, "{\"format\": 99}").unwrap();
    let (mut book, problem) = Dialects::open(&file);
    assert!(
        matches!(problem, Some(DialectsError::Newer(_))),
        "{problem:?}"
    );
    observe(&mut book);
    book.save().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"format\": 99}");

    let (mut book, problem) = Dialects::open(folder.path());
    assert!(
        matches!(problem, Some(DialectsError::Read { .. })),
        "a folder: {problem:?}"
    );
    observe(&mut book);
    book.save().unwrap();
}

#[test]
fn two_programs_keep_what_each_has_learnt() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dialects.json");
    let ((mut one, _), (mut other, _)) = (Dialects::open(&file), Dialects::open(&file));
    let (provider, small) = model();
    let large = ModelName::try_new("large").unwrap();
    let at = Timestamp::EPOCH;
    one.probed(&provider, &small, ProbeVerdict::PrintsCalls, at);
    other.probed(&provider, &large, ProbeVerdict::IgnoresTools, at);
    one.save().unwrap();
    other.save().unwrap();
    let (book, _) = Dialects::look(&file);
    for model in [small, large] {
        let learnt = book.learnt(&provider, &model);
        assert_eq!(learnt.calling, ToolCalling::Fallback, "{model}");
    }
}

#[test]
fn a_full_disk_is_reported_and_no_file_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nowhere").join("dialects.json");
    let (mut book, problem) = Dialects::open(&file);
    assert!(problem.is_none());
    observe(&mut book);
    let error = book.save().unwrap_err();
    assert!(matches!(error, DialectsError::Write { .. }), "{error:?}");
}

proptest! {
    #[test]
    fn any_file_content_can_be_opened_and_learnt_from(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dialects.json");
        fs::write(&file, bytes).unwrap();
        let (mut book, _) = Dialects::open(&file);
        observe(&mut book);
        prop_assert!(book.save().is_ok());
    }
}
