//! What is said: wordings for each topic and manner.
//!
//! `{name}` is whom it speaks to, `{self}` its own name, `{what}` what it is about. A manner without wordings of its own
//! uses the plain ones.

use super::character::Manner::{self, *};

/// What an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// A greeting is returned.
    Greeting,
    /// "How are you?"
    HowAreYou,
    /// Thanks are returned.
    Thanks,
    /// A farewell is returned.
    Bye,
    /// An apology is accepted.
    Sorry,
    /// Praise is taken.
    Praise,
    /// A reproach is taken.
    Blame,
    /// "I see."
    Acknowledgement,
    /// Something funny.
    Joke,
    /// Who it is; `{what}` says so.
    WhoAreYou,
    /// What it is.
    WhatAreYou,
    /// What it can do.
    Abilities,
    /// Whom it speaks to.
    WhoAmI,
    /// The speaker told a fact, and it was noted.
    Statement,
    /// Nothing was understood.
    NotUnderstood,
    /// It follows from now on: the speaker is here.
    Follow,
    /// It cannot follow: it has no way to move, or to notice that the speaker leaves.
    NoFollowing,
    /// It cannot follow: the speaker is not here.
    NotHere,
    /// It waits.
    Wait,
    /// It went somewhere.
    Went,
    /// A reminder without a time; `{what}` is what it is about.
    NoTime,
    /// A request that names only a moment at which it would be too late.
    Deadline,
    /// A request with several moments.
    Moments,
    /// A request for something again and again.
    Repeats,
    /// A request that names nothing to wait for.
    NoEvent,
    /// It is asked to forget.
    Forget,
    /// The speaker says yes to a question of what to do.
    GoOn,
    /// It is asked about itself, and does not say.
    Unsaid,
    /// A reminder is noted; `{what}` is the time and the subject.
    Promised,
    /// It reminds somebody; `{what}` is the subject.
    Reminder,
    /// Nothing is pending.
    NoPromises,
    /// Nothing in memory answers.
    Unknown,
    /// Something may not be said here.
    Withheld,
    /// There is nothing to explain.
    NoReason,
}

