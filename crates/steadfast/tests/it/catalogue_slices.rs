//! Directories with more names than a slice of the catalogue holds.

use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast::catalogue::Finding;

use crate::catalogue::{Garden, Way};

#[test]
fn directories_larger_than_a_slice_are_followed_through_every_change() {
    // Two slices and a bit; names out of step with numbers.
    let names: Vec<String> =
        (0..9000_u32).map(|n| format!("{:08x}", n.wrapping_mul(477_218_589))).collect();
    let mut garden = Garden::new(&[]);
    for name in &names {
        garden.tree.write(name, name);
    }
    garden.run(&Way { verb: "tag", ..Way::default() });
    assert_eq!(garden.check().all(), [""; 0]);
    for at in [0, 4095, 4096, 8191, 8192, 8999] {
        let mut sorted = names.clone();
        sorted.sort();
        garden.remove(&sorted[at]);
    }
    assert_eq!(garden.check().all().len(), 6);
    // More in one place than a slice holds: in front of all, and after all.
    for n in 0..5000 {
        garden.tree.write(format!("!{n:05}"), "new");
        garden.tree.write(format!("~{n:05}"), "new");
    }
    let told = garden.run(&Way { verb: "update", ..Way::default() });
    let new = told.findings.iter().filter(|finding| matches!(finding, Finding::New { .. }));
    assert_eq!(new.count(), 10_000);
    let verification = garden.reader().verify().unwrap();
    assert_eq!(verification.problems, [""; 0]);
    assert_eq!(verification.entries, 9000 - 6 + 10_000);
    let (mut listed, mut last) = (Vec::<PathBuf>::new(), None);
    loop {
        let before = listed.len();
        let reader = garden.reader();
        reader
            .files(last.as_deref(), &mut |file| {
                listed.push(file.path);
                match listed.len() - before {
                    777 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            })
            .unwrap();
        if listed.len() == before {
            break;
        }
        last = listed.last().cloned();
    }
    assert_eq!(listed.len() as u64, verification.entries);
    assert!(listed.is_sorted_by(|one, other| one < other), "each once, in order");
    assert_eq!(garden.check().all(), [""; 0]);
}
