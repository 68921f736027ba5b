//! Measures how many tokens the definitions of tools take, and whether tasks find their tool.

use std::fmt;

use crate::{
    args::ToolTasks,
    error::EvalError,
    tool_life::{TaskRun, ToolLife},
    tool_set::{ToolSet, ToolTask},
};

/// Tasks that were done with one budget.
#[derive(Debug, Default)]
struct Runs {
    runs: Vec<TaskRun>,
    /// The tasks that did not find their tool.
    missed: Vec<String>,
}

impl Runs {
    fn note(&mut self, task: &ToolTask, run: TaskRun) {
        if !run.is_done {
            self.missed.push(format!("{}: {}", task.tool, task.message));
        }
        self.runs.push(run);
    }

    fn first_tokens(&self) -> impl Iterator<Item = u32> {
        self.runs
            .iter()
            .filter_map(|run| run.tokens.first().copied())
    }

    fn most_tokens(&self) -> u32 {
        let all = self.runs.iter().flat_map(|run| run.tokens.iter().copied());
        all.max().unwrap_or_default()
    }

    /// The mean tokens of all definitions that a task sends, in all of its requests.
    fn tokens_a_task(&self) -> u64 {
        let all = self.runs.iter().flat_map(|run| &run.tokens);
        let sum: u64 = all.map(|tokens| u64::from(*tokens)).sum();
        sum / self.runs.len().max(1) as u64
    }

    fn mean_first(&self) -> u64 {
        let sum: u64 = self.first_tokens().map(u64::from).sum();
        sum / self.runs.len().max(1) as u64
    }

    fn at_once(&self) -> usize {
        self.runs.iter().filter(|run| run.at_once).count()
    }

    fn done(&self) -> usize {
        self.runs.iter().filter(|run| run.is_done).count()
    }

    fn offered(&self) -> usize {
        let sum: usize = self.runs.iter().map(|run| run.offered).sum();
        sum / self.runs.len().max(1)
    }
}

/// The result.
#[derive(Debug)]
pub(crate) struct ToolReport {
    servers: usize,
    tools: usize,
    budget: u32,
    /// All tools are offered, and one task is asked for.
    before: Runs,
    /// An assistant of its own for each task.
    alone: Runs,
    /// One assistant for all of them, one after the other.
    together: Runs,
    /// How often the choice changed in that life.
    choices: u64,
}

impl ToolReport {
    pub(crate) async fn of(asked: &ToolTasks) -> Result<Self, EvalError> {
        let ToolSet { servers, tasks } = ToolSet::read(asked)?;
        let mut before = Runs::default();
        if let Some(task) = tasks.first() {
            let mut life = ToolLife::begin(&servers, 0).await?;
            before.note(task, life.ask(task).await?);
            life.end().await;
        }
        let mut alone = Runs::default();
        for task in &tasks {
            let mut life = ToolLife::begin(&servers, asked.budget).await?;
            alone.note(task, life.ask(task).await?);
            life.end().await;
        }
        let mut together = Runs::default();
        let mut life = ToolLife::begin(&servers, asked.budget).await?;
        for task in &tasks {
            together.note(task, life.ask(task).await?);
        }
        let choices = life.choices().await?;
        life.end().await;
        Ok(Self {
            servers: servers.len(),
            tools: servers.iter().map(|server| server.tools.len()).sum(),
            budget: asked.budget,
            before,
            alone,
            together,
            choices,
        })
    }
}

impl fmt::Display for ToolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        writeln!(
            f,
            "{} tools of {} servers, {} tasks; definitions may take {} tokens. Tokens are those of the definitions alone.",
            self.tools,
            self.servers,
            self.alone.runs.len(),
            self.budget
        )?;
        writeln!(
            f,
            "{:<36}{:>10}{:>10}{:>10}",
            "", "all", "chosen", "one life"
        )?;
        let columns = [&self.before, &self.alone, &self.together];
        let mut row = |name: &str, of: &dyn Fn(&Runs) -> String| {
            write!(f, "{name:<36}")?;
            columns
                .iter()
                .try_for_each(|it| write!(f, "{:>10}", of(it)))?;
            writeln!(f)
        };
        row("tools in the first request, mean", &|it| {
            it.offered().to_string()
        })?;
        row("tokens in the first request, mean", &|it| {
            it.mean_first().to_string()
        })?;
        row("tokens in a request, most", &|it| {
            it.most_tokens().to_string()
        })?;
        row("tokens in all requests of a task", &|it| {
            it.tokens_a_task().to_string()
        })?;
        row("tool offered at once, % of tasks", &|it| {
            format!("{:.1}", share(it.at_once(), it.runs.len()))
        })?;
        row("tool called, % of tasks", &|it| {
            format!("{:.1}", share(it.done(), it.runs.len()))
        })?;
        writeln!(
            f,
            "In one life the choice changed {} times in {} tasks.",
            self.choices,
            self.together.runs.len()
        )?;
        for (place, runs) in [("alone", &self.alone), ("one life", &self.together)] {
            for missed in &runs.missed {
                writeln!(f, "not found ({place})  {missed}")?;
            }
        }
        Ok(())
    }
}
