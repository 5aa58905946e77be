//! Errors: each reason is said, and said once.

use std::error::Error as _;
use std::path::Path;

use steadfast_measure::{Error, ErrorKind, place};

/// Returns what an error and its sources say, checking that none repeats the next one.
fn said(error: &Error) -> String {
    let mut messages = vec![error.to_string()];
    let mut source = error.source();
    while let Some(next) = source {
        let last = messages.last().expect("the error itself is the first");
        assert!(!last.contains(&next.to_string()), "`{last}` repeats `{next}`");
        messages.push(next.to_string());
        source = next.source();
    }
    messages.join(": ")
}

#[test]
fn the_reason_of_the_system_is_said_once() {
    let error = place::examine(Path::new("/no/such/folder")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System);
    let reason = std::io::Error::from_raw_os_error(2).to_string();
    let said = said(&error);
    assert_eq!(said.matches(&reason).count(), 1, "{said}");
    assert!(said.starts_with("`/no/such/folder`: cannot look at it: "), "{said}");
}

#[test]
fn an_error_of_a_run_keeps_its_kind_and_its_reason() {
    let reason = std::io::Error::from_raw_os_error(13);
    let wanted = reason.to_string();
    let run = steadfast::Error::system("start a thread", reason).at(Path::new("/x"));
    let error = Error::from(run);
    assert_eq!(error.kind(), ErrorKind::System);
    let said = said(&error);
    assert_eq!(said.matches(&wanted).count(), 1, "{said}");
    assert_eq!(Error::from(steadfast::Error::usage("no")).kind(), ErrorKind::Usage);
}
