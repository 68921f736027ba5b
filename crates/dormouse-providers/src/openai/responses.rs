//! OpenAI's Responses.

mod decoder;
mod event;
mod request;

use std::collections::BTreeSet;

use dormouse_contracts::{ChatRequest, ModelName, RequestField};
use reqwest::Url;

use self::decoder::ResponsesDecoder;
use crate::{
    http,
    server::{Api, Written},
    stream::Framing,
};

/// Responses at one server.
#[derive(Debug)]
pub(super) struct Responses {
    url: Url,
}

impl Responses {
    pub(super) fn below(base: &Url) -> Self {
        Self {
            url: http::below(base, "/responses"),
        }
    }
}

impl Api for Responses {
    type Decoder = ResponsesDecoder;
    const FRAMING: Framing = Framing::ServerSentEvents;

    fn url(&self) -> &Url {
        &self.url
    }

    fn write(
        &self,
        model: &ModelName,
        request: &ChatRequest,
        without: &BTreeSet<RequestField>,
    ) -> Written {
        request::write(request, model, without)
    }

    fn decoder(&self, _: &ChatRequest) -> ResponsesDecoder {
        ResponsesDecoder::default()
    }
}
