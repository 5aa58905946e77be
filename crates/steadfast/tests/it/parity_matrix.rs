//! The guarantee of parity, crossed in full: damage × file × state of the parity × catalogue.
//!
//! There are two outcomes: the file is as it was tagged, or it is untouched and the status is 3.
//! A case of a large file takes a second, so of these one in [`STEP`] is tried, unless
//! `STEADFAST_WHOLE_MATRIX` is set.
//! Which of the two is computed here from the pages that are lost, so a file within the guarantee
//! must come back, and one beyond it must not.

mod damage;
mod protected;

use std::collections::BTreeMap;
use std::env;
use std::ops::ControlFlow;
use std::thread;

use steadfast::parity::{NotProtected, ParityMonitor};
use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairSummary, RepairTarget,
    repair_files,
};
use steadfast::{Event, Monitor, Selection};

use damage::DAMAGES;
use protected::{Expected, FILES, PARITY_STATES, ProtectedTree};

/// Makes the test try every case.
const WHOLE_MATRIX: &str = "STEADFAST_WHOLE_MATRIX";

/// Of the cases of a file of more than [`LARGE_LEN`] bytes, one in this many is tried. It has no
/// divisor in common with the numbers of damages and of states of the parity, so each of them is
/// tried with each large file.
const STEP: usize = 11;
const LARGE_LEN: usize = 4 << 20;

struct Quiet;

impl Monitor for Quiet {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl ParityMonitor for Quiet {
    fn not_protected(&mut self, _file: &NotProtected) {}
}

impl RepairMonitor for Quiet {
    fn planned(&mut self, _target: &RepairTarget, _outcome: &RepairOutcome) {}

    fn consents(&mut self, _files: u64) -> bool {
        false
    }

    fn repaired(&mut self, _target: &RepairTarget, _outcome: &RepairOutcome) {}
}

fn repair(tree: &ProtectedTree) -> RepairSummary {
    let options = tree.options();
    let selection = Selection::of([tree.root().to_owned()]);
    let request = RepairRequest {
        copies: Copies::default(),
        mode: RepairMode::Yes,
        in_place: false,
        with_special: false,
        suspects: false,
        to_tag: false,
        all_lost: false,
    };
    repair_files(&selection, &options, &request, &mut Quiet).unwrap()
}

/// Numbers of cases by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    restored: u32,
    untouched: u32,
    /// Cases in which nothing but the damaged parity knew of the file.
    unknown: u32,
    /// Cases without damage, such as a flipped bit of an empty file.
    none: u32,
}

impl Counts {
    fn add(&mut self, expected: Option<Expected>) {
        match expected {
            Some(Expected::Restored) => self.restored += 1,
            Some(Expected::Untouched) => self.untouched += 1,
            Some(Expected::Unknown) => self.unknown += 1,
            None => self.none += 1,
        }
    }
}

/// Counts by the name of a column of the matrix.
type Columns = BTreeMap<&'static str, Counts>;

/// Runs all cases of one kind of file.
fn cases_of(number: usize, is_whole: bool) -> Columns {
    let mut columns = Columns::new();
    for catalogue in [true, false] {
        let tree = ProtectedTree::new(&FILES[number], catalogue);
        for (row, state) in PARITY_STATES.into_iter().enumerate() {
            tree.set_parity(state);
            for (column, damage) in DAMAGES.into_iter().enumerate() {
                let case = row * DAMAGES.len() + column + usize::from(catalogue);
                if !is_whole && FILES[number].len > LARGE_LEN && !case.is_multiple_of(STEP) {
                    continue;
                }
                let name = format!("{}, {damage:?}, {state:?}, {catalogue}", tree.name());
                let damaged = tree.damage(damage, state);
                if let Some(file) = &damaged {
                    tree.assert_outcome(file, &repair(&tree), &name);
                    tree.restore();
                }
                let expected = damaged.map(|file| file.expected);
                let with = if catalogue { "a catalogue" } else { "no catalogue" };
                for column in [tree.name(), damage.name(), state.name(), with] {
                    columns.entry(column).or_default().add(expected);
                }
            }
        }
    }
    columns
}

#[test]
fn a_damaged_file_comes_back_whole_or_is_untouched() {
    let is_whole = env::var_os(WHOLE_MATRIX).is_some();
    let halves = thread::scope(|scope| {
        let of = |half: usize| {
            move || {
                let files = (half..FILES.len()).step_by(2);
                files.map(|number| cases_of(number, is_whole)).collect::<Vec<Columns>>()
            }
        };
        let threads = [0, 1].map(|half| scope.spawn(of(half)));
        threads.map(|thread| thread.join().unwrap())
    });
    let mut columns = Columns::new();
    for (name, counts) in halves.into_iter().flatten().flatten() {
        let sum = columns.entry(name).or_default();
        sum.restored += counts.restored;
        sum.untouched += counts.untouched;
        sum.unknown += counts.unknown;
        sum.none += counts.none;
    }
    println!("{:<28} restored  untouched  unknown  no damage", "");
    for (name, counts) in &columns {
        let Counts { restored, untouched, unknown, none } = counts;
        println!("{name:<28} {restored:>8}  {untouched:>9}  {unknown:>7}  {none:>9}");
    }
    let of = |name: &str| columns[name];
    for file in &FILES {
        assert!(of(file.name).restored > 0, "{}: nothing came back", file.name);
        assert!(of(file.name).untouched > 0, "{}: everything came back", file.name);
    }
    let all = ["a catalogue", "no catalogue"].map(of);
    let total: u32 = all.map(|c| c.restored + c.untouched + c.unknown + c.none).iter().sum();
    let every = FILES.len() * PARITY_STATES.len() * DAMAGES.len() * 2;
    assert!(if is_whole { total as usize == every } else { total as usize > every / 2 }, "{total}");
    assert_eq!(of("a catalogue").unknown, 0);
}
