//! Texts with and without secrets and personal data. Keys are made up, and written in two parts, so that no scanner reports
//! them.

use dormouse_redact::SensitiveKind::{self, *};

/// A text, with its secrets and their kinds.
pub(crate) type Case = (&'static str, &'static [(&'static str, SensitiveKind)]);

/// Credentials and cards, which are found in memories and recordings.
pub(crate) const CREDENTIALS: &[Case] = &[
    // Passwords with the signs that separate settings.
    ("password: Tr0ub4dor&3zz", &[("Tr0ub4dor&3zz", Password)]),
    ("password: Abc1&def2GHI", &[("Abc1&def2GHI", Password)]),
    (
        "the password is Abc1@def2;GHI9",
        &[("Abc1@def2;GHI9", Password)],
    ),
    ("pw: Zx81Qq77!", &[("Zx81Qq77!", Password)]),
    ("mot de passe : Zx81Qq77", &[("Zx81Qq77", Password)]),
    ("?password=Zx81Qq77&amp;user=bob", &[("Zx81Qq77", Password)]),
    // Keys of known services.
    (
        concat!("use sk", "-abcdEFGH1234ijklMNOP5678qrst now"),
        &[(concat!("sk", "-abcdEFGH1234ijklMNOP5678qrst"), ApiKey)],
    ),
    (
        concat!("sk", "-proj-abcDEF0123456789"),
        &[(concat!("sk", "-proj-abcDEF0123456789"), ApiKey)],
    ),
    (
        concat!("(sk", "-ant-api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3)"),
        &[(concat!("sk", "-ant-api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3"), ApiKey)],
    ),
    (
        concat!("sk", "-or-v1-0123456789abcdef0123456789abcdef"),
        &[(
            concat!("sk", "-or-v1-0123456789abcdef0123456789abcdef"),
            ApiKey,
        )],
    ),
    (
        concat!("(ghp", "_16C7e42F292c6912E7710c838347Ae178B4a)"),
        &[(
            concat!("ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"),
            ApiKey,
        )],
    ),
    (
        concat!("ghp", "_0123456789abcdefABCDEF"),
        &[(concat!("ghp", "_0123456789abcdefABCDEF"), ApiKey)],
    ),
    (
        concat!("github", "_pat_11ABCDEFG0aBcDeFgHiJkL_more"),
        &[(
            concat!("github", "_pat_11ABCDEFG0aBcDeFgHiJkL_more"),
            ApiKey,
        )],
    ),
    (
        concat!("xoxb", "-123456789012-abcdefghijkl"),
        &[(concat!("xoxb", "-123456789012-abcdefghijkl"), ApiKey)],
    ),
    (
        concat!("AKIA", "IOSFODNN7EXAMPLE."),
        &[(concat!("AKIA", "IOSFODNN7EXAMPLE"), ApiKey)],
    ),
    (
        concat!("AIza", "SyA1234567890abcdefghijklmnopqrstuv"),
        &[(
            concat!("AIza", "SyA1234567890abcdefghijklmnopqrstuv"),
            ApiKey,
        )],
    ),
    (
        concat!("glpat", "-ABCDEFGHIJ0123456789"),
        &[(concat!("glpat", "-ABCDEFGHIJ0123456789"), ApiKey)],
    ),
    (
        concat!("npm", "_abcdefghijklmnopqrstuvwxyz0123456789"),
        &[(
            concat!("npm", "_abcdefghijklmnopqrstuvwxyz0123456789"),
            ApiKey,
        )],
    ),
    (
        concat!("hf", "_abcdefghijKLMNOPQRST0123456789"),
        &[(concat!("hf", "_abcdefghijKLMNOPQRST0123456789"), ApiKey)],
    ),
    (
        concat!("https://example.com/sk", "-abcdEFGH1234ijklMNOP5678qrst"),
        &[(concat!("sk", "-abcdEFGH1234ijklMNOP5678qrst"), ApiKey)],
    ),
    (
        concat!("bot 123456789:AA", "abcdefghijklmnopqrstuvwxyz0123456"),
        &[(
            concat!("123456789:AA", "abcdefghijklmnopqrstuvwxyz0123456"),
            Token,
        )],
    ),
    (
        concat!(
            "https://hooks.slack.com/services/",
            "T0001/B0001/abcdefGHIJKL012345"
        ),
        &[("T0001/B0001/abcdefGHIJKL012345", Token)],
    ),
    // Values after the name of a secret.
    ("the password is hunter2.", &[("hunter2", Password)]),
    (
        "my password is hunter2, now let me in",
        &[("hunter2", Password)],
    ),
    (
        "My password was \"open sesame\", he said",
        &[("open sesame", Password)],
    ),
    ("My Password was \"s3cret!\".", &[("s3cret!", Password)]),
    ("mein Passwort ist 4pfelbaum.", &[("4pfelbaum", Password)]),
    ("Passwort: hunter2", &[("hunter2", Password)]),
    (
        "The password for the north gate is Mellon99!",
        &[("Mellon99!", Password)],
    ),
    ("Password: swordfish\nBob nods", &[("swordfish", Password)]),
    ("password=swordfish&user=bob", &[("swordfish", Password)]),
    ("pwd=hunter22", &[("hunter22", Password)]),
    ("DB_PASSWORD='a b c d'", &[("a b c d", Password)]),
    ("{\"apiKey\": \"abcd\"}", &[("abcd", ApiKey)]),
    (
        "{\\\"password\\\":\\\"hunter22\\\"}",
        &[("hunter22", Password)],
    ),
    ("config[\"password\"] = \"tiger5\"", &[("tiger5", Password)]),
    ("api key: 9f8e7d", &[("9f8e7d", ApiKey)]),
    ("-H 'x-api-key: qwertzuiop'", &[("qwertzuiop", ApiKey)]),
    ("OPENAI_API_KEY=abc123xyz", &[("abc123xyz", ApiKey)]),
    ("client-secret => q1w2e3", &[("q1w2e3", ApiKey)]),
    ("the token is a1b2c3d4", &[("a1b2c3d4", Token)]),
    ("?token=abc123def&x=1", &[("abc123def", Token)]),
    (
        "Authorization: Bearer abcdef123456",
        &[("abcdef123456", Token)],
    ),
    (
        "authorization: Bearer abcdefgh12345678",
        &[("abcdefgh12345678", Token)],
    ),
    ("Basic YWxpY2U6cHc=", &[("YWxpY2U6cHc=", Token)]),
    ("my password is 123456", &[("123456", Password)]),
    ("pwd：geheim", &[("geheim", Password)]),
    (
        "restic --password Tr0ub4dor backup",
        &[("Tr0ub4dor", Password)],
    ),
    // Signed tokens, private keys.
    (
        concat!(
            "eyJ",
            "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
        ),
        &[(
            concat!(
                "eyJ",
                "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
            ),
            Token,
        )],
    ),
    (
        concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"),
        &[(
            concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"),
            Token,
        )],
    ),
    (
        concat!(
            "key:\n-----BEGIN RSA ",
            "PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nbye"
        ),
        &[(
            concat!(
                "-----BEGIN RSA ",
                "PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
            ),
            PrivateKey,
        )],
    ),
    (
        concat!("-----BEGIN ", "PRIVATE KEY-----\nMIIEvQ"),
        &[(
            concat!("-----BEGIN ", "PRIVATE KEY-----\nMIIEvQ"),
            PrivateKey,
        )],
    ),
    // Cards: numbers of test cards.
    (
        "pay 4111 1111 1111 1111 now",
        &[("4111 1111 1111 1111", CardNumber)],
    ),
    ("378282246310005", &[("378282246310005", CardNumber)]),
    ("3782-822463-10005,", &[("3782-822463-10005", CardNumber)]),
    ("5555555555554444", &[("5555555555554444", CardNumber)]),
];

/// Passwords in URLs: the text, what memories hide (the password), and what recordings hide (user and password).
pub(crate) const ADDRESSES: &[(&str, &str, &str)] = &[
    ("postgres://bob:tiger@db/x", "tiger", "bob:tiger"),
    ("amqp://a:b@c:d@host", "b@c:d", "a:b@c:d"),
    ("https://alice:pw@localhost/x", "pw", "alice:pw"),
];

/// Personal data, which is found only in recordings.
pub(crate) const PERSONAL: &[Case] = &[
    (
        "to alice.b+c@mail.example.org.",
        &[("alice.b+c@mail.example.org", Email)],
    ),
    (
        "to=alice%40example.org&x",
        &[("alice%40example.org", Email)],
    ),
    (
        "call +49 (171) 123-4567 now",
        &[("+49 (171) 123-4567", Phone)],
    ),
    ("call 555-012-3456.", &[("555-012-3456", Phone)]),
    ("call (555) 012-3456", &[("(555) 012-3456", Phone)]),
    ("Tel. 0171/1234567", &[("0171/1234567", Phone)]),
    ("from 203.0.113.9.", &[("203.0.113.9", IpAddress)]),
    ("at [2001:db8::17]:80", &[("2001:db8::17", IpAddress)]),
    ("in /home/alice/notes", &[("alice", UserName)]),
    ("C:\\\\Users\\\\bob\\\\x", &[("bob", UserName)]),
    (
        "organization org-AbC0123456789xyz0123 on",
        &[("org-AbC0123456789xyz0123", AccountId)],
    ),
    // Servers print keys with stars in their middle, which may still identify the user.
    (
        concat!("sk", "-abcd********wxyz"),
        &[(concat!("sk", "-abcd********wxyz"), ApiKey)],
    ),
];

/// Text that is random enough to be masked in memories.
pub(crate) const RANDOM: &[Case] = &[
    (
        "wJa1rXUtn4FEM/K7MD2NG/bPx9RfiCYzQ8pL5Ke",
        &[("wJa1rXUtn4FEM/K7MD2NG/bPx9RfiCYzQ8pL5Ke", RandomText)],
    ),
    (
        "dGhpcyBJcyBB7x9Qp3Rk2LmZ8vT1==",
        &[("dGhpcyBJcyBB7x9Qp3Rk2LmZ8vT1==", RandomText)],
    ),
    (
        "k3j9x0q2m5v8b1n4c7z6l0p9o8i7u6y5",
        &[("k3j9x0q2m5v8b1n4c7z6l0p9o8i7u6y5", RandomText)],
    ),
    (
        "4f3c2b1a09876543210fedcba98765434f3c2b1a09876543210fedcba9876543",
        &[(
            "4f3c2b1a09876543210fedcba98765434f3c2b1a09876543210fedcba9876543",
            RandomText,
        )],
    ),
];

/// Text without a match in any profile.
pub(crate) const HARMLESS: &[&str] = &[
    "",
    "the password is long",
    "The password is required. Please enter your password.",
    "Alice forgot her password again, and the token too.",
    "the password is case-sensitive and well-kept",
    "Password: the one you know from last time",
    "password: ********",
    "password=<password>",
    "password=${DB_PASSWORD}",
    "the password is long, the token: Hello, api_key: ${API_KEY}, secret=<secret>",
    "my password is 123",
    "the password is [secret-1].",
    "Her password was forgotten in 2019",
    "the tokens are 12345678a",
    "password isolated7 it",
    "the secret is out",
    "the secret is that she loves tea",
    "the token is on the table, worth 50 gold",
    "The token is 2 coins wide",
    "max_tokens: 4096",
    "token_count = 1234567",
    "the password for the vault is held by 3 guards",
    "He wrote a paper on passwords: hunting and storing.",
    "password hashing is slow",
    "risk-assessment-of-the-2024-season-and-more",
    "task sk-1234",
    "550e8400-e29b-41d4-a716-446655440000",
    "3f786850e387550fdab836ed",
    "2026-11-21T03:31:33.123456Z",
    "1795219200999999",
    "order 4111111111111112",
    "4111 1111 1111 1112 and 1-2-3 and 10 20 30 40",
    "#1234, item-2024-winter-event-chest-00012",
    "https://example.com/wiki/Some_Page/2024/11/21/AbCdE",
    "/usr/local/lib/python3.12/site-packages/SomePackage/module.py",
    "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "鍵は青い箱にあります。🔑 пароль длинный",
    "Bearer of bad news, basic understanding",
    "The bearer certificates of the task-management are basic knowledge.",
    "chatcmpl-123 gpt-4o-2024-08-06 2026-11-21T06:36:49.123Z",
    "{\"created\":1732171234567,\"total_duration\":5043500667,\"pi\":3.14159265}",
    "127.0.0.1 0.0.0.0 ::1 std::fmt::Display a::b 12:34:56 1.2.3",
    "[secret-1] [email-2] password=[secret-3] Bearer [secret-4]",
    "[secret: api key] password=[secret: password]",
    "@mention a@b 5@6 hf_hub_download",
    "claude-3-5-sonnet-20241022",
    "/v1/chat/completions",
    "internationalisation",
];

/// Text without a match in memories, where prose must stay.
pub(crate) const HARMLESS_IN_PROSE: &[&str] = &[
    "Password: required",
    "The secret: bake it slowly, at level-10 heat.",
    "sk-learn-contrib-is-a-nice-package-2024",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "d41d8cd98f00b204e9800998ecf8427e",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "obj_4821_of_room_4822_in_zone_7",
    "thisIsAVeryLongCamelCaseIdentifierOfJava2",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    // Ids of players, orders and places, and where things are.
    "player 612345678901234560 of guild 681234567890123459",
    "order 2024-000123-77, invoice 100200300400500",
    "the cave is at 4012 64 8888, the mill at -1200.5 70 3300.25",
    "teleport 120 340 1200",
    "call room 0049-1",
    "user-3 of org-unit-12",
    "Basic Training begins at level 10, Bearer Level-10",
    "Cookie: chocolate, with a signature: lovely",
    "she said the keyword is swordfish",
];

/// Text with personal data, and nothing else to find.
pub(crate) const ONLY_PERSONAL: &[&str] = &[
    "https://alice@example.com:8080/path",
    "call +49 4111 1111 111",
    "from 203.0.113.9 by alice@example.org in /home/alice/x",
];
