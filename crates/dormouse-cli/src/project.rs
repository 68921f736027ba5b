//! `dormouse project`: what the assistant works on.

use clap::{Args, Subcommand};
use dormouse_engine::{
    Event, GoalNote, Project, ProjectError, ProjectId, ProjectStatus, ProjectUpdated, State,
};
use serde_json::{Value, json};

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, Places, Printing, Whose, author, say,
        view_state,
    },
    exit::Exit,
};

/// The projects of an assistant.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// List the projects
    List {
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print everything known about a project
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Begin a project. It becomes the active one if no other is active. The assistant may tell everybody about it
    Create {
        #[command(flatten)]
        of: Whose,
        /// What it is, in a sentence
        #[arg(value_name = "TEXT")]
        summary: String,
        /// Its current state, and what one must know to continue it
        #[arg(long, value_name = "TEXT")]
        context: Option<String>,
    },
    /// Make a project the active one. The former active project is paused
    Swap {
        #[command(flatten)]
        which: Which,
        /// The current state of the former project, which replaces its context
        #[arg(long, value_name = "TEXT")]
        update: Option<String>,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Change a project
    Update {
        #[command(flatten)]
        which: Which,
        /// Its current state, which replaces its context
        #[arg(long, value_name = "TEXT")]
        context: Option<String>,
        /// What it is, in a sentence
        #[arg(long, value_name = "TEXT")]
        summary: Option<String>,
        /// Mark it as completed; `swap` resumes it
        #[arg(long)]
        completed: bool,
    },
}

/// One project of an assistant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    #[command(flatten)]
    of: Whose,
    /// Its key, such as project-3, or its number
    #[arg(value_name = "PROJECT")]
    project: ProjectId,
}

impl CommandFailure for ProjectError {
    fn exit(&self) -> Exit {
        match self {
            // The project is already active, so nothing has to be done.
            Self::Active(_) => Exit::Success,
            _ => Exit::Usage,
        }
    }
}

/// Prints the projects, or changes them by an event that says who did it.
pub(crate) fn run(places: &Places, command: ProjectCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let change = |of: Whose, change: &dyn Fn(&State) -> Result<Event, ProjectError>| {
        let log = AssistantLog::open(places, &data, of.assistant)?;
        let decided = log.append_decided(|state| Ok(vec![change(state)?]))?;
        let decided: Result<_, ProjectError> = decided;
        Ok::<_, CommandError>(decided?.events)
    };
    let note = |text: &Option<String>| text.as_deref().map(GoalNote::by_operator);
    match command {
        ProjectCommand::List { of, json } => {
            let (_, state) = view_state(places, &data, of.assistant, json.printing())?;
            let printing = json.printing();
            for project in state.projects.iter() {
                printing.print(&as_json(project), || text(project))?;
            }
            if state.projects.iter().next().is_none() && printing == Printing::Text {
                say("no project")?;
            }
        }
        ProjectCommand::Show { which, json } => {
            let (_, state) = view_state(places, &data, which.of.assistant, json.printing())?;
            let asked = which.project;
            let known = state.projects.get(asked);
            let project = known.ok_or_else(|| {
                let known = state.projects.iter().map(|it| it.id);
                ProjectError::unknown(asked, known)
            })?;
            json.printing().print(&as_json(project), || text(project))?;
        }
        ProjectCommand::Create {
            of,
            summary,
            context,
        } => {
            let events = change(of, &|state| {
                let settings = &state.configuration.settings.own;
                let summary = GoalNote::by_operator(&summary);
                let created = state
                    .projects
                    .create(summary, note(&context), settings, author())?;
                Ok(Event::ProjectCreated(created))
            })?;
            if let [Event::ProjectCreated(created)] = &*events {
                say(&format!("{} is begun and {}", created.id, created.status))?;
            }
        }
        ProjectCommand::Swap {
            which,
            update,
            reason,
        } => {
            let id = which.project;
            change(which.of, &|state| {
                let projects = &state.projects;
                let swapped = projects.swap(id, note(&update), note(&reason), author())?;
                Ok(Event::ProjectSwapped(swapped))
            })?;
            say(&format!("{id} is active"))?;
        }
        ProjectCommand::Update {
            which,
            context,
            summary,
            completed,
        } => {
            let id = which.project;
            change(which.of, &|state| {
                let updated = ProjectUpdated {
                    context: note(&context),
                    summary: note(&summary),
                    status: completed.then_some(ProjectStatus::Completed),
                    ..ProjectUpdated::of(id, author())
                };
                Ok(Event::ProjectUpdated(state.projects.update(updated)?))
            })?;
            say(&format!("{id} is changed"))?;
        }
    }
    Ok(Exit::Success)
}

fn text(project: &Project) -> String {
    let summary = &project.summary;
    let context = project.context.as_ref();
    let context = context.map(|context| format!(": {}", context.text));
    format!(
        "{} [{}] {} (trust {}, last active {}){}",
        project.id,
        project.status,
        summary.text,
        summary.trust,
        project.last_active,
        context.unwrap_or_default(),
    )
}

fn as_json(project: &Project) -> Value {
    json!({
        "type": "project",
        "project": project.id.to_string(),
        "event": project.seq,
        "created_at": project.created_at.to_string(),
        "last_active": project.last_active.to_string(),
        "status": project.status,
        "summary": project.summary,
        "context": project.context,
    })
}
