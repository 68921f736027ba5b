//! The protocol: what its library calls, and how a [`Surface`] is described to clients.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use dormouse_text::escape_hidden_json;
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ProgressToken, Prompt, PromptArgument, PromptMessage, PromptsCapability,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate, ResourcesCapability, Role, ServerCapabilities,
        ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, ToolAnnotations,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio::{select, sync::mpsc};

use crate::surface::{
    CallProgress, OfferedPrompt, OfferedResource, OfferedTool, ReportProgress, Surface,
    SurfaceAnswer, SurfaceError, ToolEffect,
};

const JSON: &str = "application/json";

/// The most resources that one subscription follows.
const MOST_WATCHED: usize = 64;

/// What the library of the protocol calls.
pub(crate) struct Handler<S> {
    pub(crate) surface: Arc<S>,
}

impl<S: Surface> ServerHandler for Handler<S> {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if self.surface.has_resources() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
        }
        if !self.surface.prompts().is_empty() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("dormouse", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.surface.instructions())
    }

    async fn initialize(
        &self,
        client: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(client.clone());
        let mut result = self.negotiate_initialize(&client)?;
        // In this generation a server notifies within a session.
        if let Some(resources) = &mut result.capabilities.resources {
            resources.subscribe = self.surface.begin_session().then_some(true);
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.surface.tools().into_iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        let progress = progress(&context);
        let done = Box::pin(self.surface.call(&call.name, arguments, &progress));
        match until_cancelled(&context, done).await? {
            Ok(answer) => Ok(result(answer).into()),
            // For the model: it can mend its arguments and call again.
            Err(SurfaceError::Refused(why)) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into())
            }
            Err(error) => Err(fault(error)),
        }
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = until_cancelled(&context, self.surface.resources()).await?;
        let resources = listed.map_err(fault)?.into_iter().map(resource);
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.surface.resource_templates().into_iter().map(template);
        let templates = templates.collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = until_cancelled(&context, self.surface.read(&asked.uri)).await?;
        let json = read.map_err(fault)?.to_string();
        let text = escape_hidden_json(&json);
        let contents = ResourceContents::text(text, asked.uri).with_mime_type(JSON);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        if !self.surface.has_resources() {
            return None;
        }
        let uris = requested.resource_subscriptions.iter().flatten();
        let uris = uris.filter(|uri| self.surface.accepts_watch(uri)).cloned();
        let watched = SubscriptionFilter::builder().resource_subscriptions(uris.take(MOST_WATCHED));
        Some(watched.build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = subscription.accepted().resource_subscriptions.clone();
        // One place: what happens while the client does not read is looked at when it reads again.
        let (changed, mut changes) = mpsc::channel(1);
        let mut watch = std::pin::pin!(self.surface.watch(uris.unwrap_or_default(), changed));
        loop {
            let uri = select! {
                biased;
                () = subscription.cancelled() => return Ok(()),
                uri = changes.recv() => uri,
                () = &mut watch => return Ok(()),
            };
            let Some(uri) = uri else {
                return Ok(());
            };
            if let Err(error) = subscription.sink().notify_resource_updated(uri).await {
                tracing::debug!(%error, "a client that was to be notified is gone");
                return Ok(());
            }
        }
    }

    async fn subscribe(
        &self,
        asked: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.surface.subscribe(&asked.uri).map_err(fault)
    }

    async fn unsubscribe(
        &self,
        asked: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.surface.unsubscribe(&asked.uri).map_err(fault)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.surface.prompts().into_iter().map(prompt).collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut arguments = BTreeMap::new();
        for (name, value) in asked.arguments.unwrap_or_default() {
            let Value::String(value) = value else {
                let why = format!("the argument {name:?} is not a text");
                return Err(ErrorData::invalid_params(why, None));
            };
            arguments.insert(name, value);
        }
        let text = self
            .surface
            .prompt(&asked.name, &arguments)
            .map_err(fault)?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}

/// The result, unless the client takes the request back or goes away.
async fn until_cancelled<T>(
    context: &RequestContext<RoleServer>,
    done: impl Future<Output = T> + Send,
) -> Result<T, ErrorData> {
    select! {
        biased;
        done = done => Ok(done),
        // Nobody reads this.
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is the argument of `map_err`"
)]
fn fault(error: SurfaceError) -> ErrorData {
    let text = error.to_string();
    match error {
        SurfaceError::Arguments(_) => ErrorData::invalid_params(text, None),
        SurfaceError::Absent(_) => ErrorData::resource_not_found(text, None),
        SurfaceError::Refused(_) => ErrorData::invalid_request(text, None),
    }
}

fn result(answer: SurfaceAnswer) -> CallToolResult {
    let mut result = CallToolResult::structured(answer.value);
    result.content = vec![ContentBlock::text(answer.text)];
    result
}

fn tool(offered: OfferedTool) -> Tool {
    let hints = ToolAnnotations::new().open_world(false);
    let hints = match offered.effect {
        ToolEffect::Reads => hints.read_only(true),
        ToolEffect::Adds => hints.destructive(false).idempotent(false),
        ToolEffect::Removes => hints.destructive(true),
    };
    Tool::new(offered.name, offered.description, offered.schema).with_annotations(hints)
}

fn resource(offered: OfferedResource) -> Resource {
    Resource::new(offered.uri, offered.name)
        .with_description(offered.description)
        .with_mime_type(JSON)
}

fn template(offered: OfferedResource) -> ResourceTemplate {
    ResourceTemplate::new(offered.uri, offered.name)
        .with_description(offered.description)
        .with_mime_type(JSON)
}

fn prompt(offered: OfferedPrompt) -> Prompt {
    let argument = |(name, meaning, is_required): (&str, &str, bool)| {
        PromptArgument::new(name)
            .with_description(meaning)
            .with_required(is_required)
    };
    let arguments = offered.arguments.into_iter().map(argument).collect();
    Prompt::new(offered.name, Some(offered.description), Some(arguments))
}

fn progress(context: &RequestContext<RoleServer>) -> CallProgress {
    CallProgress(context.meta.get_progress_token().map(|token| {
        let reports = Reports {
            peer: context.peer.clone(),
            token,
            sent: AtomicU32::new(0),
        };
        Box::new(reports) as Box<dyn ReportProgress>
    }))
}

/// Reports to a client that sent a token for them.
struct Reports {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    sent: AtomicU32,
}

impl ReportProgress for Reports {
    fn report(&self, message: String) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let count = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let report = ProgressNotificationParam::new(self.token.clone(), count.into());
        let report = report.with_message(message);
        Box::pin(async move {
            if let Err(error) = self.peer.notify_progress(report).await {
                tracing::debug!(%error, "the client does not read how far its call is");
            }
        })
    }
}
