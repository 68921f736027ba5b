//! Addresses of machines, but for those that mean the machine itself.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{
    Kind, Span,
    bytes::{at, before, begins_number, part, past},
};

/// The longest address as text, in bytes.
const LONGEST: usize = 48;

/// Finds addresses of both versions.
pub(super) fn addresses(text: &[u8], spans: &mut Vec<Span>) {
    let is_part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let mut from = 0;
    while from < text.len() {
        let start = past(text, from, usize::MAX, |byte| !is_part(byte));
        let end = past(text, start, usize::MAX, is_part);
        from = end.max(from + 1);
        if end - start >= 3 && !is_part_of_word(text, start, end) {
            version_6(text, start, end, spans);
        }
    }
    version_4(text, spans);
}

fn is_part_of_word(text: &[u8], start: usize, end: usize) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    is_word(before(text, start)) || is_word(at(text, end))
}

fn version_4(text: &[u8], spans: &mut Vec<Span>) {
    let mut from = 0;
    while from < text.len() {
        let start = past(text, from, usize::MAX, |byte| !byte.is_ascii_digit());
        let end = past(text, start, LONGEST, |byte| {
            byte.is_ascii_digit() || byte == b'.'
        });
        from = past(text, end.max(from + 1), usize::MAX, |byte| {
            byte.is_ascii_digit()
        });
        // A point at its end is the sentence's.
        let run = part(text, start, end);
        let trailing = run.iter().rev().take_while(|byte| **byte == b'.').count();
        let address = parsed::<Ipv4Addr>(part(text, start, end - trailing));
        let said = address
            .is_some_and(|it| !it.is_loopback() && !it.is_unspecified() && !it.is_broadcast());
        if said && begins_number(text, start) {
            spans.push(Span::shape(start..end - trailing, Kind::IpAddress));
        }
    }
}

fn version_6(text: &[u8], start: usize, end: usize, spans: &mut Vec<Span>) {
    let run = part(text, start, end);
    if run.len() > LONGEST + 2 {
        return;
    }
    // A colon or point at its end is the sentence's.
    let whole = run.len()
        - usize::from(run.ends_with(b".") || run.ends_with(b":") && !run.ends_with(b"::"));
    let run = part(run, 0, whole);
    let Some(address) = parsed::<Ipv6Addr>(run) else {
        return;
    };
    // Names such as `a::b` in a program are no addresses.
    let digits = run.iter().filter(|byte| byte.is_ascii_hexdigit()).count();
    let numbers = run.iter().any(u8::is_ascii_digit);
    if digits >= 5 && numbers && !address.is_loopback() && !address.is_unspecified() {
        spans.push(Span::shape(start..start + whole, Kind::IpAddress));
    }
}

fn parsed<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
