//! Writes a generation of a history: its hash list with the hashes of folders, and the chain.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quick_xml::escape::escape;
use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_time::Timestamp;

use super::{NamedList, c4_of, element_of, spelt};
use crate::calendar;

/// Patterns of gitignore: what lists leave out, as the reference implementation does by default.
pub const IGNORED: [&str; 3] = [".DS_Store", "ascmhl", "ascmhl/"];

/// The longest part of a list's name that is of its folder, in bytes: file systems allow 255.
const FOLDER_LEN_MAX: usize = 200;

/// The files and folders beneath the root of a history, those of nested histories too.
#[derive(Clone, Debug, Default)]
pub struct MhlGeneration {
    root: MhlFolder,
    /// Roots of nested histories, with the list that was made for each.
    nested: BTreeMap<String, NamedList>,
}

#[derive(Clone, Debug, Default)]
struct MhlFolder {
    mtime: Option<Timestamp>,
    folders: BTreeMap<String, MhlFolder>,
    files: BTreeMap<String, MhlFile>,
}

#[derive(Clone, Debug)]
struct MhlFile {
    length: u64,
    mtime: Timestamp,
    hashes: Vec<MhlHash>,
}

/// A digest of a file, and what an earlier generation says of it.
#[derive(Clone, Copy, Debug)]
struct MhlHash {
    algorithm: Algorithm,
    digest: Digest,
    action: &'static str,
}

/// Where and when a generation is made.
#[derive(Clone, Debug)]
pub struct MhlPlace {
    /// The name of this machine.
    pub host: String,
    /// The version of the program.
    pub version: &'static str,
    /// The time.
    pub now: Timestamp,
}

/// The hashes of a folder, for each algorithm: of the contents, and of the names too.
type FolderHashes = Vec<(Algorithm, Digest, Digest)>;

impl MhlGeneration {
    /// Adds a file, with digests of the algorithms of all others. `earlier` are those that earlier
    /// generations have of it. Returns false if one of them differs.
    pub fn add_file(
        &mut self,
        path: &str,
        (length, mtime): (u64, Timestamp),
        digests: &[(Algorithm, Digest)],
        earlier: &[(Algorithm, Digest)],
    ) -> bool {
        let action = |(algorithm, digest): &(Algorithm, Digest)| match earlier
            .iter()
            .find(|(known, _)| known == algorithm)
        {
            Some((_, before)) if before == digest => "verified",
            Some(_) => "failed",
            None if earlier.is_empty() => "original",
            None => "verified",
        };
        let known = digests.iter().filter(|(algorithm, _)| element_of(*algorithm).is_some());
        let mut hashes: Vec<MhlHash> =
            known.map(|it| MhlHash { algorithm: it.0, digest: it.1, action: action(it) }).collect();
        hashes.sort_by_key(|hash| element_of(hash.algorithm));
        let is_same = hashes.iter().all(|hash| hash.action != "failed");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = MhlFile { length, mtime, hashes };
        self.folder(folder).files.insert(name.to_owned(), file);
        is_same
    }

    /// Adds a folder, with its time of modification.
    pub fn add_folder(&mut self, path: &str, mtime: Timestamp) {
        self.folder(path).mtime = Some(mtime);
    }

    fn folder(&mut self, path: &str) -> &mut MhlFolder {
        let names = path.split('/').filter(|name| !name.is_empty());
        names
            .fold(&mut self.root, |folder, name| folder.folders.entry(name.to_owned()).or_default())
    }

    /// Notes the list that was made for a nested history; its files are in no list above.
    pub fn refer(&mut self, root: &str, list: NamedList) {
        self.nested.insert(root.to_owned(), list);
    }

