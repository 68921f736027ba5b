//! The words by which wishes and remarks differ.

/// Verbs for speaking, which need a manner: "answer in French", "write without emojis".
#[rustfmt::skip]
pub(super) const SPEAKING: &[&str] = &[
    "answer", "reply", "respond", "speak", "talk", "write", "communicate", "explain", "chat", "phrase", "text",
    "describe", "summarise", "summarize", "express", "greet", "address",
];

/// Verbs for what is done with what is said, which need something that is said: "skip the greetings", "use short words".
#[rustfmt::skip]
pub(super) const HANDLING: &[&str] = &[
    "use", "avoid", "skip", "drop", "scrap", "ditch", "omit", "limit", "keep", "leave", "spell", "format", "cite", "include", "pronounce",
    "abbreviate", "number", "stick", "focus", "refrain", "cut", "reduce", "minimise", "minimize", "favour", "favor",
    "prefer", "write", "capitalise", "capitalize", "quote", "round", "convert", "spare", "express", "measure", "sign",
];

/// Verbs for what somebody may not want to happen.
#[rustfmt::skip]
pub(super) const UNWANTED: &[&str] = &[
    "use", "call", "mention", "discuss", "remind", "lecture", "sugarcoat", "sugar-coat", "patronise", "patronize",
    "interrupt", "correct", "repeat", "apologise", "apologize", "flatter", "joke", "swear", "curse", "assume",
    "address", "refer", "suggest", "recommend", "quote", "add", "include", "explain", "define", "share", "spoil", "abbreviate", "preach",
    "moralise", "moralize", "nag", "ramble", "exaggerate", "guess", "invent", "speculate", "greet", "praise", "contact",
    "message", "record", "quiz", "judge", "pretend", "overexplain", "over-explain", "translate", "shorten",
    "capitalise", "capitalize", "rhyme", "tease", "hide", "simplify", "comment", "criticise", "criticize", "offer",
    "advise", "bring", "read",
];

/// Verbs that begin requests. Any of them may be lasting: "tell me the downside first, always".
#[rustfmt::skip]
pub(super) const DOING: &[&str] = &[
    "give", "tell", "show", "ask", "let", "put", "make", "bring", "send", "say", "add", "list", "name", "check",
    "remind", "warn", "start", "begin", "end", "finish", "read", "knock", "help", "suggest", "recommend", "offer",
    "mention", "translate", "repeat", "confirm", "alert", "introduce", "correct", "praise", "thank", "set", "turn",
    "assume", "act", "be", "present", "provide", "note", "state", "label", "consider", "think", "refer", "treat",
    "call", "wait", "follow", "wish", "sing", "count", "look", "split", "break", "double-check", "get", "take", "go",
    "try", "choose", "pick", "propose", "convert", "measure", "point", "highlight", "open", "close", "lock", "feed",
    "wake", "stop", "message", "contact", "ping", "notify", "update", "report", "brief", "plan", "calculate", "display",
    "print", "sort", "order", "share", "play", "respect", "remember", "speak", "use", "keep", "include", "leave",
    "answer", "reply", "cheer", "adapt", "adjust", "rely", "switch", "shorten", "stay", "compare", "define", "ignore",
    "double", "check", "schedule",
];

/// Verbs for what often happens, in conditions: "when I ask for a recipe".
#[rustfmt::skip]
pub(super) const OFTEN_DONE: &[&str] = &[
    "ask", "say", "mention", "tell", "quote", "write", "talk", "explain", "sound", "seem", "give", "send", "list",
    "describe", "recommend", "suggest", "use", "answer", "reply", "respond", "speak", "feel", "discuss", "refer",
    "greet", "address", "share", "summarise", "summarize", "translate", "correct", "make", "cook", "forget", "repeat",
    "name", "cite", "call", "type", "plan", "don't", "aren't", "can't", "calculate", "post", "teach", "help", "propose",
    "offer", "show", "report", "start", "begin", "request", "want", "need", "get", "am", "contact", "message",
    "play", "practise", "practice",
];

/// Of these, the ones that happen often only to the one who speaks: "when I need help", and not "if you need me".
pub(super) const OFTEN_MINE: &[&str] = &[
    "want", "need", "feel", "get", "am", "don't", "can't", "call", "start", "begin", "help",
];

/// Past and other forms that no ending makes.
#[rustfmt::skip]
pub(super) const IRREGULAR: &[(&str, &str)] = &[
    ("kept", "keep"), ("gave", "give"), ("told", "tell"), ("spoke", "speak"), ("wrote", "write"), ("left", "leave"),
    ("stuck", "stick"), ("were", "be"), ("was", "be"), ("being", "be"), ("made", "make"), ("began", "begin"),
    ("said", "say"), ("got", "get"), ("brought", "bring"), ("sent", "send"), ("spelt", "spell"), ("took", "take"),
    ("went", "go"), ("let", "let"), ("put", "put"), ("cut", "cut"), ("referred", "refer"), ("swore", "swear"),
];

