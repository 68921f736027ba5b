//! IP addresses, except loopback.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::bytes::{at, before, begins_number, part};

/// Whether these digits and dots are an IPv4 address that may identify somebody. A loopback address does not.
pub(crate) fn is_version_4(text: &[u8], start: usize, end: usize) -> bool {
    let address = parsed::<Ipv4Addr>(part(text, start, end));
    let is_other =
        address.is_some_and(|it| !it.is_loopback() && !it.is_unspecified() && !it.is_broadcast());
    is_other && begins_number(text, start)
}

/// Whether these digits and colons are an IPv6 address that may identify somebody. A loopback address does not.
pub(crate) fn is_version_6(text: &[u8], start: usize, end: usize) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let run = part(text, start, end);
    let goes_on = is_word(before(text, start)) || before(text, start) == b':';
    if goes_on || is_word(at(text, end)) {
        return false;
    }
    let Some(address) = parsed::<Ipv6Addr>(run) else {
        return false;
    };
    // Names such as `a::b` in source code are not addresses.
    let digits = run.iter().filter(|byte| byte.is_ascii_hexdigit()).count();
    let has_number = run.iter().any(u8::is_ascii_digit);
    digits >= 5 && has_number && !address.is_loopback() && !address.is_unspecified()
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
