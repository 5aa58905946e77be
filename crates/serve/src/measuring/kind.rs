//! The kinds of measurements that pages offer, and the command of each: a page measures what the
//! command measures with the same arguments.

use std::ffi::OsString;

use steadfast::Level;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::MeasureRequest;
use crate::config::MakeWorkload;

/// A kind of measurement, in the order of the form: what most people want to know comes first.
#[derive(Clone, Copy, Debug, EnumString, IntoStaticStr, PartialEq, Eq, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum MeasureKind {
    Hash,
    Read,
    Write,
    Pair,
    Cipher,
    Levels,
    Contention,
    Cpu,
    Kernels,
    Queue,
}

impl MeasureKind {
    /// Returns the name in addresses and commands.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether its command takes a folder, in which it makes one of its own.
    fn takes_folder(self) -> bool {
        !matches!(self, MeasureKind::Cpu | MeasureKind::Contention)
    }
}

/// How thorough a measurement is, in the order of the form.
#[derive(Clone, Copy, Debug, EnumString, IntoStaticStr, PartialEq, Eq, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum MeasureProfile {
    Quick,
    Small,
    Standard,
}

impl MeasureProfile {
    /// Returns the name in addresses.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// The levels that are compared with each other: the extremes differ most.
const LEVELS: [Level; 2] = [Level::Background, Level::UserInteractive];

/// Returns whether a kind can be measured: ciphers need a worker process, a pair two folders.
pub(crate) fn is_offered(kind: MeasureKind, make: MakeWorkload, folders: usize) -> bool {
    match kind {
        MeasureKind::Cipher => make(&[MeasureKind::Cipher.name().into()]).is_some(),
        MeasureKind::Pair => folders > 1,
        _ => true,
    }
}

/// Returns the arguments of `steadfast measure` that a request is.
pub(super) fn arguments_of(request: &MeasureRequest) -> Vec<OsString> {
    let levels = LEVELS.map(|level| level.to_string()).join(",");
    let mut words: Vec<&str> = match request.kind {
        MeasureKind::Kernels => vec!["hash", "--part", "kernels"],
        MeasureKind::Levels => vec!["hash", "--part", "sizes", "--qos", &levels],
        MeasureKind::Contention => vec!["cpu", "--mixed", "--threads", "1", "--qos", &levels],
        kind => vec![kind.name()],
    };
    match request.profile {
        MeasureProfile::Quick => words.push("--quick"),
        MeasureProfile::Small if matches!(request.kind, MeasureKind::Read | MeasureKind::Write) => {
            words.extend(["--profile", "small"]);
        }
        _ => {}
    }
    let folders = std::iter::once(&request.folder).chain(&request.beside);
    let folders = folders.filter(|_| request.kind.takes_folder()).map(|folder| folder.into());
    words.into_iter().map(OsString::from).chain(folders).collect()
}
