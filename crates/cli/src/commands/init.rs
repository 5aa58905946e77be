//! `steadfast init`: arguments → a new catalogue, entered from the tags → the report.

use std::path::PathBuf;

use steadfast::Options;
use steadfast::catalogue::{Catalogue, FILE, FOLDER, Writer};

use crate::args::InitArgs;
use crate::exit::complain;

use super::{execute_with, report};

pub(super) fn run(args: &InitArgs) -> anyhow::Result<u8> {
    let options = Options { qos: args.level.level(), ..Options::default() };
    let writer = Writer { verb: "init", now: (options.now)(), wait: None };
    if args.rebind {
        let mut catalogue = Catalogue::open_writer(&file_of(args), &writer)?;
        catalogue.rebind(&args.root)?;
        return Ok(0);
    }
    if args.rebuild && Catalogue::is_found(&file_of(args)) {
        let aside = Catalogue::set_aside(&file_of(args), &writer)?;
        complain(&format!("the catalogue that was there is now `{}`", aside.display()));
    }
    execute_with(options, &args.output, report, |options, console| {
        steadfast::run::init(&args.root, args.catalogue.as_deref(), options, console)
    })
}

fn file_of(args: &InitArgs) -> PathBuf {
    args.catalogue.clone().unwrap_or_else(|| args.root.join(FOLDER).join(FILE))
}
