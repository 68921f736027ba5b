//! The matrix, for people.

use dormouse_contracts::ModelErrorKind;

use super::cell::{MEMORY_BYTES, Row};
use crate::double::Dialect;

const HEAD: &str = "# Every fault with every provider

The tests of `dormouse-providers` write this page. They try each cell with a server on this machine that speaks the vendor's
dialect, and fail if the page differs. To update it after a change:

```text
DORMOUSE_WRITE_DOCS=1 cargo test -p dormouse-providers --test it matrix
```

*Requests* is the number of requests that the server received: no request is repeated without the caller. In every
cell the client sends the key only in the vendor's header, and no error and no log contains the key. No request goes to another
server, and the client never uses more than {memory} MiB of memory at one time. *reply* is the whole reply, as without the fault. A name in `code` is the kind of a failure
(`ModelErrorKind`), which means:

";

const FOOT: &str = "
Host names that cannot be resolved are not tested, since a lookup would leave this machine. Such a failure is handled
like a refused connection.

[mcp.md](mcp.md#what-happens) says how a tool call ends if the tool's server misbehaves.
";

/// The matrix as Markdown.
pub(crate) fn markdown(rows: &[Row], dialects: &[&dyn Dialect]) -> String {
    let memory_mib = (MEMORY_BYTES / (1024 * 1024)).to_string();
    let mut page = HEAD.replace("{memory}", &memory_mib) + &kinds();
    let mut part = "";
    for row in rows {
        if row.part != part {
            part = row.part;
            page.push_str(&format!("\n## {part}\n\n| fault | requests |"));
            for dialect in dialects {
                page.push_str(&format!(" {} |", dialect.name()));
            }
            page.push_str(&format!(
                "\n| --- | ---: |{}\n",
                " --- |".repeat(dialects.len())
            ));
        }
        page.push_str(&format!("| {} | {} |", row.what, row.requests));
        for dialect in dialects {
            page.push_str(&format!(" {} |", row.outcome(*dialect).words()));
        }
        page.push('\n');
    }
    page + FOOT
}

fn kinds() -> String {
    use ModelErrorKind as Kind;
    let mut table = "| kind | class | may the same request succeed later? | is the service unhealthy? |\n| --- | --- | --- | --- |\n".to_owned();
    for (name, kind) in [
        ("Auth", Kind::Auth),
        ("RateLimited", Kind::RateLimited(None)),
        ("ContextExceeded", Kind::ContextExceeded),
        ("Refused", Kind::Refused),
        ("NotFound", Kind::NotFound),
        ("Unreachable", Kind::Unreachable),
        ("Unavailable", Kind::Unavailable),
        ("TimedOut", Kind::TimedOut),
        ("Interrupted", Kind::Interrupted),
        ("Malformed", Kind::Malformed),
    ] {
        let answer = |yes| if yes { "yes" } else { "no" };
        table.push_str(&format!(
            "| `{name}` | {} | {} | {} |\n",
            kind.class(),
            answer(kind.is_retryable()),
            answer(kind.is_service_unhealthy())
        ));
    }
    table
}
