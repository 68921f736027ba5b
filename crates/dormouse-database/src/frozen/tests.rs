use std::fs;

use proptest::prelude::*;

use super::*;
use crate::header::FLAGS_AT;

const BLOCK_BYTES: usize = 4096;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<u8>),
    Read(usize, usize),
    Resize(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let data = proptest::collection::vec(1_u8.., 0..9000);
    prop_oneof![
        4 => (0_usize..30_000, data).prop_map(|(at, data)| Step::Write(at, data)),
        4 => (0_usize..30_000, 0_usize..9000).prop_map(|(at, length)| Step::Read(at, length)),
        // redb changes the length by whole pages only.
        1 => (0_usize..8).prop_map(|blocks| Step::Resize(blocks * BLOCK_BYTES)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_behaves_like_a_file_and_never_changes_the_file_below(
        steps in proptest::collection::vec(step(), 0..30),
        is_copied in any::<bool>(),
    ) {
        let below: Vec<u8> = (0..5 * BLOCK_BYTES).map(|at| (at % 251) as u8).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &below).unwrap();
        let frozen = FrozenFile::open(file.path()).unwrap();
        if is_copied {
            prop_assert_eq!(frozen.state().copy(below.len() as u64).unwrap(), Copied::All);
        }
        let mut model = below.clone();
        for step in steps {
            match step {
                Step::Write(at, data) => {
                    let fits = at + data.len() <= model.len();
                    prop_assert_eq!(frozen.write(at as u64, &data).is_ok(), fits);
                    if fits {
                        model[at..at + data.len()].copy_from_slice(&data);
                    }
                }
                Step::Read(at, length) => {
                    let mut out = vec![0; length];
                    let read = frozen.read(at as u64, &mut out).ok().map(|()| out.as_slice());
                    prop_assert_eq!(read, model.get(at..at + length));
                }
                Step::Resize(length) => {
                    frozen.set_len(length as u64).unwrap();
                    model.resize(length, 0);
                    prop_assert_eq!(frozen.len().unwrap(), length as u64);
                }
            }
        }
        prop_assert_eq!(fs::read(file.path()).unwrap(), below);
    }
}

/// A file of three blocks whose header names `commit` in the first slot.
fn committed(commit: u8) -> Vec<u8> {
    let mut bytes = vec![commit; 3 * BLOCK_BYTES];
    bytes[FLAGS_AT] = 0;
    bytes
}

#[test]
fn a_page_read_after_the_next_commit_is_refused_and_copied_pages_stay_valid() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), committed(1)).unwrap();
    let lazy = FrozenFile::open(file.path()).unwrap();
    let copied = FrozenFile::open(file.path()).unwrap();
    let length = copied.len().unwrap();
    assert_eq!(copied.state().copy(length).unwrap(), Copied::All);

    fs::write(file.path(), committed(2)).unwrap();
    let mut page = vec![0; BLOCK_BYTES];
    let refused = lazy.read(BLOCK_BYTES as u64, &mut page).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
    assert!(refused.to_string().contains("try again"), "{refused}");
    assert_eq!(lazy.state().copy(length).unwrap(), Copied::Overtaken);
    copied.read(BLOCK_BYTES as u64, &mut page).unwrap();
    assert_eq!(page, vec![1; BLOCK_BYTES]);
}

#[test]
fn a_copy_takes_the_memory_of_its_file_and_no_more() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let length = PIECE_BYTES * 3 + 5;
    file.as_file().set_len(length).unwrap();
    let frozen = FrozenFile::open(file.path()).unwrap();
    assert_eq!(frozen.state().copy(length).unwrap(), Copied::All);
    let taken = frozen.state().layers.memory_bytes() as u64;
    assert_eq!(taken, length);
}

#[test]
fn a_file_that_a_later_commit_shortened_is_overtaken_and_not_damaged() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), committed(1)).unwrap();
    let frozen = FrozenFile::open(file.path()).unwrap();
    fs::write(file.path(), &committed(2)[..BLOCK_BYTES]).unwrap();
    let mut page = vec![0; BLOCK_BYTES];
    let refused = frozen.read(2 * BLOCK_BYTES as u64, &mut page).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
}

#[test]
fn a_file_that_was_shortened_after_its_commit_is_checked_again() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), vec![7; 5 * BLOCK_BYTES]).unwrap();
    let mut frozen = FrozenFile::open(file.path()).unwrap();
    let state = frozen.state.get_mut().unwrap();
    file.as_file().set_len(3 * BLOCK_BYTES as u64).unwrap();
    assert_eq!(
        state.copy(5 * BLOCK_BYTES as u64).unwrap(),
        Copied::Overtaken
    );
}
