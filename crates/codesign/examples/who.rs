//! Prints who signed some code, and whether it is whole: `cargo run --example who -- Some.app`.

#![allow(clippy::print_stdout)]

use steadfast_codesign::{VerifyOptions, each_code_at};

fn main() {
    for path in std::env::args_os().skip(1) {
        each_code_at(path.as_ref(), &mut |path, code| {
            let found = code.and_then(|code| code.verify(&VerifyOptions::default()));
            match found.map(|found| (found.outcome(), found.signers().join(", "))) {
                Ok((outcome, signers)) => println!("{path:?}: {outcome:?}, signed by: {signers}"),
                Err(error) => println!("{path:?}: {error}"),
            }
        });
    }
}
