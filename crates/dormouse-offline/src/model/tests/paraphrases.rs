//! Wordings that the tables were not written from: how many of them are understood.

use crate::{
    english::said::Topic,
    intent::{Intent, recognise},
};

/// The least share of wordings of one skill that are understood, in percent.
const LEAST: usize = 80;

type Skill = (&'static str, fn(&Intent) -> bool, &'static [&'static str]);

const SKILLS: &[Skill] = &[
    (
        "errand",
        |it| matches!(it, Intent::Errand(_)),
        &[
            "Please ask Rat whether the ferry still runs.",
            "could you ask mole if he has seen my lantern?",
            "Dormouse, ask Rat where the key to the cellar is",
            "Would you mind asking Rat who took the kettle?",
            "Find out from Rat when the market opens, please",
            "Can you check with Mole whether the garden gate is shut?",
            "hi! go ask Rat what he knows about the harbour",
            "I'd like you to ask Rat about the walnut tree",
            "Have Rat tell us why the boat is late",
            "Go and ask the old rat which path is dry",
        ],
    ),
    (
        "greeting",
        |it| matches!(it, Intent::Talk(Topic::Greeting)),
        &[
            "Hullo old friend!",
            "oh hi Dormouse, didn't see you there",
            "Good evening to you",
            "hey hey",
            "Greetings, small one",
            "Morning, Dormouse!",
            "Yo!",
            "hello again, it has been ages",
            "Nice to meet you, I'm new in town",
            "Top of the morning to you!",
        ],
    ),
    (
        "how are you",
        |it| matches!(it, Intent::Talk(Topic::HowAreYou)),
        &[
            "How're you doing today?",
            "Hello Dormouse, how are you this fine morning?",
            "how's it going",
            "Are you well?",
            "how have you been keeping?",
            "What's up, Dormouse?",
            "Everything okay with you?",
            "So, how do you feel after last night?",
            "hope you are doing fine",
            "How's life treating you?",
        ],
    ),
    (
        "thanks",
        |it| matches!(it, Intent::Talk(Topic::Thanks)),
        &[
            "Thank you kindly, that helped a lot",
            "thx!",
            "Many thanks, Dormouse",
            "Oh, thanks a bunch",
            "I really appreciate your help",
            "That was very helpful",
            "cheers mate",
            "You're so kind!",
            "Much obliged to you",
            "I'm ever so grateful for this",
        ],
    ),
    (
        "bye",
        |it| matches!(it, Intent::Talk(Topic::Bye)),
        &[
            "Well, I must be off now",
            "See you tomorrow, Dormouse!",
            "Good night and sleep well",
            "bye bye",
            "Take care of yourself",
            "I have to go, my mother is calling",
            "Farewell, little mouse",
            "catch you later",
            "Okay, I'm leaving now",
            "Until we meet again",
        ],
    ),
    (
        "who are you",
        |it| matches!(it, Intent::Talk(Topic::WhoAreYou)),
        &[
            "And who might you be?",
            "What's your name, friend?",
            "Could you introduce yourself please?",
            "Tell me a bit about yourself",
            "Who am I talking to?",
            "What should I call you?",
            "Do you have a name?",
            "who r u",
            "I'd like you to tell me who you are",
            "Excuse me, who are you exactly?",
        ],
    ),
    (
        "abilities",
        |it| matches!(it, Intent::Talk(Topic::Abilities)),
        &[
            "What are you able to do for me?",
            "What else can you do?",
            "Help!",
            "how can you help me?",
            "What sort of things can you do?",
            "Tell me what you can do",
            "I need some help",
            "what can I ask you about?",
            "What are your skills?",
            "What are you good at, Dormouse?",
        ],
    ),
    (
        "joke",
        |it| matches!(it, Intent::Talk(Topic::Joke)),
        &[
            "Tell me a joke",
            "Do you know any jokes?",
            "Could you make me laugh?",
            "Say something funny, please",
            "My cat would love a joke",
            "Be funny for once!",
            "I could use a joke right now",
            "cheer me up, would you?",
            "Let's hear another joke",
            "We want to hear a joke about mice",
        ],
    ),
    (
        "remember",
        |it| matches!(it, Intent::Remember(_)),
        &[
            "Dormouse, could you please remember that the key is under the mat?",
            "Keep in mind that Bob is allergic to nuts.",
            "Please note that the shop closes at six",
            "Make a note: the code word is tulip",
            "don't you forget that I live in Hollow",
            "You should know that Carol moved away",
            "I want you to remember that my name is Ann",
            "Remember: no milk for Bob",
            "Write this down: three eggs, two onions",
            "for the record, I was here at noon",
        ],
    ),
    (
        "remind",
        |it| matches!(it, Intent::Remind(_) | Intent::Later(_)),
        &[
            "Could you remind me in ten minutes to feed the cat?",
            "remind me at six that Bob comes",
            "Dormouse, remind me tomorrow about the cake please",
            "In half an hour, remind me to leave",
            "Set a reminder for seven to call Bob",
            "Would you mind reminding me at noon to eat?",
            "don't let me forget to water the mint at eight",
            "Wake me in two hours",
            "please send me a reminder in an hour about the bread",
            "I need you to remind me of the meeting at 18:30",
        ],
    ),
    (
        "promises",
        |it| matches!(it, Intent::Promises),
        &[
            "What did you promise me?",
            "Which promises have you made to me?",
            "What reminders do I have?",
            "What's on my list?",
            "What are you going to remind me of?",
            "What have you promised me so far?",
            "show me my reminders",
            "Did you promise me anything?",
            "tell me my reminders please",
            "What do you still owe me?",
        ],
    ),
    (
        "why",
        |it| matches!(it, Intent::Why(_)),
        &[
            "Why did you say that?",
            "How do you know that?",
            "What makes you think so?",
            "who told you that?",
            "Where did you get that from?",
            "And why is that?",
            "What made you say that, Dormouse?",
            "how come you said that?",
            "Explain yourself!",
            "Could you explain that to me?",
            "What's your source for this?",
        ],
    ),
    (
        "look",
        |it| matches!(it, Intent::Look),
        &[
            "Where are you right now?",
            "Have a look around, please",
            "What can you see from there?",
            "Who else is here?",
            "Could you describe the room for me?",
            "Which exits are there?",
            "What is this place?",
            "tell me what you see",
            "Dormouse, where are we?",
            "What's around you?",
        ],
    ),
    (
        "follow",
        |it| matches!(it, Intent::Follow),
        &[
            "Follow me, Dormouse!",
            "Come with me please",
            "Would you accompany me for a while?",
            "stay close to me",
            "Come along, little one",
            "Let's go together",
            "Join me, will you?",
            "Could you walk with me?",
            "stick with me",
            "Come over here",
        ],
    ),
    (
        "wait",
        |it| matches!(it, Intent::Wait),
        &[
            "Wait here until I am back",
            "Stay put, please",
            "Don't move!",
            "Could you wait for me?",
            "hold on a second",
            "Just a moment",
            "Stay right where you are",
            "Please don't go anywhere",
            "Hang on, Dormouse",
            "remain here for now",
        ],
    ),
    (
        "go",
        |it| matches!(it, Intent::Go(_)),
        &[
            "Could you go to the kitchen?",
            "Please walk over to the garden",
            "Head north, Dormouse",
            "Let's go to the old mill",
            "Come to the kitchen with me",
            "Run upstairs",
            "Take the north exit",
            "I want you to go into the garden",
            "Meet me in the garden",
            "follow me into the kitchen",
            "Go outside",
        ],
    ),
    (
        "time",
        |it| matches!(it, Intent::Time),
        &[
            "What time is it?",
            "Do you know what time it is?",
            "Could you tell me the time?",
            "How late is it?",
            "what's the time, please",
            "What day is it today?",
            "Have you got the time?",
            "Excuse me, what is the hour?",
            "what's today's date?",
            "Dormouse, what time do you have?",
        ],
    ),
    (
        "ask",
        |it| matches!(it, Intent::Ask(_)),
        &[
            "What does Alice like to drink?",
            "Do you remember where the key is?",
            "Hi Dormouse, who lives in the old mill?",
            "Tell me about Bob",
            "I wonder: when does the shop close?",
            "Is Carol still in town?",
            "Any idea what my horse is called?",
            "can you tell me who sells tea",
            "Dormouse, did Bob say anything about the party?",
            "thanks! And where is the kettle?",
            "Why did Bob leave?",
        ],
    ),
];

#[test]
fn most_wordings_that_the_tables_were_not_written_from_are_understood() {
    let mut report = String::new();
    let (mut understood, mut all) = (0, 0);
    let mut poor = Vec::new();
    for (skill, is_it, wordings) in SKILLS {
        assert!(wordings.len() >= 8, "{skill}");
        let missed: Vec<_> = wordings
            .iter()
            .filter(|wording| !is_it(&recognise(wording, &["Dormouse"])))
            .collect();
        let right = wordings.len() - missed.len();
        report += &format!("{skill}: {right} of {}", wordings.len());
        report += &missed
            .iter()
            .map(|missed| format!("\n    {missed}"))
            .collect::<String>();
        report += "\n";
        understood += right;
        all += wordings.len();
        if right * 100 < LEAST * wordings.len() {
            poor.push(*skill);
        }
    }
    report += &format!("understood: {understood} of {all}");
    assert!(poor.is_empty(), "{poor:?}\n{report}");
    let figure = format!("{understood} of {all} wordings");
    assert!(
        include_str!("../../../README.md").contains(&figure),
        "the figure in README.md\n{report}"
    );
}
