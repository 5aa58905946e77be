//! The guarantee of parity, crossed in full: damage × file × state of the parity × catalogue.
//!
//! There are two outcomes: the file is as it was tagged, or it is untouched and the status is 3.
//! Which of the two is computed here from the pages that are lost, so a file within the guarantee
//! must come back, and one beyond it must not.

mod damage;
mod protected;

use std::collections::BTreeMap;
use std::thread;

use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairSummary, RepairTarget, repair_files,
};
use steadfast::{Event, Monitor, Selection};

use damage::DAMAGES;
use protected::{Expected, FILES, PARITY_STATES, ProtectedTree};

struct Quiet;

impl Monitor for Quiet {
    fn event(&mut self, _event: &Event) {}
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
    repair_files(&selection, &options, &Copies::default(), RepairMode::Yes, &mut Quiet).unwrap()
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
fn cases_of(number: usize) -> Columns {
    let mut columns = Columns::new();
    for catalogue in [true, false] {
        let tree = ProtectedTree::new(&FILES[number], catalogue);
        for state in PARITY_STATES {
            tree.set_parity(state);
            for damage in DAMAGES {
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
    let halves = thread::scope(|scope| {
        let of = |half: usize| {
            move || (half..FILES.len()).step_by(2).map(cases_of).collect::<Vec<Columns>>()
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
    assert_eq!(total as usize, FILES.len() * PARITY_STATES.len() * DAMAGES.len() * 2);
    assert_eq!(of("a catalogue").unknown, 0);
}
