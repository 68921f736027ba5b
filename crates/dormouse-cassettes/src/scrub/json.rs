//! Finds the strings of JSON, complete or truncated, without changing a byte.
//!
//! A body is edited in place, because a replay must show the exact bytes of the server. So strings are located in the
//! source, and decoded with a map back to it.

use std::ops::Range;

use crate::slices::within;

/// A string in JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The bytes between its quotes.
    pub(super) raw: Range<usize>,
    pub(super) role: Role,
    /// The enclosing object or array; an index into [`Lexed::frames`].
    parent: usize,
    /// The bytes of the member's name; empty in an array.
    pub(super) name: Range<usize>,
    /// The index in an array.
    place: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A member's name.
    Name,
    Value,
}

/// An object or array.
#[derive(Clone, Debug)]
struct Frame {
    parent: usize,
    is_object: bool,
    name: Range<usize>,
    place: usize,
    /// The values of the object's members such as `index` and `output_index`. They assign an event to one of several
    /// streamed items.
    index: Vec<Range<usize>>,
    /// Whether a member's name comes next. This field and the next two are used only while the frame is open.
    wants_name: bool,
    last_name: Range<usize>,
    commas: usize,
}

/// The strings of a text, and the gaps between them.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) leaves: Vec<Leaf>,
    /// The text outside of strings that contains letters or digits.
    pub(super) gaps: Vec<Range<usize>>,
    frames: Vec<Frame>,
}

/// The maximum nesting depth of frames. Deeper strings are read, but do not belong to streamed items.
const DEEPEST: usize = 32;
/// The index that means "no frame": the string is not in an object or array, or is nested too deeply.
const NOWHERE: usize = usize::MAX;
/// A gap is searched only if it contains this many consecutive letters or digits. Fewer cannot be a secret.
const SHORTEST_GAP: usize = 6;

/// Finds the strings of `text` within `range`. Invalid JSON is read as far as possible.
pub(super) fn lex(text: &[u8], range: Range<usize>, into: &mut Lexed) {
    let mut reader = Reader {
        text: text.get(..range.end).unwrap_or(text),
        lexed: into,
        open: Vec::new(),
        depth: 0,
    };
    reader.read(range.start);
}

struct Reader<'a> {
    text: &'a [u8],
    lexed: &'a mut Lexed,
    /// The open frames, outermost first.
    open: Vec<usize>,
    /// How many objects and arrays are open beyond these frames.
    depth: usize,
}

impl Reader<'_> {
    fn read(&mut self, from: usize) {
        let mut at = from;
        let mut gap = from;
        while let Some(byte) = self.text.get(at) {
            match byte {
                b'"' => {
                    self.gap(gap..at);
                    let end = string_end(self.text, at + 1);
                    self.string(at + 1..end);
                    at = end + 1;
                    gap = at.min(self.text.len());
                    continue;
                }
                b'{' => self.enter(true),
                b'[' => self.enter(false),
                b'}' | b']' => self.leave(),
                b',' => self.comma(),
                b'0'..=b'9' => {
                    let end = number_end(self.text, at);
                    self.number(at..end);
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        self.gap(gap..self.text.len());
    }

    fn top(&mut self) -> Option<&mut Frame> {
        if self.depth > 0 {
            return None;
        }
        let top = *self.open.last()?;
        self.lexed.frames.get_mut(top)
    }

    fn enter(&mut self, is_object: bool) {
        if self.depth > 0 || self.open.len() >= DEEPEST {
            self.depth += 1;
            return;
        }
        let parent = self.open.last().copied().unwrap_or(NOWHERE);
        let (name, place) = self
            .top()
            .map_or((0..0, 0), |top| (top.last_name.clone(), top.commas));
        self.open.push(self.lexed.frames.len());
        self.lexed.frames.push(Frame {
            parent,
            is_object,
            name,
            place,
            index: Vec::new(),
            wants_name: is_object,
            last_name: 0..0,
            commas: 0,
        });
    }

    fn leave(&mut self) {
        if self.depth > 0 {
            self.depth -= 1;
            return;
        }
        let Some(closed) = self.open.pop() else {
            return;
        };
        // Frames that nothing refers to are dropped, so that a text of many brackets needs no memory.
        let is_last = closed + 1 == self.lexed.frames.len();
        let last_leaf = self.lexed.leaves.last();
        if is_last && last_leaf.is_none_or(|leaf| leaf.parent == NOWHERE || leaf.parent < closed) {
            self.lexed.frames.pop();
        }
    }

    fn comma(&mut self) {
        if let Some(top) = self.top() {
            top.commas += 1;
            top.wants_name = top.is_object;
            top.last_name = 0..0;
        }
    }

    fn string(&mut self, raw: Range<usize>) {
        let parent = if self.depth > 0 {
            NOWHERE
        } else {
            self.open.last().copied().unwrap_or(NOWHERE)
        };
        let mut leaf = Leaf {
            raw: raw.clone(),
            role: Role::Value,
            parent,
            name: 0..0,
            place: 0,
        };
        if let Some(top) = self.top() {
            if top.wants_name {
                top.wants_name = false;
                top.last_name = raw;
                leaf.role = Role::Name;
            } else {
                leaf.name = top.last_name.clone();
                leaf.place = top.commas;
            }
        }
        if !leaf.raw.is_empty() {
            self.lexed.leaves.push(leaf);
        }
    }

    fn number(&mut self, digits: Range<usize>) {
        let text = self.text;
        if let Some(top) = self.top() {
            let name = within(text, top.last_name.clone());
            if top.is_object && name.ends_with(b"index") && top.index.len() < 8 {
                top.index.push(digits);
            }
        }
    }

    fn gap(&mut self, gap: Range<usize>) {
        let bytes = within(self.text, gap.clone());
        let runs = bytes.split(|byte| !byte.is_ascii_alphanumeric());
        if runs.into_iter().any(|run| run.len() >= SHORTEST_GAP) {
            self.lexed.gaps.push(gap);
        }
    }
}

impl Lexed {
    /// The path of a string: the names on the path, and the indices of the objects on it. Strings that are pieces of
    /// one streamed item have the same path. `None` for names, and for strings without a path.
    pub(super) fn path(&self, text: &[u8], leaf: &Leaf) -> Option<Vec<u8>> {
        if leaf.role == Role::Name {
            return None;
        }
        let part = |range: &Range<usize>| within(text, range.clone());
        let mut path = Vec::new();
        let (mut name, mut place, mut frame) = (leaf.name.clone(), leaf.place, leaf.parent);
        loop {
            let inside = self.frames.get(frame)?;
            if inside.is_object {
                path.extend_from_slice(part(&name));
            } else {
                path.extend_from_slice(place.to_string().as_bytes());
            }
            for index in &inside.index {
                path.push(b'#');
                path.extend_from_slice(part(index));
            }
            path.push(b'/');
            if inside.parent == NOWHERE {
                return Some(path);
            }
            (name, place, frame) = (inside.name.clone(), inside.place, inside.parent);
        }
    }
}

/// Returns the end of a string that starts at `from`: its quote, or the end of the text.
fn string_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn number_end(text: &[u8], from: usize) -> usize {
    let rest = within(text, from..);
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    from + digits.count()
}
