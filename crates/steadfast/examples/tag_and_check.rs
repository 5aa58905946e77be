//! Tags the files of a folder that have no tag, and checks all of them.
//!
//! `cargo run --package steadfast --example tag_and_check -- FOLDER`

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;

use steadfast::Verdict;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("name a folder")?;
    let tagged = steadfast::tag(&folder)?;
    println!("{} files, {} bytes hashed", tagged.files, tagged.bytes);
    let checked = steadfast::check(&folder)?;
    for verdict in Verdict::ALL {
        println!("{:>8} {verdict}", checked.verdicts(verdict));
    }
    Ok(checked.exit_status().max(tagged.exit_status()).into())
}