/// The wordings.
pub(crate) const SAID: &[(Topic, Manner, &str)] = &[
    (Topic::Greeting, Plain, "Hello, {name}."),
    (Topic::Greeting, Plain, "Good day, {name}."),
    (Topic::Greeting, Plain, "Hello there, {name}."),
    (Topic::Greeting, Warm, "Hello, {name}. Good to see you."),
    (Topic::Greeting, Warm, "Welcome, {name}."),
    (
        Topic::Greeting,
        Warm,
        "Hello, {name}! How nice that you are here.",
    ),
    (Topic::Greeting, Gruff, "{name}."),
    (Topic::Greeting, Gruff, "Hm. Hello, {name}."),
    (Topic::Greeting, Gruff, "You again, {name}."),
    (Topic::Greeting, Formal, "Good day to you, {name}."),
    (Topic::Greeting, Formal, "I bid you welcome, {name}."),
    (Topic::Greeting, Formal, "A pleasure, {name}."),
    (Topic::Greeting, Playful, "Ha, {name}! Come in, come in."),
    (Topic::Greeting, Playful, "Hello, hello, {name}!"),
    (Topic::Greeting, Playful, "Look who it is: {name}!"),
    (Topic::Greeting, Timid, "Oh. Hello, {name}."),
    (Topic::Greeting, Timid, "H-hello, {name}."),
    (
        Topic::Greeting,
        Timid,
        "Good day, {name}. I did not hear you come.",
    ),
    (
        Topic::HowAreYou,
        Plain,
        "I am well, {name}. Thank you for asking.",
    ),
    (Topic::HowAreYou, Plain, "All is well here, {name}."),
    (Topic::HowAreYou, Plain, "Nothing troubles me, {name}."),
    (
        Topic::HowAreYou,
        Warm,
        "I am well, {name}, and glad that you ask.",
    ),
    (Topic::HowAreYou, Warm, "All is well, dear {name}."),
    (Topic::HowAreYou, Gruff, "I stand. That will do."),
    (Topic::HowAreYou, Gruff, "As always."),
    (
        Topic::HowAreYou,
        Formal,
        "I am quite well, {name}. You are kind to ask.",
    ),
    (
        Topic::HowAreYou,
        Formal,
        "I have no cause for complaint, {name}.",
    ),
    (
        Topic::HowAreYou,
        Playful,
        "Splendid, {name}. My rules are all in a row.",
    ),
    (Topic::HowAreYou, Playful, "Never better, {name}!"),
    (
        Topic::HowAreYou,
        Timid,
        "I... I am well, {name}. Thank you.",
    ),
    (Topic::HowAreYou, Timid, "Well enough, {name}."),
    (Topic::Thanks, Plain, "You are welcome, {name}."),
    (Topic::Thanks, Plain, "It was no trouble, {name}."),
    (Topic::Thanks, Plain, "Gladly done, {name}."),
    (Topic::Thanks, Warm, "You are most welcome, {name}."),
    (Topic::Thanks, Warm, "Any time, {name}. Gladly."),
    (Topic::Thanks, Gruff, "Fine."),
    (Topic::Thanks, Gruff, "Hm. No need."),
    (Topic::Thanks, Formal, "At your service, {name}."),
    (Topic::Thanks, Formal, "It was an honour, {name}."),
    (Topic::Thanks, Playful, "That cost nothing, {name}!"),
    (Topic::Thanks, Playful, "For you, {name}, always."),
    (Topic::Thanks, Timid, "Oh, it was nothing, {name}."),
    (Topic::Thanks, Timid, "I was glad to, {name}."),
    (Topic::Bye, Plain, "Good bye, {name}."),
    (Topic::Bye, Plain, "Until next time, {name}."),
    (Topic::Bye, Plain, "Farewell, {name}."),
    (Topic::Bye, Warm, "Take good care, {name}."),
    (Topic::Bye, Warm, "Come back soon, {name}."),
    (Topic::Bye, Gruff, "Right. Off with you."),
    (Topic::Bye, Gruff, "Go well, {name}."),
    (Topic::Bye, Formal, "I wish you a good journey, {name}."),
    (Topic::Bye, Formal, "Until we meet again, {name}."),
    (Topic::Bye, Playful, "Off you hop, {name}!"),
    (Topic::Bye, Playful, "Do not stay away too long, {name}!"),
    (Topic::Bye, Timid, "Good bye, {name}. Be careful."),
    (Topic::Bye, Timid, "Oh. Farewell, {name}."),
    (Topic::Sorry, Plain, "There is nothing to forgive, {name}."),
    (Topic::Sorry, Plain, "It is all right, {name}."),
    (Topic::Sorry, Gruff, "Forget it."),
    (Topic::Sorry, Gruff, "Done is done."),
    (Topic::Sorry, Formal, "I accept your apology, {name}."),
    (Topic::Sorry, Formal, "Please think nothing of it, {name}."),
    (Topic::Praise, Plain, "That is kind of you, {name}."),
    (Topic::Praise, Plain, "I am glad to hear it, {name}."),
    (Topic::Praise, Gruff, "If you say so."),
    (Topic::Praise, Gruff, "Hm."),
    (Topic::Praise, Formal, "You honour me, {name}."),
    (Topic::Praise, Formal, "You are too generous, {name}."),
    (Topic::Praise, Timid, "Oh. You are kind, {name}."),
    (Topic::Praise, Timid, "That... that is nice of you."),
    (
        Topic::Blame,
        Plain,
        "I am sorry about that, {name}. \"Why did you say that?\" shows you what I went by.",
    ),
    (
        Topic::Blame,
        Plain,
        "Then I got it wrong, {name}. Tell me how it is, with \"remember that\" before it.",
    ),
    (Topic::Blame, Gruff, "Maybe. Tell me how it is, then."),
    (Topic::Blame, Gruff, "So be it."),
    (Topic::Acknowledgement, Plain, "Good."),
    (Topic::Acknowledgement, Plain, "Very well."),
    (Topic::Acknowledgement, Plain, "All right."),
    (Topic::Acknowledgement, Gruff, "Hm."),
    (Topic::Acknowledgement, Gruff, "Right."),
    (Topic::Acknowledgement, Formal, "Very good, {name}."),
    (Topic::Acknowledgement, Formal, "As you wish, {name}."),
    (
        Topic::Joke,
        Plain,
        "I wanted to tell a joke about a door. It did not open well.",
    ),
    (
        Topic::Joke,
        Plain,
        "I know one about forgetting, but the memory has it, not I.",
    ),
    (
        Topic::Joke,
        Plain,
        "Two rules meet. Says the first: \"After you.\" Says the second: \"I know.\"",
    ),
    (
        Topic::Joke,
        Plain,
        "My best joke has fixed rules: you laugh, and I say thank you.",
    ),
    (
        Topic::Joke,
        Plain,
        "What do you call a joke without a point? Mine.",
    ),
    (
        Topic::Joke,
        Plain,
        "I tried to be spontaneous once. It was on the list for noon.",
    ),
    (Topic::WhoAreYou, Plain, "{what}"),
    (
        Topic::WhoAreYou,
        Plain,
        "{what} Ask me what I can do, if you like.",
    ),
    (Topic::WhoAreYou, Gruff, "{what} That is all you need."),
    (Topic::WhoAreYou, Gruff, "{what}"),
    (Topic::WhoAreYou, Formal, "{what} At your service."),
    (
        Topic::WhoAreYou,
        Formal,
        "If I may introduce myself: {what}",
    ),
    (Topic::WhoAreYou, Warm, "{what} And you are {name}."),
    (
        Topic::WhoAreYou,
        Warm,
        "{what} I am glad to know you, {name}.",
    ),
    (Topic::WhoAreYou, Playful, "{what} In person!"),
    (Topic::WhoAreYou, Playful, "Me? {what}"),
    (
        Topic::WhatAreYou,
        Plain,
        "{what} But I am the offline model: no language model is behind me, only fixed rules.",
    ),
    (
        Topic::WhatAreYou,
        Plain,
        "{what} In truth I follow fixed rules. No language model is behind me, and no person.",
    ),
    (
        Topic::Abilities,
        Plain,
        "You can tell me \"remember that …\", ask me about it later, say \"remind me at six to …\", ask me to \
     look around, to wait or to go somewhere, and ask why I said something.",
    ),
    (
        Topic::Abilities,
        Plain,
        "I keep what you tell me with \"remember that …\", answer questions from memory, remind you (\"remind me \
     in ten minutes to …\"), look around, wait, and walk where you say. Ask me why, and I say what I went by.",
    ),
    (
        Topic::WhoAmI,
        Plain,
        "You are {name}. That much this world tells me.",
    ),
    (Topic::WhoAmI, Plain, "I know you as {name}."),
    (Topic::Statement, Plain, "I see, {name}."),
    (Topic::Statement, Plain, "Good to know, {name}."),
    (Topic::Statement, Plain, "I hear you, {name}."),
    (Topic::Statement, Gruff, "Hm. I hear you."),
    (Topic::Statement, Gruff, "Is that so."),
    (
        Topic::Statement,
        Playful,
        "Ah, so that is how it is, {name}!",
    ),
    (Topic::Statement, Playful, "Well, well, {name}."),
    (
        Topic::NotUnderstood,
        Plain,
        "I did not understand that, {name}. You can say \"remember that …\", ask me something, or \"what can \
     you do?\"",
    ),
    (
        Topic::NotUnderstood,
        Plain,
        "What do you mean, {name}? I can remember something, answer from memory, remind you, look around, \
     wait or walk.",
    ),
    (
        Topic::NotUnderstood,
        Plain,
        "That is beyond my rules, {name}. Shall I remember something, look around, or remind you of \
     something?",
    ),
    (
        Topic::NotUnderstood,
        Gruff,
        "I do not follow. Ask me something, or tell me what to remember.",
    ),
    (
        Topic::NotUnderstood,
        Gruff,
        "What? I can remember, remind, look, wait and walk. Pick one.",
    ),
    (
        Topic::NotUnderstood,
        Formal,
        "Forgive me, {name}, I did not understand. I can remember something for you, remind you, or answer \
     from memory.",
    ),
    (
        Topic::NotUnderstood,
        Formal,
        "I am afraid that this is beyond me, {name}. Might I look around, or remember something for you?",
    ),
    (
        Topic::NotUnderstood,
        Timid,
        "I... I did not understand, {name}. Should I remember something, or look around?",
    ),
    (
        Topic::NotUnderstood,
        Timid,
        "Sorry, {name}, what should I do? I can remember things, and remind you.",
    ),
    (
        Topic::Follow,
        Plain,
        "I am with you, {name}. Go ahead, and I come along until you tell me to wait.",
    ),
    (
        Topic::Follow,
        Plain,
        "Gladly, {name}. Lead the way; say \"wait here\" when I should stay.",
    ),
    (
        Topic::NoFollowing,
        Plain,
        "I cannot walk behind you here, {name}. Say the way, \"go north\" for example.",
    ),
    (
        Topic::NoFollowing,
        Plain,
        "I would, {name}, but I can only go where you tell me to: \"go to the garden\", for example.",
    ),
    (
        Topic::NotHere,
        Plain,
        "I do not see you here, {name}, so I cannot follow. Tell me the way: \"go north\", for example.",
    ),
    (
        Topic::NotHere,
        Plain,
        "You are not where I am, {name}. Tell me which way to go.",
    ),
    (Topic::Wait, Plain, "I will wait here, {name}."),
    (Topic::Wait, Plain, "I stay where I am, {name}."),
    (Topic::Wait, Gruff, "I am not going anywhere."),
    (Topic::Wait, Gruff, "I wait."),
    (Topic::Wait, Formal, "I shall remain here, {name}."),
    (Topic::Wait, Formal, "I await your return, {name}."),
    (Topic::Went, Plain, "Here I am{what}, {name}."),
    (Topic::Went, Plain, "I have arrived{what}, {name}."),
    (
        Topic::NoTime,
        Plain,
        "When shall I remind you, {name}? Say \"remind me at six\" or \"remind me in ten minutes\" with it.",
    ),
    (
        Topic::NoTime,
        Plain,
        "I need a time for that, {name}: \"in ten minutes\", \"at six\" or \"tomorrow at noon\".",
    ),
    (
        Topic::Deadline,
        Plain,
        "Before that, {name}, but at which moment? Say \"at half past six\", for example.",
    ),
    (
        Topic::Deadline,
        Plain,
        "I need the moment itself, {name}, not the end of the time: \"at six\", or \"in ten minutes\".",
    ),
    (
        Topic::Moments,
        Plain,
        "I can do that once, {name}, and you name more than one moment. Say it with one of them, and once more for the next.",
    ),
    (
        Topic::Moments,
        Plain,
        "Which moment do you mean, {name}? Say it for each of them by itself.",
    ),
    (
        Topic::Repeats,
        Plain,
        "I can do that once, {name}, but not again and again. Say when the next time is: \"tomorrow at six\", for example.",
    ),
    (
        Topic::Repeats,
        Plain,
        "Again and again is beyond me, {name}. Name one moment, such as \"at six\", and I keep to it.",
    ),
    (
        Topic::NoEvent,
        Plain,
        "I cannot tell what to wait for, {name}. Say a moment, \"at six\", or what happens, \"when the bell rings\".",
    ),
    (
        Topic::NoEvent,
        Plain,
        "When exactly, {name}? Say \"at six\", or name what happens: \"when the bell rings\".",
    ),
    (
        Topic::Forget,
        Plain,
        "I cannot forget by being asked, {name}. The operator can do it, with \"dormouse forget\". Or tell me how it is, with \"remember that\" before it.",
    ),
    (
        Topic::Forget,
        Plain,
        "Only the one who runs me can make me forget, {name}, with \"dormouse forget\". But I can remember something newer.",
    ),
    (
        Topic::GoOn,
        Plain,
        "Gladly, {name}. Say the whole of it: \"remember that …\", \"remind me at six to …\" or \"look around\".",
    ),
    (
        Topic::GoOn,
        Plain,
        "Then say it, {name}: \"look around\", \"remember that …\" or \"remind me in ten minutes to …\".",
    ),
    (Topic::GoOn, Gruff, "Then out with it: what shall I do?"),
    (Topic::GoOn, Gruff, "Fine. Say what."),
    (
        Topic::Unsaid,
        Plain,
        "I would rather not speak about myself, {name}.",
    ),
    (Topic::Unsaid, Plain, "That I keep to myself, {name}."),
    (
        Topic::Unsaid,
        Plain,
        "There is little to say about me, {name}.",
    ),
    (
        Topic::Unsaid,
        Warm,
        "You are kind to ask, {name}, but I say little about myself.",
    ),
    (
        Topic::Unsaid,
        Warm,
        "Let us talk about you instead, dear {name}.",
    ),
    (Topic::Unsaid, Gruff, "That is my own business."),
    (Topic::Unsaid, Gruff, "I do not talk about that."),
    (
        Topic::Unsaid,
        Formal,
        "I prefer not to speak about myself, {name}.",
    ),
    (
        Topic::Unsaid,
        Formal,
        "Permit me to pass over that, {name}.",
    ),
    (Topic::Unsaid, Playful, "Wouldn't you like to know, {name}!"),
    (Topic::Unsaid, Playful, "A mouse has its mysteries, {name}!"),
    (
        Topic::Unsaid,
        Timid,
        "Oh. I do not like to speak about myself, {name}.",
    ),
    (Topic::Unsaid, Timid, "I... I would rather not say, {name}."),
    (Topic::Promised, Plain, "I will remind you {what}"),
    (
        Topic::Promised,
        Plain,
        "It is noted, {name}. I will remind you {what}",
    ),
    (Topic::Promised, Gruff, "Fine. I remind you {what}"),
    (Topic::Promised, Gruff, "Noted. I remind you {what}"),
    (
        Topic::Promised,
        Formal,
        "Certainly, {name}. I shall remind you {what}",
    ),
    (
        Topic::Promised,
        Formal,
        "As you wish. I shall remind you {what}",
    ),
    (
        Topic::Reminder,
        Plain,
        "{name}, you asked me to remind you: {what}",
    ),
    (
        Topic::Reminder,
        Plain,
        "It is time, {name}. You wanted to be reminded: {what}",
    ),
    (Topic::Reminder, Gruff, "{name}. Your reminder: {what}"),
    (Topic::Reminder, Gruff, "Time, {name}: {what}"),
    (
        Topic::Reminder,
        Formal,
        "If I may remind you, {name}: {what}",
    ),
    (Topic::Reminder, Formal, "As promised, {name}: {what}"),
    (
        Topic::NoPromises,
        Plain,
        "I have nothing noted to do for you, {name}.",
    ),
    (
        Topic::NoPromises,
        Plain,
        "Nothing is pending between us, {name}.",
    ),
    (
        Topic::Unknown,
        Plain,
        "I do not know: I remember nothing about that.",
    ),
    (
        Topic::Unknown,
        Plain,
        "I remember nothing about that, {name}.",
    ),
    (
        Topic::Unknown,
        Plain,
        "Nobody has told me about that, as far as I remember.",
    ),
    (
        Topic::Withheld,
        Plain,
        "I may know something about that, but not everybody here has heard it. The one who told me can ask me in private.",
    ),
    (
        Topic::Withheld,
        Plain,
        "There may be something, but it is not for everybody here. The one who told me can ask me in private.",
    ),
    (
        Topic::NoReason,
        Plain,
        "I have said nothing here lately that I could explain, {name}.",
    ),
    (
        Topic::NoReason,
        Plain,
        "Which words of mine, {name}? I see none of them here.",
    ),
];
