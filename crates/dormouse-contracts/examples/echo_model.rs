//! A chat model behind the port, in thirty lines: it answers with the words of the request.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{
    error::Error,
    pin::pin,
    task::{Context, Poll, Waker},
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, FinishReason, Message, ModelError, ModelName,
    ProviderId, complete,
};

struct Echo(ProviderId, ModelName);

/// A stream of the given items, ready at once.
struct Ready<I>(I);

impl<I: Iterator + Unpin> futures_core::Stream for Ready<I> {
    type Item = I::Item;
    fn poll_next(mut self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }
}

impl ChatModel for Echo {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let heard = request
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::User { content } => Some(content.clone()),
                _ => None,
            });
        let text = heard.unwrap_or_else(|| "…".to_owned());
        Box::pin(Ready(
            [
                ChatDelta::Text(text),
                ChatDelta::Finished(FinishReason::Stop),
            ]
            .map(Ok)
            .into_iter(),
        ))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.0, &self.1)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = Echo(ProviderId::try_new("echo")?, ModelName::try_new("echo-1")?);
    let request = ChatRequest {
        messages: vec![Message::User {
            content: "Is anybody there?".to_owned(),
        }],
        ..ChatRequest::default()
    };
    // Every part of it is ready at once, so one poll is enough and no runtime is needed.
    let mut reply = pin!(complete(&model, &request));
    if let Poll::Ready(reply) = reply.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        println!("{}", reply?.content);
    }
    Ok(())
}
