//! The pages: the same queries and changes as the API, for people with a browser.
//!
//! Every page is written here, on the server, and escaped by its type. A form is carried out by the handler of the API for the same
//! change, so what a page changes is the same event with the same author. There is one script. It adds new events to a
//! page, and asks before an act that cannot be taken back. Everything works without it, too.

mod charts;
mod event;
mod files;
mod form;
mod frame;
mod goals;
mod journal;
mod life;
mod memory;
mod people;
mod prompt;
mod residents;
mod seen;
mod settings;
mod sign_in;
mod story;
mod words;
mod workbench;

use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use maud::Markup;

pub(crate) use files::FILES;
pub(crate) use sign_in::{Invitation, SIGN_IN, cookie, invite};

use crate::{problem::Refused, service::Shared};

/// What a page may load and send: files of this service, and nothing that is written into the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The routes of the pages.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(residents::show))
        .route("/new/", get(residents::new).post(residents::create))
        .route(SIGN_IN, get(sign_in::show).post(sign_in::enter))
        .route("/sign-out/", post(sign_in::leave))
        .route("/files/{name}", get(files::send))
        .route("/a/{key}/", get(life::show))
        .route("/a/{key}/rows/", get(life::rows))
        .route("/a/{key}/say/", post(life::say))
        .route("/a/{key}/stop/", post(life::stop))
        .route("/a/{key}/clear/", post(life::clear))
        .route("/a/{key}/on/", post(life::switch_on))
        .route("/a/{key}/off/", post(life::switch_off))
        .route("/a/{key}/sleep/", post(life::fall_asleep))
        .route("/a/{key}/wake/", post(life::wake))
        .route(
            "/a/{key}/fork/",
            get(residents::fork_form).post(residents::fork),
        )
        .route("/a/{key}/archive/", post(residents::archive))
        .route("/a/{key}/restore/", post(residents::restore))
        .route("/a/{key}/approvals/{id}/", post(life::answer_approval))
        .route("/a/{key}/event/{id}/", get(event::show))
        .route("/a/{key}/prompt/", get(prompt::show))
        .route(
            "/a/{key}/workbench/",
            get(workbench::show).post(workbench::change),
        )
        .route("/a/{key}/charts/", get(charts::show))
        .route("/a/{key}/memory/", get(memory::search))
        .route("/a/{key}/memory/{id}/", get(memory::show))
        .route("/a/{key}/memory/{id}/correct/", post(memory::correct))
        .route("/a/{key}/memory/{id}/withdraw/", post(memory::withdraw))
        .route("/a/{key}/undo/{id}/", post(memory::undo))
        .route("/a/{key}/people/", get(people::show))
        .route("/a/{key}/goals/", get(goals::show).post(goals::create))
        .route("/a/{key}/goals/{id}/", post(goals::update))
        .route("/a/{key}/journal/", get(journal::show).post(journal::write))
        .route(
            "/a/{key}/settings/",
            get(settings::show).post(settings::change),
        )
}

/// Whether the client reads pages. Programs get problems as JSON, also at the path of a page.
pub(crate) fn are_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// The response, with a page in place of a problem if the client reads pages.
pub(crate) fn readable(response: Response, accepts_pages: bool) -> Response {
    match response.extensions().get::<Refused>() {
        Some(refused) if accepts_pages => {
            let page = match response.status() {
                StatusCode::UNAUTHORIZED => sign_in::form(None),
                status => frame::refusal(status, refused),
            };
            let mut page = (response.status(), page).into_response();
            if let Some(seconds) = response.headers().get(header::RETRY_AFTER) {
                page.headers_mut()
                    .insert(header::RETRY_AFTER, seconds.clone());
            }
            page
        }
        _ => response,
    }
}

/// A whole page.
#[derive(Debug)]
pub(crate) struct Page(Markup);

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let headers: [(HeaderName, HeaderValue); 3] = [
            // Without this a browser does not say from where a form is sent.
            (
                header::REFERRER_POLICY,
                HeaderValue::from_static("same-origin"),
            ),
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("text/html; charset=utf-8"),
            ),
            (
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(POLICY),
            ),
        ];
        (headers, self.0.into_string()).into_response()
    }
}

/// The browser goes on to this path of the service.
fn go_to(path: &str) -> Response {
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response()
}
