//! Signing in: by the link that `dormouse serve` prints, or with a token. The browser keeps the token's secret as a cookie.

use std::{collections::BTreeSet, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use maud::html;
use serde::Deserialize;
use subtle::ConstantTimeEq;

use super::{Page, form::Fields, frame, go_to};
use crate::{
    extract::Asked,
    guard::Caller,
    problem::{Problem, ProblemCode},
    server::ServerError,
    service::{Service, Shared, lock},
    tokens::{NewToken, Right, TokenSecret, TokenStoreError},
};

/// The path of the page.
pub(crate) const SIGN_IN: &str = "/sign-in/";

/// Who made the tokens of browsers that came by a link.
const MAKER: &str = "a sign-in link";

/// How long a browser stays signed in.
const STAYS: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Whom a link signs in, once.
#[derive(Debug)]
pub(crate) struct Invitation {
    owner: String,
    code: TokenSecret,
}

/// Makes a link with a new code, which only its receiver knows. `None` if the name has a token that no link made.
pub(crate) fn invite(service: &Service, owner: &str) -> Result<Option<String>, ServerError> {
    let tokens = service.tokens.list()?;
    let mut its = tokens
        .iter()
        .filter(|it| it.name.eq_ignore_ascii_case(owner));
    if its.any(|it| it.created_by != MAKER || it.name != owner) {
        return Ok(None);
    }
    let code = TokenSecret::generate().map_err(ServerError::Random)?;
    let path = format!("{SIGN_IN}?code={}", code.reveal());
    *lock(&service.invitation) = Some(Invitation {
        owner: owner.to_owned(),
        code,
    });
    Ok(Some(path))
}

/// The secret in the cookie of the pages.
pub(crate) fn cookie<'a>(service: &Service, headers: &'a HeaderMap) -> Option<&'a str> {
    let sent = headers.get_all(header::COOKIE).iter();
    let pairs = sent.filter_map(|sent| sent.to_str().ok());
    let mut pairs = pairs.flat_map(|pairs| pairs.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == service.cookie).then_some(value)
    })
}

/// What a link holds.
#[derive(Debug, Deserialize)]
pub(super) struct Link {
    code: Option<String>,
}

/// What somebody writes into the page.
#[derive(Deserialize)]
pub(super) struct Given {
    token: String,
}

/// Shows where to write a token, or follows a link.
pub(super) async fn show(
    State(service): State<Shared>,
    Asked(link): Asked<Link>,
) -> Result<Response, Problem> {
    let Some(code) = link.code else {
        return Ok(form(None).into_response());
    };
    let taken = lock(&service.invitation)
        .take_if(|it| bool::from(it.code.reveal().as_bytes().ct_eq(code.as_bytes())));
    let Some(Invitation { owner, .. }) = taken else {
        let used = "This link was used already, or the service was started again. The newest link is where the service prints its \
                    address.";
        return Ok(form(Some(used)).into_response());
    };
    let (secret, now) = (
        TokenSecret::generate().map_err(|error| Problem::internal(&error))?,
        service.now(),
    );
    let new = NewToken {
        name: owner,
        rights: BTreeSet::from(Right::ALL),
        assistants: None,
        attests: None,
        expires_at: Some(now.plus(STAYS)),
        created_by: MAKER.to_owned(),
    };
    let made = service.tokens.renew(new, &secret, now);
    made.map_err(|error| match error {
        TokenStoreError::NameTaken { .. } | TokenStoreError::Name { .. } => {
            ProblemCode::Conflict.because(error.to_string())
        }
        error => Problem::internal(&error),
    })?;
    Ok(signed_in(&service, &secret.reveal()))
}

/// Signs a browser in with the token that was written into the page.
pub(super) async fn enter(
    State(service): State<Shared>,
    Fields(given): Fields<Given>,
) -> Result<Response, Problem> {
    let secret = given.token.trim();
    let known = service.tokens.verify(secret, service.now());
    match known.map_err(|error| Problem::internal(&error))? {
        Some(_) => Ok(signed_in(&service, secret)),
        None => {
            let wrong = "There is no such token, or it has ended. `dormouse token list` shows which tokens there are.";
            Ok(form(Some(wrong)).into_response())
        }
    }
}

/// Ends the visit of this browser. A token that a link made ends, too.
pub(super) async fn leave(
    State(service): State<Shared>,
    caller: Caller,
) -> Result<Response, Problem> {
    if caller.token.created_by == MAKER {
        match service.tokens.revoke(&caller.token.id) {
            Ok(_) | Err(TokenStoreError::Unknown(_)) => {}
            Err(error) => return Err(Problem::internal(&error)),
        }
    }
    let mut response = go_to(SIGN_IN);
    set_cookie(&mut response, &service, "", 0);
    Ok(response)
}

/// Stores the cookie. The page itself leads on: after a redirection from another site a browser would not send the cookie.
fn signed_in(service: &Service, secret: &str) -> Response {
    let page = frame::plain(
        "Signed in",
        &html! {
            p { "You are signed in. " a href="/" { "Go on to the residents" } }
        },
    );
    let mut response = page.into_response();
    set_cookie(&mut response, service, secret, STAYS.as_secs());
    let on = HeaderValue::from_static("0; url=/");
    response.headers_mut().insert(header::REFRESH, on);
    response
}

fn set_cookie(response: &mut Response, service: &Service, secret: &str, seconds: u64) {
    let cookie = format!(
        "{}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict",
        service.cookie
    );
    // This does not fail: secrets that the service knows have only characters that a header may have.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

/// The page where somebody signs in.
pub(super) fn form(wrong: Option<&str>) -> Page {
    frame::plain(
        "Sign in",
        &html! {
            @if let Some(wrong) = wrong { p.warning role="alert" { (wrong) } }
            form.stack method="post" action=(SIGN_IN) {
                label for="token" { "Your token" }
                input #token name="token" type="password" autocomplete="current-password" required autofocus;
                button.primary { "Sign in" }
            }
            p.quiet {
                "The owner of the service opens the link that "
                code { "dormouse serve" }
                " prints. Others get a token: "
                code { "dormouse token create NAME --allow read --allow talk" }
                "."
            }
        },
    )
}
