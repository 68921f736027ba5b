//! Checks a cassette again, with more suspicion than the scrubber.

use std::{fmt, ops::Range};

use dormouse_redact::{Match, RedactionProfile, SensitiveKind, merged, scan, scan_query};

use crate::{
    cassette::{About, Cassette},
    exchange::{Body, Exchange, Header},
    headers::{self, Side},
    scrub::scan_body,
    slices::within,
};

mod accepted;

pub use accepted::AcceptedFindings;

/// Something suspicious in a cassette. It gives the location and never repeats the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The index of the exchange, from 0; `None` for the cassette itself.
    pub exchange: Option<usize>,
    /// The part of the exchange or cassette.
    pub part: Part,
    /// The range in that part, in bytes. For a body, it is the range in the whole body of the response, or in the
    /// request's JSON on one line ([`Body::to_bytes`](crate::Body::to_bytes)). A match in several pieces spans from the
    /// first to the last.
    pub bytes: Range<usize>,
    /// What it resembles.
    pub kind: FindingKind,
}

/// A part of a cassette.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The note or the program of the cassette.
    About,
    /// Method, path and query.
    Target,
    /// The host.
    Host,
    /// A header of the request, by its name.
    RequestHeader(String),
    /// The body of the request.
    RequestBody,
    /// A header of the response, by its name.
    ResponseHeader(String),
    /// The body of the response.
    ResponseBody,
    /// The transport's error message.
    Reason,
}

/// What a finding resembles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// A key, token, password or private key.
    Secret,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// An IP address.
    IpAddress,
    /// A payment card number.
    Card,
    /// A user name, in the path of a home folder.
    User,
    /// The id of an organisation, project or account.
    Organisation,
    /// Text that is too random for words, and is not a known kind of id.
    Random,
    /// A header that must not be recorded.
    Header,
    /// Binary bytes that cannot be checked: compressed data or an image.
    Unreadable,
}

impl Cassette {
    /// Returns all findings, in the order of the exchanges. A cassette from a recorder with the default rules may still have
    /// findings: the check prefers false alarms to misses.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        self.check_except(&AcceptedFindings::nothing())
    }

    /// Like [`Cassette::check`], without accepted findings.
    #[must_use]
    pub fn check_except(&self, accepted: &AcceptedFindings) -> Vec<Finding> {
        let mut check = Check {
            accepted,
            exchange: None,
            findings: Vec::new(),
        };
        let About {
            program,
            service,
            note,
            ..
        } = &self.about;
        for text in [program, service, note] {
            check.text(&Part::About, text.as_bytes());
        }
        for (number, exchange) in self.exchanges.iter().enumerate() {
            check.exchange = Some(number);
            check.exchange(exchange);
        }
        check.findings
    }
}

struct Check<'a> {
    accepted: &'a AcceptedFindings,
    exchange: Option<usize>,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn exchange(&mut self, exchange: &Exchange) {
        let request = &exchange.request;
        self.target(request.target.as_bytes());
        self.text(
            &Part::Host,
            request.host.as_deref().unwrap_or_default().as_bytes(),
        );
        self.headers(Side::Request, &request.headers);
        if !matches!(request.body, Body::Empty) {
            self.text(&Part::RequestBody, &request.body.to_bytes());
        }
        if let Some(response) = &exchange.response {
            self.headers(Side::Response, &response.headers);
            self.text(&Part::ResponseBody, &response.body());
        }
        self.text(&Part::Reason, exchange.reason.as_bytes());
    }

    fn target(&mut self, target: &[u8]) {
        let mut matches = scan_query(target);
        matches.extend(look(target));
        for one in merged(matches) {
            let found = within(target, one.range.clone());
            self.add(&Part::Target, one.range, FindingKind::of(one.kind), found);
        }
    }

    fn headers(&mut self, side: Side, headers: &[Header]) {
        for header in headers {
            let name = header.name.clone();
            let part = match side {
                Side::Request => Part::RequestHeader(name),
                Side::Response => Part::ResponseHeader(name),
            };
            let value = header.value.as_bytes();
            if headers::is_never_recorded(&header.name) {
                self.add(&part, 0..value.len(), FindingKind::Header, value);
            }
            self.text(&part, value);
        }
    }

    fn text(&mut self, part: &Part, text: &[u8]) {
        let mut from = 0;
        for piece in text.utf8_chunks() {
            let start = from + piece.valid().len();
            from = start + piece.invalid().len();
            if start < from {
                self.add(part, start..from, FindingKind::Unreadable, piece.invalid());
                // One finding per body is enough: an image would have thousands.
                break;
            }
        }
        for seen in scan_body(text, &look) {
            let start = seen.parts.first().map_or(0, |part| part.start);
            let end = seen.parts.last().map_or(start, |part| part.end);
            self.add(part, start..end, FindingKind::of(seen.kind), &seen.text);
        }
    }

    fn add(&mut self, part: &Part, bytes: Range<usize>, kind: FindingKind, found: &[u8]) {
        let finding = Finding {
            exchange: self.exchange,
            part: part.clone(),
            bytes,
            kind,
        };
        if !self.accepted.covers(&finding, found) {
            self.findings.push(finding);
        }
    }
}

fn look(text: &[u8]) -> Vec<Match> {
    scan(text, RedactionProfile::Inspection)
}

impl FindingKind {
    fn of(kind: SensitiveKind) -> Self {
        match kind {
            SensitiveKind::Email => Self::Email,
            SensitiveKind::Phone => Self::Phone,
            SensitiveKind::IpAddress => Self::IpAddress,
            SensitiveKind::CardNumber => Self::Card,
            SensitiveKind::UserName => Self::User,
            SensitiveKind::AccountId => Self::Organisation,
            SensitiveKind::RandomText => Self::Random,
            // A future kind counts as a credential until it has its own name here.
            _ => Self::Secret,
        }
    }

    /// Returns the name of the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "a key, token or password",
            Self::Email => "an e-mail address",
            Self::Phone => "a telephone number",
            Self::IpAddress => "the address of a machine",
            Self::Card => "the number of a card",
            Self::User => "the name of a user",
            Self::Organisation => "the id of an account",
            Self::Random => "random text",
            Self::Header => "a header that should not be here",
            Self::Unreadable => "bytes that are not text",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::About => f.write_str("note, service or program"),
            Self::Target => f.write_str("path"),
            Self::Host => f.write_str("host"),
            Self::RequestHeader(name) => write!(f, "request header {name}"),
            Self::RequestBody => f.write_str("request body"),
            Self::ResponseHeader(name) => write!(f, "response header {name}"),
            Self::ResponseBody => f.write_str("response body"),
            Self::Reason => f.write_str("reason"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(exchange) = self.exchange {
            write!(f, "exchange {}, ", exchange + 1)?;
        }
        let Range { start, end } = self.bytes;
        write!(
            f,
            "{}, bytes {start}..{end}: {}",
            self.part,
            self.kind.as_str()
        )
    }
}
