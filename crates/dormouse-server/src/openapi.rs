//! The description of the API, made from the types of requests and answers.

use axum::http::Method;
use utoipa::{
    OpenApi, ToSchema,
    openapi::{
        ContentBuilder, Ref, RefOr, ResponseBuilder,
        path::{Operation, PathItem},
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use crate::{
    api,
    problem::{ProblemBody, ProblemCode},
};

/// The name of the scheme by which callers say who they are.
const SCHEME: &str = "token";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Dormouse",
        description = "Resident assistants: what they are and do, and commands to them. Every change is an event in the log that says who wanted it."
    ),
    components(schemas(ProblemBody))
)]
struct Described;

/// The description of the API as OpenAPI 3.1.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut api = Described::openapi();
    api.merge(api::routes().into_openapi());
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
    let scheme = SecurityScheme::Http(scheme.build());
    if let Some(components) = &mut api.components {
        components.add_security_scheme(SCHEME, scheme);
    }
    for (path, item) in &mut api.paths.paths {
        let path = path.clone();
        let is_open = matches!(path.as_str(), "/healthz" | "/readyz");
        for (method, operation) in operations(item) {
            operation.operation_id = Some(operation_id(&method, &path));
            add_problems(operation, &method, is_open);
            if !is_open {
                let required = SecurityRequirement::new(SCHEME, Vec::<String>::new());
                operation.security = Some(vec![required]);
            }
        }
    }
    api
}

/// An id that no other operation has: the method, and the words of the path.
fn operation_id(method: &Method, path: &str) -> String {
    let path = path.strip_prefix("/api/ai/").unwrap_or(path);
    let words = path
        .split(['/', '{', '}', '.', '-'])
        .filter(|word| !word.is_empty());
    let words = words.map(str::to_owned);
    let parts = std::iter::once(method.as_str().to_lowercase()).chain(words);
    parts.collect::<Vec<_>>().join("_")
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let all = [
        (Method::GET, item.get.as_mut()),
        (Method::POST, item.post.as_mut()),
        (Method::PATCH, item.patch.as_mut()),
        (Method::DELETE, item.delete.as_mut()),
    ];
    all.into_iter()
        .filter_map(|(method, it)| Some((method, it?)))
}

/// Adds the problems that an operation may answer with. Each is described only once.
fn add_problems(operation: &mut Operation, method: &Method, is_open: bool) {
    for code in ProblemCode::ALL {
        let status = code.status().as_u16();
        let only_of_changes = matches!(status, 408 | 412 | 413 | 415 | 428);
        if (is_open && !matches!(status, 400 | 421 | 500 | 503))
            || (only_of_changes && *method == Method::GET)
        {
            continue;
        }
        let same = ProblemCode::ALL
            .iter()
            .filter(|it| it.status() == code.status());
        let codes: Vec<_> = same.map(|it| format!("`{}`", it.code())).collect();
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(ProblemBody::name())))
            .build();
        let response = ResponseBuilder::new()
            .description(format!("A problem: {}", codes.join(", ")))
            .content("application/problem+json", content)
            .build();
        let responses = &mut operation.responses.responses;
        responses
            .entry(status.to_string())
            .or_insert(RefOr::T(response));
    }
}