/// What is said, how it is said, and what it is about.
#[rustfmt::skip]
pub(super) const SAID: &[&str] = &[
    "answer", "answers", "reply", "replies", "response", "responses", "message", "messages",
    "explanation", "explanations", "word", "words", "wording", "vocabulary", "sentence", "sentences", "paragraph", "paragraphs",
    "bullet", "bullets", "list", "lists", "table", "tables", "emoji", "emojis", "emoticons", "smileys",
    "joke", "jokes", "pun", "puns", "humour", "humor", "sarcasm", "irony", "spoiler", "spoilers", "jargon", "slang",
    "term", "terms", "abbreviation", "abbreviations", "acronyms", "swearing", "profanity", "swear", "curse", "cursing",
    "language", "spelling", "spellings", "grammar", "unit", "units", "celsius", "fahrenheit", "metric", "imperial", "kilometres",
    "kilometers", "miles", "grams", "kilograms", "pounds", "litres", "liters", "metres", "meters", "ounces", "cups", "utc",
    "dates", "format", "formats", "formatting", "numbers", "numerals", "digits", "decimal", "decimals", "prices", "currency", "euros",
    "dollars", "source", "sources", "link", "links", "citation", "citations", "references", "footnotes",
    "example", "examples", "metaphors", "analogies", "idioms", "cliches", "clichés", "pleasantries", "small", "smalltalk",
    "chit-chat", "chitchat", "greeting", "greetings", "intro", "intros", "introductions", "preamble", "preambles",
    "disclaimer", "disclaimers", "warnings", "caveats", "apologies", "flattery", "compliments", "praise",
    "exclamation", "marks", "capitals", "caps", "lowercase", "uppercase", "tone", "style", "titles", "title",
    "name", "names", "surname", "nickname", "nicknames", "pronouns", "politics", "religion", "politically", "topic", "topics", "subject",
    "advice", "lecture", "lectures", "lecturing", "filler", "fluff", "detail", "details", "steps", "summary", "summaries", "mood", "comment", "comments", "comma", "commas", "semicolons", "punctuation", "hyphens", "reminder", "reminders",
    "notifications", "updates", "ads", "pictures", "images", "photos", "videos", "diagrams", "translation", "translations", "options",
    "voice", "accent", "feedback", "chatter", "banter", "hints", "words", "comparisons", "theories",
    "markdown", "code", "headings", "headers", "opinion", "opinions", "rhyme", "rhymes", "verse", "verses", "poems", "question", "questions", "chats", "chat",
    "conversation", "conversations", "talks", "discussions", "recipes", "suggestions", "recommendations", "invitations",
    "facts", "point", "basics", "science", "evidence", "technical", "simple", "plain", "formal", "informal", "polite",
    "english", "german", "french", "spanish", "italian", "catalan", "welsh", "24-hour", "12-hour", "clock", "calories", "gossip",
    "stories", "nouns", "contractions", "passive", "formalities", "adjectives", "swearwords", "acronym", "haiku", "grams", "temperatures", "characters", "quotes", "quotations", "statistics", "percentages", "speculation", "guesses",
];

/// The manner in which somebody may be: "be brief with me".
#[rustfmt::skip]
pub(super) const MANNERS: &[&str] = &[
    "honest", "blunt", "direct", "brief", "concise", "frank", "formal", "informal", "polite", "gentle", "patient",
    "critical", "strict", "precise", "specific", "casual", "sarcastic", "funny", "straightforward", "succinct",
    "truthful", "candid", "encouraging", "supportive", "discreet", "thorough", "short", "tactful", "respectful",
    "professional", "terse", "clear", "skeptical", "sceptical", "playful", "literal", "transparent", "neutral",
    "objective", "upfront", "friendly", "accurate", "simple", "light", "clean", "less", "more", "tough", "harsh",
    "shorter", "longer", "simpler", "briefer", "competitive", "serious", "kinder", "nicer", "slower",
    "snappy", "crisp", "civil", "kind", "nice", "detailed",
];

/// After "no" in a phrase that refuses nothing.
#[rustfmt::skip]
pub(super) const IDIOMS: &[&str] = &[
    "problem", "way", "worries", "idea", "news", "doubt", "kidding", "rush", "hurry", "matter", "one", "need", "wonder",
    "luck", "harm", "thanks", "sign", "time", "longer", "yet", "here", "there", "comment", "offence", "offense", "hard",
];

/// Words about this moment. A wish about this moment is not lasting.
#[rustfmt::skip]
pub(super) const MOMENTARY: &[&str] = &[
    "tonight", "tomorrow", "yesterday", "today", "quickly", "immediately", "later", "soon", "yet", "already",
    "instantly", "ago",
];

