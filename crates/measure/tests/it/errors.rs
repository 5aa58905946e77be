//! Errors: the message says each reason once, and programs find the cause.

use std::error::Error as _;
use std::io;
use std::path::Path;

use steadfast_measure::{Error, ErrorKind, place};

/// Returns the kind of the system's error that an error was caused by.
fn cause(error: &Error) -> Option<io::ErrorKind> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return Some(cause.kind());
        }
        source = cause.source();
    }
    None
}

#[test]
fn the_reason_of_the_system_is_said_once() {
    let error = place::examine(Path::new("/no/such/folder")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System);
    let reason = io::Error::from_raw_os_error(2).to_string();
    let said = error.to_string();
    assert_eq!(said.matches(&reason).count(), 1, "{said}");
    assert!(said.starts_with("`/no/such/folder`: cannot look at it: "), "{said}");
    assert_eq!(cause(&error), Some(io::ErrorKind::NotFound));
}

#[test]
fn an_error_of_a_run_keeps_its_kind_and_its_reason() {
    let reason = io::Error::from_raw_os_error(13);
    let wanted = reason.to_string();
    let run = steadfast::Error::system("start a thread", reason).at(Path::new("/x"));
    let error = Error::from(run);
    assert_eq!(error.kind(), ErrorKind::System);
    let said = error.to_string();
    assert_eq!(said.matches(&wanted).count(), 1, "{said}");
    assert_eq!(cause(&error), Some(io::ErrorKind::PermissionDenied));
    assert_eq!(Error::from(steadfast::Error::usage("no")).kind(), ErrorKind::Usage);
}