    /// Returns the hash list of the history at `root`, empty for the topmost, which leaves out what
    /// the patterns `ignored` say. Those of the histories in it come first.
    pub fn document(&self, root: &str, ignored: &[String], place: &MhlPlace) -> String {
        let names = root.split('/').filter(|name| !name.is_empty());
        let empty = MhlFolder::default();
        let folder = names.fold(&self.root, |it, name| it.folders.get(name).unwrap_or(&empty));
        let now = time_text(place.now);
        let mut body = String::new();
        let hashes = self.write_folder(folder, root, "", &now, &mut body);
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        text.push_str("<hashlist version=\"2.0\" xmlns=\"urn:ASC:MHL:v2.0\">\n  <creatorinfo>\n");
        let (host, version) = (escape(&*place.host), escape(place.version));
        let _ = writeln!(text, "    <creationdate>{now}</creationdate>");
        let _ = writeln!(text, "    <hostname>{host}</hostname>");
        let _ = writeln!(text, "    <tool version=\"{version}\">steadfast</tool>");
        text.push_str("  </creatorinfo>\n  <processinfo>\n    <process>transfer</process>\n");
        text.push_str("    <roothash>\n");
        write_hashes(&hashes, &now, "      ", &mut text);
        text.push_str("    </roothash>\n    <ignore>\n");
        for pattern in ignored {
            let _ = writeln!(text, "      <pattern>{}</pattern>", escape(&**pattern));
        }
        text.push_str("    </ignore>\n  </processinfo>\n");
        if !body.is_empty() {
            let _ = write!(text, "  <hashes>\n{body}  </hashes>\n");
        }
        let nested: String = self
            .nested
            .iter()
            .filter_map(|(path, list)| Some((beneath(path, root)?, list)))
            .filter(|(path, _)| !path.is_empty() && self.is_own(root, path))
            .map(|(path, list)| {
                format!(
                    "    <hashlistreference>\n      <path>{}/{}/{}</path>\n      <c4>{}</c4>\n    \
                     </hashlistreference>\n",
                    escape(path),
                    super::FOLDER,
                    escape(&*list.path),
                    c4_of(&list.digest)
                )
            })
            .collect();
        if !nested.is_empty() {
            let _ = write!(text, "  <references>\n{nested}  </references>\n");
        }
        text.push_str("</hashlist>\n");
        text
    }

    /// Returns whether no nested history lies between a root and a path beneath it.
    fn is_own(&self, root: &str, path: &str) -> bool {
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if self.nested.contains_key(&joined(root, parent)) {
                return false;
            }
            above = parent;
        }
        true
    }

    /// Writes the elements of a folder, the deepest first, unless it is in a nested history, and
    /// returns its hashes. `at` is its path beneath `root`.
    fn write_folder(
        &self,
        folder: &MhlFolder,
        root: &str,
        at: &str,
        now: &str,
        into: &mut String,
    ) -> FolderHashes {
        let is_nested = !at.is_empty() && self.nested.contains_key(&joined(root, at));
        let mut hidden = String::new();
        let out = if is_nested { &mut hidden } else { &mut *into };
        let mut children: BTreeMap<Algorithm, [Vec<Digest>; 2]> = BTreeMap::new();
        let mut add = |algorithm, content: Digest, name: &str, named: &Digest| {
            let [contents, structures] = children.entry(algorithm).or_default();
            contents.push(content);
            structures.push(hash_of(algorithm, [name.as_bytes(), named.as_bytes()]));
        };
        for (name, inner) in &folder.folders {
            for (algorithm, content, structure) in
                self.write_folder(inner, root, &joined(at, name), now, out)
            {
                add(algorithm, content, name, &structure);
            }
        }
        for (name, file) in &folder.files {
            for hash in &file.hashes {
                add(hash.algorithm, hash.digest, name, &hash.digest);
            }
            write_file(&joined(at, name), file, now, out);
        }
        let algorithms = self.algorithms();
        let hashes: FolderHashes = algorithms
            .into_iter()
            .map(|algorithm| {
                let [contents, structures] = children.remove(&algorithm).unwrap_or_default();
                let list = |mut all: Vec<Digest>| {
                    all.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
                    hash_of(algorithm, all.iter().map(Digest::as_bytes))
                };
                (algorithm, list(contents), list(structures))
            })
            .collect();
        if !at.is_empty() {
            let time =
                folder.mtime.map(|time| format!(" lastmodificationdate=\"{}\"", time_text(time)));
            let (time, path) = (time.unwrap_or_default(), escape(at));
            let _ = writeln!(into, "    <directoryhash>\n      <path{time}>{path}</path>");
            write_hashes(&hashes, now, "      ", into);
            into.push_str("    </directoryhash>\n");
        }
        hashes
    }

    /// Returns the algorithms of the files, in the order of their elements.
    fn algorithms(&self) -> Vec<Algorithm> {
        fn first(folder: &MhlFolder) -> Option<&MhlFile> {
            folder.files.values().next().or_else(|| folder.folders.values().find_map(first))
        }
        let hashes = first(&self.root).map(|file| file.hashes.iter());
        hashes.into_iter().flatten().map(|hash| hash.algorithm).collect()
    }
}

