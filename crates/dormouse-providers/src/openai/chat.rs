//! OpenAI's chat completions.

use std::collections::BTreeSet;

use dormouse_contracts::{ChatRequest, ModelName, RequestField, invariant};
use reqwest::Url;

use super::{
    decoder::ChatDecoder,
    length::{LearntLength, LengthField},
    request::{self, Dialect},
};
use crate::{
    http::{self, Failure},
    server::{Api, Written},
    stream::Framing,
};

/// Chat completions at one server.
#[derive(Debug)]
pub(super) struct ChatCompletions {
    url: Url,
    length: LearntLength,
}

impl ChatCompletions {
    pub(super) fn below(base: &Url) -> Self {
        let length_field = LengthField::at(invariant!(base.host_str(), "a web server has a host"));
        Self {
            url: http::below(base, "/chat/completions"),
            length: LearntLength::begin(length_field),
        }
    }
}

impl Api for ChatCompletions {
    type Decoder = ChatDecoder;
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
        let dialect = Dialect::openai(self.length.field());
        let mut body = request::chat(request, model, dialect, without);
        body.extra(&request.extra);
        body.finish()
    }

    fn decoder(&self, _: &ChatRequest) -> ChatDecoder {
        ChatDecoder::default()
    }

    fn learns(&self, refusal: &Failure, refused: &Written) -> bool {
        self.length.learns(refusal, refused)
    }
}
