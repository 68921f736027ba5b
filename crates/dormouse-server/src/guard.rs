//! What every request passes before it reaches its route: the name of the host, the origin of a change, the token and its rate.

use std::panic::AssertUnwindSafe;

use axum::{
    extract::{FromRequestParts, MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use dormouse_contracts::AssistantId;
use dormouse_resilience::RateLimited;
use futures_util::FutureExt;
use tokio::time::Instant;

use crate::{
    pages,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::{Right, StoredToken},
};

/// Paths that need no token: they only say whether the service runs, or let somebody sign in.
const OPEN: [&str; 3] = ["/healthz", "/readyz", pages::SIGN_IN];

/// Who sent the request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) token: StoredToken,
}

impl Caller {
    /// Refuses what the token does not allow. Callers check this before they look whether the assistant exists, so that
    /// a refusal does not reveal that.
    pub(crate) fn may(&self, right: Right, assistant: &AssistantId) -> Result<(), Problem> {
        match self.token.allows(right, assistant) {
            true => Ok(()),
            false => Err(ProblemCode::Scope
                .because(format!("the token lacks the right {right} for {assistant}"))),
        }
    }

    /// Refuses a token that does not allow this for all assistants.
    pub(crate) fn may_everywhere(&self, right: Right) -> Result<(), Problem> {
        match self.token.rights.contains(&right) && self.token.assistants.is_none() {
            true => Ok(()),
            false => Err(ProblemCode::Scope.because(format!(
                "the token lacks the right {right} for all assistants"
            ))),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| ProblemCode::TokenMissing.because("send authorization: Bearer TOKEN"))
    }
}

/// Lets a request pass, or answers it.
pub(crate) async fn pass(
    State(service): State<Shared>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let accepts_pages = pages::are_accepted(request.headers());
    let response = match admit(&service, &mut request) {
        Ok(()) => {
            let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
            answered.unwrap_or_else(|_panic| {
                tracing::error!(%route, "a request panicked");
                let why = "the log of the program says more";
                ProblemCode::Internal.because(why).into_response()
            })
        }
        Err(problem) => problem.into_response(),
    };
    service
        .metrics
        .answered(&route, &method, response.status(), began.elapsed());
    with_headers(pages::readable(response, accepts_pages))
}

fn admit(service: &Shared, request: &mut Request) -> Result<(), Problem> {
    let headers = request.headers();
    check_host(service, headers, request.uri().host())?;
    let is_change = !request.method().is_safe();
    if is_change {
        check_origin(service, headers)?;
    }
    let path = request.uri().path();
    if OPEN.contains(&path) || path.starts_with(pages::FILES) {
        // Somebody who tries secrets is slowed down, and so is everybody else who has none.
        return match is_change {
            true => limit(service, ""),
            false => Ok(()),
        };
    }
    let cookie = pages::cookie(service, headers).filter(|_| bearer(headers).is_none());
    // A browser sends its cookie with the requests of every page, and names the page with each change.
    if is_change && cookie.is_some() && !headers.contains_key(header::ORIGIN) {
        let why = "a change with the cookie of the pages needs the header origin";
        return Err(ProblemCode::Origin.because(why));
    }
    let token = match bearer(headers).or(cookie) {
        Some(secret) => {
            let found = service.tokens.verify(secret, service.now());
            found.map_err(|error| {
                tracing::error!(cause = %dormouse_text::error_chain(&error), "the tokens cannot be read");
                ProblemCode::Unavailable.because("the tokens cannot be read")
            })?
        }
        None => {
            limit(service, "")?;
            return Err(ProblemCode::TokenMissing.because("send authorization: Bearer TOKEN"));
        }
    };
    let Some(token) = token else {
        limit(service, "")?;
        let why = "`dormouse token list` shows which tokens there are";
        return Err(ProblemCode::TokenInvalid.because(why));
    };
    limit(service, &token.id)?;
    let (noting, used, now) = (std::sync::Arc::clone(service), token.clone(), service.now());
    // This waits for a lock and for the disk, so it runs in the background: no request waits for it.
    drop(tokio::task::spawn_blocking(move || {
        if let Err(error) = noting.tokens.note_use(&used, now) {
            tracing::warn!(cause = %dormouse_text::error_chain(&error), "the last use of a token was not noted");
        }
    }));
    request.extensions_mut().insert(Caller { token });
    Ok(())
}

/// Prevents DNS rebinding: a page of another site can make its own host name resolve to this machine, but then its
/// requests name that host.
fn check_host(service: &Shared, headers: &HeaderMap, of_uri: Option<&str>) -> Result<(), Problem> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (of_uri, hosts.next(), hosts.next()) {
        (_, _, Some(_)) => None,
        (Some(host), _, None) => Some(host),
        (None, host, None) => host.and_then(|host| host.to_str().ok()),
    };
    let is_own = host.is_some_and(|host| service.hosts.contains(&name_of(host)));
    match is_own {
        true => Ok(()),
        false => Err(ProblemCode::WrongHost.because(
            "the host of the request is not one of this service; `dormouse serve --host NAME` allows a name",
        )),
    }
}

/// The name of a host without its port, in lower case.
pub(crate) fn name_of(host: &str) -> String {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => match host.rsplit_once(':') {
            // More than one colon: an address without brackets.
            Some((name, _)) if !name.contains(':') => name,
            _ => host,
        },
    };
    name.to_lowercase()
}

/// Browsers send the origin of the page that makes a change. Other clients send no origin, and need no check.
fn check_origin(service: &Shared, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = || ProblemCode::Origin.because("the change was sent by a page of another site");
    let site = HeaderName::from_static("sec-fetch-site");
    if let Some(site) = headers.get(site)
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
    {
        return Err(refused());
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Ok(());
    };
    let origin = origin.to_str().ok();
    let origin = origin.and_then(|origin| origin.split_once("://"));
    let Some((_, origin)) = origin else {
        return Err(refused());
    };
    let is_own = service.hosts.contains(&name_of(origin));
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    // The same host with another port is another site.
    match is_own && host.is_none_or(|host| host.eq_ignore_ascii_case(origin)) {
        true => Ok(()),
        false => Err(refused()),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = sent.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

fn limit(service: &Shared, token: &str) -> Result<(), Problem> {
    match service.limiter(token).try_acquire(0) {
        Ok(()) => Ok(()),
        Err(RateLimited::Later { retry_in, .. }) => {
            let why = "this token has made too many requests lately";
            Err(ProblemCode::RateLimited
                .because(why)
                .retry_after(retry_in.as_secs() + 1))
        }
        Err(error) => Err(Problem::internal(&error)),
    }
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    };
    set(header::CACHE_CONTROL, "no-store");
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    response
}

/// There is nothing at the path.
pub(crate) async fn not_found() -> Problem {
    ProblemCode::NotFound.because("`GET /api/openapi.json` lists all paths; each ends with a slash")
}

/// The path exists, but not with this method.
pub(crate) async fn method_not_allowed(method: Method) -> Problem {
    ProblemCode::MethodNotAllowed.because(format!("{method} is not possible here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_compared_without_its_port_and_in_lower_case() {
        for (host, name) in [
            ("LOCALHOST:80", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]:8080", "::1"),
            ("[::1]", "::1"),
            ("::1", "::1"),
            ("evil.example:80@localhost", "evil.example"),
            ("localhost.", "localhost."),
        ] {
            assert_eq!(name_of(host), name, "{host}");
        }
    }
}
