//! Reads two folders, and prints each path at which the second is no copy of the first.
//!
//! `cargo run --package steadfast --example compare -- FOLDER COPY`

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;

use steadfast::diff::{DiffMonitor, Difference, PathPair, Trees, diff};
use steadfast::{Notice, Options};

struct Differences;

impl DiffMonitor for Differences {
    fn pair(&mut self, pair: &PathPair) {
        if pair.difference != Difference::Same {
            println!("{:>10} {:?}", pair.difference.name(), pair.path);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        println!("{:>10} {}", "note", notice.text);
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut folders = std::env::args_os().skip(1).map(PathBuf::from);
    let (folder, copy) = folders.next().zip(folders.next()).ok_or("name two folders")?;
    let mut trees = Trees::new(folder, copy);
    trees.read = true;
    let summary = diff(&trees, &Options::default(), &mut Differences)?;
    println!("{} files and {} files", summary.files_here, summary.files_there);
    Ok(summary.exit_status().into())
}