/// Pairs of words about this moment.
#[rustfmt::skip]
pub(super) const MOMENTARY_PAIRS: &[[&str; 2]] = &[
    ["right", "now"], ["just", "now"], ["this", "morning"], ["this", "evening"], ["this", "afternoon"],
    ["this", "time"], ["this", "once"], ["this", "weekend"], ["the", "moment"], ["a", "moment"], ["a", "minute"],
    ["a", "second"], ["for", "now"], ["last", "night"], ["last", "week"], ["next", "week"],
];

/// States that pass soon: "I'm hungry, so make me a sandwich".
#[rustfmt::skip]
pub(super) const PASSING_STATES: &[&str] = &[
    "late", "busy", "hungry", "thirsty", "cold", "hot", "tired", "bored", "here", "ready", "done", "lost", "stuck",
    "back", "home", "sorry", "sure", "afraid", "full", "leaving", "coming", "going", "running", "waiting", "starving",
    "freezing", "cooking", "sitting", "standing", "out", "away", "almost", "nearly", "about", "so", "in", "at",
    "bleeding", "falling", "counting", "watching", "looking", "driving",
];

/// Phrases that make a request last.
#[rustfmt::skip]
pub(super) const LASTING: &[&[&str]] = &[
    &["every", "time"], &["each", "time"], &["at", "all", "times"], &["from", "now", "on"], &["from", "here", "on"],
    &["from", "here", "on", "out"], &["from", "today", "on"], &["in", "future"], &["in", "the", "future"],
    &["going", "forward"], &["whenever"], &["by", "default"], &["as", "a", "rule"], &["until", "further", "notice"],
    &["at", "any", "time"], &["before", "you"], &["as", "usual"], &["until", "i", "say"], &["once", "a", "day"],
    &["once", "a", "week"], &["once", "a", "month"], &["as", "long", "as"], &["no", "matter"], &["for", "good"],
    &["in", "everything"], &["in", "all"], &["without", "exception"],
];

/// Phrases before a request that make it last.
#[rustfmt::skip]
pub(super) const LASTING_LEADS: &[&[&str]] = &[
    &["from", "now", "on"], &["from", "here", "on", "out"], &["from", "here", "on"], &["from", "this", "day", "on"], &["from", "this", "point", "forward"], &["from", "this", "point", "on"],
    &["from", "today", "on"], &["from", "today"], &["as", "of", "now"], &["as", "of", "today"], &["in", "future"],
    &["in", "the", "future"], &["going", "forward"], &["moving", "forward"], &["by", "default"], &["as", "a", "rule"],
    &["as", "a", "general", "rule"], &["in", "general"], &["generally"], &["for", "future", "reference"],
    &["for", "the", "record"], &["for", "the", "future"], &["until", "further", "notice"], &["at", "all", "times"],
    &["starting", "now"], &["starting", "today"], &["where", "possible"], &["wherever", "possible"],
    &["whenever", "possible"], &["if", "possible"], &["when", "possible"], &["when", "in", "doubt"],
    &["if", "in", "doubt"], &["next", "time"], &["henceforth"], &["hereafter"], &["from", "then", "on"],
    &["as", "always"], &["in", "this", "room"], &["in", "this", "chat"], &["in", "this", "channel"],
    &["in", "this", "conversation"], &["in", "here"],
];

/// Words that begin a description of a person or thing, and not a request.
#[rustfmt::skip]
pub(super) const DESCRIBED: &[&str] = &[
    "i", "i'll", "i'm", "i've", "i'd", "we", "we'll", "we're", "we've", "he", "he'll", "he's", "she", "she'll", "she's",
    "it", "it'll", "it's", "they", "they'll", "they're", "there", "there'll", "there's", "the", "a", "an", "my", "our", "his", "her",
    "their", "its", "this", "that", "these", "those", "everything", "everyone", "everybody", "nothing", "nobody", "things",
    "people", "you'll", "you're", "you've", "your", "one", "most", "some", "many", "all", "each", "both", "somebody", "someone", "something",
    "who", "what", "where", "why", "how", "when", "which",
];

/// Words after "always" in a description.
#[rustfmt::skip]
pub(super) const AFTER_ALWAYS: &[&str] = &[
    "a", "an", "the", "i", "been", "was", "were", "is", "are", "had", "has", "have", "knew", "wanted", "thought",
    "wondered", "good", "nice", "great", "happy", "glad", "there", "something", "someone", "so", "such", "welcome", "fun", "late", "loved",
    "liked", "in", "my", "your", "you", "at", "on", "too", "more", "one", "room", "time", "worth", "hated", "raining",
    "look",
    "and",
];

/// Words after "never" in a description.
#[rustfmt::skip]
pub(super) const AFTER_NEVER: &[&str] = &[
    "a", "an", "the", "i", "been", "was", "were", "is", "are", "had", "has", "have", "knew", "wanted", "thought", "wondered",
    "mind", "heard", "seen", "saw", "met", "tried", "said", "felt", "got", "went", "did", "understood", "really", "again",
    "before", "once", "liked", "in", "you", "too", "loved", "so", "fear", "better", "been", "gonna",
];
