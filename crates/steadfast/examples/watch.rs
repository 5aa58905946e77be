//! Checks a folder and prints each file that is not intact, as soon as it is known.
//!
//! `cargo run --package steadfast --example watch -- FOLDER`

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;

use steadfast::{Event, Run, Verdict};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("name a folder")?;
    let summary =
        Run::check([folder]).exclude(".cache/").run(&mut |event: &Event| match event {
            Event::File(file) if file.verdict != Some(Verdict::Intact) => {
                let path = file.path.to_path();
                match (&file.verdict, &file.trouble) {
                    (Some(verdict), None) => println!("{verdict:>10} {path:?}"),
                    (Some(verdict), Some(trouble)) => println!("{verdict:>10} {path:?}: {trouble}"),
                    (None, _) => {}
                }
            }
            Event::Finding(noted) => println!("{:>10} {:?}", noted.finding.name(), noted.path),
            Event::Notice(notice) => println!("{:>10} {}", "note", notice.text),
            _ => {}
        })?;
    println!("{} files in {:.1} s", summary.files, summary.elapsed_ns as f64 / 1e9);
    Ok(summary.exit_status().into())
}
