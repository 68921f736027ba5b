//! What is too random to be words, and no id that servers give to everything.

use super::{
    Kind, Span,
    bytes::{part, past},
};

/// From this length on a run of characters is looked at.
const SHORTEST: usize = 20;
/// How often, of a hundred neighbours, the class of characters (small, capital, digit) changes at least. In random base64
/// it does so 62 times, in words written together about 30, in letters of one case with digits 40.
const CHANGES: usize = 30;
/// From this length on hexadecimal digits may be a key. A number of eight or a dozen of them is an id.
const HEX_FROM: usize = 32;
/// The beginnings of ids that servers give to replies, calls, messages and files, and how long these get.
const IDS: [&[u8]; 24] = [
    b"chatcmpl-",
    b"cmpl-",
    b"call_",
    b"msg_",
    b"toolu_",
    b"srvtoolu_",
    b"req_",
    b"resp_",
    b"gen-",
    b"fp_",
    b"run_",
    b"fc_",
    b"rs_",
    b"ws_",
    b"item_",
    b"step_",
    b"file-",
    b"file_",
    b"batch_",
    b"thread_",
    b"asst_",
    b"embd-",
    b"modelcall_",
    b"sha256:",
];
const LONGEST_ID: usize = 96;

/// Finds runs of characters that no language writes.
pub(crate) fn random(text: &[u8], spans: &mut Vec<Span>) {
    let is_run = |byte: u8| byte.is_ascii_alphanumeric() || b"+/_-=:".contains(&byte);
    let mut from = 0;
    while from < text.len() {
        let start = past(text, from, usize::MAX, |byte| !is_run(byte));
        let end = past(text, start, usize::MAX, is_run);
        from = end.max(from + 1);
        if is_random(part(text, start, end)) {
            spans.push(Span::shape(start..end, Kind::Random));
        }
    }
}

fn is_random(run: &[u8]) -> bool {
    if run.len() < SHORTEST || is_uuid(run) || is_known_id(run) {
        return false;
    }
    if run
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
    {
        return run.iter().filter(|byte| byte.is_ascii_hexdigit()).count() >= HEX_FROM;
    }
    is_mixed(run)
        || run
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|stretch| stretch.len() >= SHORTEST && is_mixed(stretch))
}

fn is_uuid(run: &[u8]) -> bool {
    let groups = run.split(|byte| *byte == b'-');
    let is_hex = run
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    is_hex && groups.map(<[u8]>::len).eq([8, 4, 4, 4, 12])
}

fn is_known_id(run: &[u8]) -> bool {
    let rest = IDS.iter().find_map(|id| run.strip_prefix(*id));
    rest.is_some_and(|rest| {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        rest.len() <= LONGEST_ID && rest.iter().all(is_word)
    })
}

/// Whether at least two classes of characters take turns often.
fn is_mixed(run: &[u8]) -> bool {
    let classes = run.iter().map(|byte| match byte {
        b'a'..=b'z' => 1_u8,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    });
    let (mut neighbours, mut changes, mut last) = (0_usize, 0_usize, 0);
    for class in classes {
        if class != 0 && last != 0 {
            neighbours += 1;
            changes += usize::from(class != last);
        }
        last = class;
    }
    neighbours + 8 >= SHORTEST && changes * 100 >= neighbours * CHANGES
}
