//! The chores of this repository: takes a verb from the command line, returns an exit status.
//!
//! It knows the layout of the repository. It must not know how the product works: it links no other
//! crate of this workspace.

#![allow(clippy::print_stderr, clippy::print_stdout)]
#![forbid(unsafe_code)]

mod mac_report;
mod mutants;
mod package;
mod test;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

/// The verbs and what they do, in the order `help` shows them. Documents may name no others.
const VERBS: &[(&str, &str)] = &[
    ("tidy", "checks the house style: borders, budgets, words, documents"),
    (
        "test",
        "sets up what is missing and runs every check (--quick, --only, --skip, --allow-missing)",
    ),
    ("mutants", "runs cargo mutants over verdicts, tags, stores and verbs; takes its arguments"),
    (
        "package",
        "makes packages in a folder, or tries them (--out DIR, --only KIND, --target T, --verify)",
    ),
    ("mac-report", "runs ten checks on a Mac, for an issue (--cloud DIR, --nas DIR, --show)"),
    ("help", "prints this"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one verb. `Ok(false)` means that it ran and found problems.
fn run(arguments: &[String]) -> anyhow::Result<bool> {
    let root = root()?;
    let (verb, rest) = match arguments.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", arguments),
    };
    match verb {
        "tidy" if rest.is_empty() => tidy::run(&root),
        "tidy" => bail!("`tidy` takes no arguments"),
        "test" => test::run(&root, rest),
        "mutants" => mutants::run(&root, rest),
        "package" => package::run(&root, rest),
        "mac-report" => mac_report::run(&root, rest),
        "help" | "-h" | "--help" => {
            println!("cargo xtask VERB\n");
            for (name, does) in VERBS {
                println!("  {name:<10} {does}");
            }
            println!("\nsteps of `test`, in order: {}", test::step_names().join(", "));
            Ok(true)
        }
        other => bail!("no verb `{other}`; try `cargo xtask help`"),
    }
}

/// The repository's root: the folder above this package.
///
/// Cargo sets it at run time. The value at build time may be that of another checkout with the same
/// build folder.
fn root() -> anyhow::Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let package = package.context("not started by cargo; run `cargo xtask`")?;
    Ok(package.parent().context("the package has no parent folder")?.to_path_buf())
}

/// The cargo that started this program, so that a pinned toolchain stays pinned.
fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}