fn write_file(path: &str, file: &MhlFile, now: &str, into: &mut String) {
    let (time, path) = (time_text(file.mtime), escape(path));
    let _ = writeln!(
        into,
        "    <hash>\n      <path size=\"{}\" lastmodificationdate=\"{time}\">{path}</path>",
        file.length
    );
    for MhlHash { algorithm, digest, action } in &file.hashes {
        let name = element_of(*algorithm).unwrap_or_default();
        let value = spelt(*algorithm, digest);
        let _ =
            writeln!(into, "      <{name} action=\"{action}\" hashdate=\"{now}\">{value}</{name}>");
    }
    into.push_str("    </hash>\n");
}

/// Writes the two kinds of hashes of a folder.
fn write_hashes(hashes: &FolderHashes, now: &str, indent: &str, into: &mut String) {
    for (kind, at) in [("content", 0), ("structure", 1)] {
        let _ = writeln!(into, "{indent}<{kind}>");
        for (algorithm, content, structure) in hashes {
            let name = element_of(*algorithm).unwrap_or_default();
            let value = spelt(*algorithm, [content, structure][at]);
            let _ = writeln!(into, "{indent}  <{name} hashdate=\"{now}\">{value}</{name}>");
        }
        let _ = writeln!(into, "{indent}</{kind}>");
    }
}

/// Returns the name of a list: its number, the folder it is about, and the time.
pub fn list_name(number: u32, folder: &str, now: Timestamp) -> String {
    let folder = &folder[..folder.floor_char_boundary(FOLDER_LEN_MAX)];
    let time = calendar::print(now).replace(" +0000", "Z").replace(' ', "_").replace(':', "");
    format!("{number:04}_{folder}_{time}.mhl")
}

/// Returns the document of a chain.
pub fn chain_document(lists: &[NamedList]) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ascmhldirectory xmlns=\"urn:ASC:MHL:DIRECTORY:v2.0\">\n",
    );
    for list in lists {
        let (path, c4) = (escape(&*list.path), c4_of(&list.digest));
        let number = list.number.unwrap_or_default();
        let _ = write!(
            text,
            "  <hashlist sequencenr=\"{number}\">\n    <path>{path}</path>\n    <c4>{c4}</c4>\n  \
             </hashlist>\n"
        );
    }
    text.push_str("</ascmhldirectory>\n");
    text
}

fn hash_of<'a>(algorithm: Algorithm, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hasher = AlgorithmHasher::new(algorithm);
    parts.into_iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// A time in UTC as XML Schema spells it.
fn time_text(time: Timestamp) -> String {
    let text = calendar::print(time);
    text.replacen(' ', "T", 1).replace(" +0000", "+00:00")
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

/// Returns what of a path is beneath a root.
fn beneath<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    match root {
        "" => Some(path),
        root => path.strip_prefix(root)?.strip_prefix('/'),
    }
}
