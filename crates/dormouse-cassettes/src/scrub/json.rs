//! Finds the strings of JSON without changing a byte of it, whole or cut off.
//!
//! A body is edited in place, because a replay has to show the very bytes a server sent, odd spaces and all. So
//! strings are found where they stand, and read through a map from what they say to where they say it.

use std::ops::Range;

/// A string in a text of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The bytes between its quotes.
    pub(super) raw: Range<usize>,
    pub(super) role: Role,
    /// The object or array it is in; an index into [`Lexed::frames`].
    parent: usize,
    /// The bytes of its member's name; empty in an array.
    pub(super) name: Range<usize>,
    /// Its place in an array.
    place: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of a member.
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
    /// What its member `index` (or `output_index` and the like) says: which of several things that are streamed at the
    /// same time an event is about.
    index: Vec<Range<usize>>,
    /// While it is open: whether a name comes next, the name that came last, and how many commas there were.
    wants_name: bool,
    last_name: Range<usize>,
    commas: usize,
}

/// The strings of a text, and what is between them.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) leaves: Vec<Leaf>,
    /// What is outside of strings and has letters or digits.
    pub(super) gaps: Vec<Range<usize>>,
    frames: Vec<Frame>,
}

/// Deeper strings are read, but not taken for parts of something that is streamed.
const DEEPEST: usize = 32;
/// No frame: the string is in no object or array, or too deep.
const NOWHERE: usize = usize::MAX;
/// Gaps with fewer letters or digits in a row than this hold nothing to look at.
const SHORTEST_GAP: usize = 6;

/// Finds the strings of `text` within `range`. What is no JSON is read as well as can be.
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
    /// How deep it is beyond those.
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
        // What nobody refers to is forgotten, so that a text of brackets costs no memory.
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
            let name = text.get(top.last_name.clone()).unwrap_or_default();
            if top.is_object && name.ends_with(b"index") && top.index.len() < 8 {
                top.index.push(digits);
            }
        }
    }

    fn gap(&mut self, gap: Range<usize>) {
        let bytes = self.text.get(gap.clone()).unwrap_or_default();
        let runs = bytes.split(|byte| !byte.is_ascii_alphanumeric());
        if runs.into_iter().any(|run| run.len() >= SHORTEST_GAP) {
            self.lexed.gaps.push(gap);
        }
    }
}

impl Lexed {
    /// What strings have in common that are pieces of the same thing: the names on the way to them, and the indexes that
    /// the objects on the way have. `None` for a name, and where there is no way.
    pub(super) fn path(&self, text: &[u8], leaf: &Leaf) -> Option<Vec<u8>> {
        if leaf.role == Role::Name {
            return None;
        }
        let part = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
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

/// Where a string that begins at `from` ends: at its quote, or where the text does.
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
    let rest = text.get(from..).unwrap_or_default();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    from + digits.count()
}
