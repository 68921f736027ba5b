//! What was learnt about models, for people.

use dormouse_dialects::{CallingChange, Evidence, ProbeVerdict, ToolCalling};
use dormouse_host::dialects::LearningNotice;

use crate::exit::Report;

/// Why tools are offered in this way, in words.
pub(crate) fn because(evidence: Evidence) -> String {
    match evidence {
        Evidence::None => "the default, because nothing was learnt about this model".to_owned(),
        Evidence::Probed(verdict) => format!("when it was asked, it {}", showed(verdict)),
        Evidence::PrintedCalls(count) => {
            format!("it printed its calls into the text {count} times in a row")
        }
        Evidence::NativeCalls(count) => {
            format!("it made native calls {count} times in a row although none were asked for")
        }
        Evidence::ToolsLeftOut => "its server takes no tools".to_owned(),
        _ => "of a reason that this version does not know".to_owned(),
    }
}

/// What a probe showed, in words.
pub(crate) fn showed(verdict: ProbeVerdict) -> &'static str {
    match verdict {
        ProbeVerdict::NativeWorks => "called the tool natively",
        ProbeVerdict::PrintsCalls => "printed the call into its text",
        ProbeVerdict::IgnoresTools => "answered as if there were no tool",
        ProbeVerdict::RefusesTools => "was not given the tool: its server takes none",
        _ => "showed nothing",
    }
}

/// A way of offering tools, in words.
pub(crate) fn way(calling: ToolCalling) -> &'static str {
    match calling {
        ToolCalling::Native => "natively",
        ToolCalling::Fallback => "as JSON in the text",
    }
}

/// What is reported about learning, in words.
pub(crate) fn learning(notice: &LearningNotice) -> String {
    let (change, configured) = match notice {
        LearningNotice::Changed { change, configured } => (change, configured),
        LearningNotice::File(error) => return format!("{}.", Report(error)),
    };
    let CallingChange {
        provider,
        model,
        to,
        evidence,
        ..
    } = change;
    let next = match configured {
        None => format!(
            "From the next start on tools are offered to it {}.",
            way(*to)
        ),
        Some(configured) => format!(
            "Tools are offered {} all the same, as is configured.",
            way(*configured)
        ),
    };
    format!(
        "Learnt of {model} of {provider}: {}. {next}",
        because(*evidence)
    )
}
