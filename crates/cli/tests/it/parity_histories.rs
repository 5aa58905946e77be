//! Random histories of a tree with parity: whatever happens to files, tags and sets, contents that
//! parity could give back and that nobody edited or let go of can still be given back, or the run
//! says which file is in danger.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::FileExt as _;

use crate::parity::{contents, sets};
use crate::parity_needed::{Known, can_give, drop_attributes, known};
use crate::tree::{Outcome, Tree};

/// Histories that are played unless `STEADFAST_HISTORIES` says otherwise.
const HISTORIES: u64 = 20;

/// Steps of a history.
const STEPS: u64 = 7;

/// A history: a tree, and what parity must be able to give.
struct History {
    tree: Tree,
    state: u64,
    /// What was protected, by number, and whether an edit of it waits to be accepted.
    must: BTreeMap<u32, (Known, bool)>,
    /// The present name of the contents of a number, if they are in the tree.
    names: BTreeMap<u32, String>,
    /// All names that were ever used.
    used: Vec<String>,
    next: u32,
    told: Vec<String>,
}

impl History {
    fn new(seed: u64) -> History {
        let mut tree = Tree::new();
        let (mut names, mut used) = (BTreeMap::new(), Vec::new());
        for number in 0..6 {
            let name = format!("{}/{number}", number % 2);
            tree = tree.file(format!("data/{name}"), &contents(number, 9000 + 5000 * number));
            names.insert(number, name.clone());
            used.push(name);
        }
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
        if seed.is_multiple_of(3) {
            tree.run(["init", "--tags-only", "data"]).succeeds();
        }
        tree.run(["tag", "data"]).succeeds();
        tree.run(["parity", "make", "data"]).succeeds();
        let must = names.iter().map(|(number, name)| (*number, (known(&tree, name), false)));
        let must = must.collect();
        History { tree, state, must, names, used, next: 6, told: vec![format!("seed {seed}")] }
    }

    fn random(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % below as u64) as usize
    }

    /// Something happens to the tree.
    fn happens(&mut self) {
        let numbers: Vec<u32> = self.names.keys().copied().collect();
        let Some(number) = numbers.get(self.random(numbers.len().max(1))).copied() else { return };
        let name = self.names[&number].clone();
        let shown = format!("data/{name}");
        match self.random(9) {
            0 | 1 => {
                self.told.push(format!("rot {name}"));
                self.tree.corrupt(&shown);
            }
            2 => {
                self.told.push(format!("edit {name}"));
                let bytes = contents(1000 + self.next, 8000);
                self.next += 1;
                fs::write(self.tree.path(&shown), bytes).unwrap();
                if let Some(known) = self.must.get_mut(&number) {
                    known.1 = true;
                }
            }
            3 => {
                let to = format!("{}/moved-{}", self.next % 2, self.next);
                self.next += 1;
                self.told.push(format!("rename {name} to {to}"));
                fs::rename(self.tree.path(&shown), self.tree.path("data").join(&to)).unwrap();
                self.used.push(to.clone());
                self.names.insert(number, to);
            }
            4 => {
                let other = numbers[self.random(numbers.len())];
                let there = self.names[&other].clone();
                self.told.push(format!("swap {name} and {there}"));
                let path = |name: &str| self.tree.path("data").join(name);
                fs::rename(path(&name), self.tree.path("aside")).unwrap();
                if other != number {
                    fs::rename(path(&there), path(&name)).unwrap();
                }
                fs::rename(self.tree.path("aside"), path(&there)).unwrap();
                self.names.insert(other, name);
                self.names.insert(number, there);
            }
            5 => {
                self.told.push(format!("drop the attributes of {name}"));
                drop_attributes(&self.tree, &shown);
            }
            6 => {
                self.told.push(format!("remove {name}"));
                fs::remove_file(self.tree.path(&shown)).unwrap();
                self.names.remove(&number);
            }
            7 => {
                let sets = sets(&self.tree);
                let Some(set) = sets.get(self.random(sets.len().max(1))) else { return };
                self.told.push(format!("damage {}", set.display()));
                let set = fs::File::options().write(true).open(set).unwrap();
                set.write_all_at(b"damaged", 4096 + 100).unwrap();
            }
            _ => {
                self.told.push(format!("touch {name}"));
                self.tree.touch(&shown);
            }
        }
    }

    /// A verb runs that may remove sets.
    fn runs(&mut self) -> Outcome {
        let verbs: [&[&str]; 4] =
            [&["update"], &["tag"], &["parity", "update"], &["parity", "make"]];
        let verb = verbs[self.random(verbs.len())];
        let words: Vec<&str> = verb.iter().chain(&["data"]).copied().collect();
        let many: &[&str] = if verb == ["update"] { &["--accept-many"] } else { &[] };
        let has_catalogue = self.tree.path("data/.steadfast/catalogue.sqlite").exists();
        let many = many.iter().filter(|_| has_catalogue);
        let outcome = self.tree.run(words.iter().chain(many));
        self.told.push(format!("{} ends {}", verb.join(" "), outcome.status));
        if verb.len() == 1 {
            // The edits may have been accepted.
            self.must.retain(|_, (_, is_edited)| !*is_edited);
        }
        outcome
    }

    /// Fails unless parity can give all that it must.
    fn holds(&self, outcome: &Outcome) {
        for (number, (known, is_edited)) in &self.must {
            let is_given = self.used.iter().any(|name| can_give(&self.tree, name, known));
            assert!(is_given, "{number} {is_edited}: {:#?}\n{outcome:?}", self.told);
        }
    }
}

#[test]
fn no_history_takes_away_what_parity_could_give() {
    let count = env::var("STEADFAST_HISTORIES").ok().and_then(|count| count.parse().ok());
    for seed in 0..count.unwrap_or(HISTORIES) {
        let mut history = History::new(seed);
        for _ in 0..STEPS {
            for _ in 0..=history.random(2) {
                history.happens();
            }
            let outcome = history.runs();
            history.holds(&outcome);
        }
    }
}
