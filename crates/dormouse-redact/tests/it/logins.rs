//! What people type to log in to a game, also by mistake into a room.

use dormouse_redact::{RedactionProfile, mask};

const MASK: &str = "[secret: password]";

#[test]
fn the_password_of_a_login_is_found() {
    for (said, masked) in [
        ("login alice:hunter2", "login alice:*"),
        (
            "I log in as alice:Tr0ub4dor&3 there",
            "I log in as alice:* there",
        ),
        ("connect alice hunter2", "connect alice *"),
        (
            "Connect \"Alice Liddell\" hunter2",
            "Connect \"Alice Liddell\" *",
        ),
        ("type `co alice hunter2`", "type `co alice *`"),
        ("create Alice s3cr3t!", "create Alice *"),
        ("@password hunter2=swordfish9", "@password *"),
        ("@password tulip = marmalade", "@password *"),
        ("@newpassword Alice=marmalade", "@newpassword Alice=*"),
        ("/login hunter2", "/login*"),
        ("/register hunter2 hunter2", "/register*"),
        ("/msg NickServ identify hunter2", "/msg NickServ identify*"),
    ] {
        for said in [said.to_owned(), format!("first\n{said}\nlast")] {
            let expected = said.replace(
                said.lines().find(|line| line.len() > 5).unwrap(),
                &masked.replace('*', MASK),
            );
            for profile in [RedactionProfile::Memory, RedactionProfile::Values] {
                let found = mask(&said, profile);
                assert_eq!(found, expected);
                assert_eq!(mask(&found, profile), found);
            }
        }
    }
}

#[test]
fn what_only_begins_like_a_login_stays() {
    for said in [
        "connect the dots",
        "Connect Alice with Bob42, will you?",
        "create a password",
        "create a room for player1 and player2",
        "connect mud.example.org 4000",
        "login mud.example.org:4000",
        "we sign in at 10:30pm",
        "log in to server: it is up",
        "I cannot connect to localhost:8080",
        "ch 3 of the book",
        "@password <old>=<new>",
        "@password old=new",
        "the password is long = safe",
        "/login with your account",
        "GET /login page",
        "nickserv identify yourself",
        "/register today",
    ] {
        assert_eq!(mask(said, RedactionProfile::Memory), said);
    }
}
