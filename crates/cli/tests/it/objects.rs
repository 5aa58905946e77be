//! Objects of a store from outside: a frozen report, and what is said where no store can be asked.

use std::path::Path;

use crate::tree::Tree;

/// A frozen report, and where its objects are.
const REPORT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/formats/objects/v1/computed/manifest.json"
);
const URL: &str = "s3://amzn-s3-demo-bucket1/archive";

fn archive() -> Tree {
    let tree = Tree::new().file("plain.txt", b"123456789").file("damaged.txt", b"damaged");
    let tree = tree.file("gone.txt", b"gone").file("two words+é.txt", b"123456789");
    tree.run(["tag", "."]).succeeds();
    tree
}

#[test]
fn a_report_becomes_verdicts() {
    assert!(Path::new(REPORT).is_file());
    let tree = archive();
    let told = tree.run(["import", REPORT, "--of", URL, ".", "-v"]).ends(1).stdout().to_owned();
    for line in [
        "intact          plain.txt  (by SHA-256)\n",
        "intact          two words+é.txt  (by CRC-64/NVME of the file here)\n",
        "differs         damaged.txt  (by SHA-256)\n",
        "missing         gone.txt  (the store: Key not found)\n",
        "looked at 6 objects in ",
        "none was downloaded\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let quiet = tree.run(["import", REPORT, "--of", URL, ".", "-q"]).ends(1).stdout().to_owned();
    assert!(!quiet.contains("intact") && !quiet.contains("looked"), "{quiet}");
    let words = ["import", REPORT, "--of", URL, ".", "--json", "--no-read"];
    let objects = tree.run(words).ends(1).objects();
    assert_eq!(objects[0]["verdict"], "intact");
    assert_eq!(objects[0]["object"], "archive/plain.txt");
    assert_eq!(objects[0]["kept"][0]["extent"], "whole");
    assert_eq!(objects[1]["finding"], "not_comparable");
    assert!(objects[1].get("verdict").is_none());
    let summary = &objects.last().unwrap()["summary"];
    assert_eq!((&summary["objects"], &summary["bytes_downloaded"]), (&6.into(), &0.into()));
    assert_eq!(summary["found"]["not_comparable"], 1);
}

#[test]
fn without_a_key_or_a_store_nothing_is_said_of_objects() {
    let tree = archive();
    let ask = |arguments: &[&str], secret: Option<&str>| {
        let mut command = tree.command(["check", "s3://bucket", "."]);
        command.args(arguments).env("HOME", tree.path(""));
        let others = ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_REGION"];
        for name in others.into_iter().chain(["AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"]) {
            command.env_remove(name);
        }
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            match secret {
                Some(secret) => command.env(name, secret),
                None => command.env_remove(name),
            };
        }
        let outcome = crate::tree::Outcome::of(&mut command).ends(2);
        assert!(outcome.stdout().is_empty());
        outcome.stderr().to_owned()
    };
    assert!(ask(&[], None).contains("no key was found"));
    let refused = ask(&["--endpoint", "ftp://127.0.0.1"], Some("verysecret"));
    assert!(refused.contains("is no address of a store"), "{refused}");
    // What the profile says besides counts for a key of the environment, and without one.
    std::fs::create_dir(tree.path(".aws")).unwrap();
    std::fs::write(tree.path(".aws/config"), "[default]\nregion = b@d\n").unwrap();
    for (arguments, secret) in [(&[][..], Some("verysecret")), (&["--anonymous"][..], None)] {
        let refused = ask(arguments, secret);
        assert!(refused.contains("`b@d` is no name of a region"), "{refused}");
    }
    std::fs::remove_dir_all(tree.path(".aws")).unwrap();
    // Nobody listens at port 1.
    let gone = ask(&["--endpoint", "http://127.0.0.1:1"], Some("verysecret"));
    assert!(gone.contains("cannot reach `127.0.0.1:1`"), "{gone}");
    assert!(!gone.contains("verysecret"));
}
