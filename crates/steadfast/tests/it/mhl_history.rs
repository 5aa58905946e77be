//! Histories of ASC MHL that other programs made: a copy goes on with them.

use std::fs;
use std::path::PathBuf;

use steadfast::copy::{CopiedFile, CopyRequest, CopySummary, ListKind, copy};
use steadfast::manifest::mhl::MhlSurroundings;
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::{Algorithm, AlgorithmHasher, Notice, Selection};
use steadfast_manifest::mhl::{NamedList, chain_document};

use crate::tree::Tree;

/// Keeps what a copy says.
#[derive(Default)]
struct Told(Vec<Notice>);

impl ResultMonitor<CopiedFile> for Told {
    fn result(&mut self, _: &CopiedFile) {}
}

impl NoticeMonitor for Told {
    fn notice(&mut self, notice: &Notice) {
        self.0.push(notice.clone());
    }
}

/// Writes the only list of a history, and its chain.
fn history(tree: &Tree, folder: &str, list: &str) -> NamedList {
    let path = "0001_list.mhl".to_owned();
    let text = format!("<hashlist version=\"2.0\" xmlns=\"urn:ASC:MHL:v2.0\">{list}</hashlist>");
    tree.write(format!("{folder}/ascmhl/{path}"), &text);
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha512);
    hasher.update(text.as_bytes());
    let named = NamedList { path, digest: hasher.finalize(), number: Some(1) };
    let chain = chain_document(std::slice::from_ref(&named));
    tree.write(format!("{folder}/ascmhl/ascmhl_chain.xml"), chain);
    named
}

fn hash(path: &str) -> String {
    let md5 = "900150983cd24fb0d6963f7d28e17f72";
    format!("<hash><path>{path}</path><md5 action=\"original\">{md5}</md5></hash>")
}

fn copied(tree: &Tree, to: &str) -> (CopySummary, Vec<Notice>) {
    let request = CopyRequest::to([tree.at(to)]).with(|request| {
        request.list = ListKind::Mhl(Algorithm::Xxh64);
    });
    let (selection, mut told) = (Selection::of([tree.at("card")]), Told::default());
    let summary = copy(&selection, &request, &crate::tree::usual(), &mut told).unwrap();
    (summary, told.0)
}

/// The text of the list of a copy that is not that of the source.
fn newest(tree: &Tree, folder: &str) -> String {
    let lists = fs::read_dir(tree.at(format!("{folder}/ascmhl"))).unwrap();
    let lists: Vec<PathBuf> = lists.map(|it| it.unwrap().path()).collect();
    let newest = lists.iter().filter(|it| it.extension().is_some_and(|it| it == "mhl")).max();
    fs::read_to_string(newest.unwrap()).unwrap()
}

#[test]
fn what_a_history_leaves_out_stays_left_out_and_what_it_has_is_missed() {
    let tree = Tree::new();
    for name in ["card/a", "card/x.tmp", "card/sub/y.tmp"] {
        tree.write(name, "abc");
    }
    let patterns = "<processinfo><ignore><pattern>ascmhl/</pattern><pattern>*.tmp</pattern>\
                    </ignore></processinfo>";
    let hashes = ["a", "gone", "z.tmp"].map(hash).concat();
    history(&tree, "card", &format!("{patterns}<hashes>{hashes}</hashes>"));
    let (summary, told) = copied(&tree, "to");
    assert_eq!((summary.files, summary.copied), (4, 4), "what is left out is copied: {summary:?}");
    let list = newest(&tree, "to/card");
    assert!(list.contains("<pattern>*.tmp</pattern>"), "{list}");
    assert!(list.contains("<md5 action=\"verified\"") && !list.contains(".tmp</path>"), "{list}");
    let folder = "\">sub</path>";
    assert!(list.contains(folder), "a folder is in the list with nothing in it: {list}");
    let missed: Vec<&Notice> = told.iter().filter(|it| it.text.contains("latest list")).collect();
    assert_eq!(missed.len(), 1, "{told:?}");
    assert!(missed[0].path.as_ref().unwrap().ends_with("to/card/gone"), "{told:?}");
}

#[test]
fn a_history_within_another_is_whole_or_told() {
    let tree = Tree::new();
    tree.write("card/a", "abc");
    tree.write("card/reel/b", "abc");
    let inner = history(&tree, "card/reel", &format!("<hashes>{}</hashes>", hash("b")));
    let c4 = steadfast_manifest::mhl::c4_of(&inner.digest);
    let references = format!(
        "<references><hashlistreference><path>reel/ascmhl/{}</path><c4>{c4}</c4>\
         </hashlistreference></references>",
        inner.path
    );
    history(&tree, "card", &format!("<hashes>{}</hashes>{references}", hash("a")));
    let problems = || MhlSurroundings::of(&tree.at("card/ascmhl/0001_list.mhl")).problems;
    assert_eq!(problems(), Vec::<String>::new());
    let (_, told) = copied(&tree, "whole");
    assert!(told.iter().all(|notice| notice.status.is_fine()), "{told:?}");
    // The list that the outer one names is there, and the chain of its history is not.
    fs::remove_file(tree.at("card/reel/ascmhl/ascmhl_chain.xml")).unwrap();
    let found = problems();
    assert!(found.len() == 1 && found[0].contains("reel/ascmhl/ascmhl_chain.xml"), "{found:?}");
    let (summary, told) = copied(&tree, "without");
    assert!(!summary.exit_status().is_fine(), "{summary:?}");
    assert!(told.iter().any(|it| it.text.contains("without a chain")), "{told:?}");
}
