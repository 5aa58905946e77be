//! Decides which known file a file is. Pure.
//!
//! Takes what was observed of one file and of the known files that it may be; returns an
//! [`Identification`]. `docs/reference/identity.md` specifies it and is authoritative.

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::Timestamp;
use strum::{Display, IntoStaticStr};

use crate::verdict::same_mtime;

/// What the file system reports of a file. What means nothing where the file is, is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileTraits {
    /// The inode number; absent if the two files are on different volumes, if the file system
    /// numbers inodes anew, and in lists.
    pub(crate) inode: Option<u64>,
    /// When the inode was made; absent as `inode` is, and where the file system does not keep it.
    pub(crate) birth: Option<Timestamp>,
    /// Length in bytes.
    pub(crate) length: Option<u64>,
    /// The modification time.
    pub(crate) mtime: Option<Timestamp>,
}

/// A file whose identity is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed<'a> {
    pub(crate) traits: FileTraits,
    /// The tag that is stored at the file itself. It stays with the file when that is renamed.
    pub(crate) tag: Option<&'a Tag>,
    /// The tag of the contents, if they were read.
    pub(crate) read: Option<&'a Tag>,
    /// How many files with this evidence were found at new names, this one included.
    pub(crate) alike: usize,
}

/// A known file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateFile<'a> {
    /// As they were when it was last seen.
    pub(crate) traits: FileTraits,
    /// The tag of its contents.
    pub(crate) tag: Option<&'a Tag>,
    /// Whether it last was found to have the contents of the tag.
    pub(crate) is_proved: bool,
    pub(crate) names: NameState,
    /// Whether the last part of one of its names is that of the observed file.
    pub(crate) is_namesake: bool,
    /// Whether both files were seen at one time, so that they are two.
    pub(crate) seen_together: bool,
}

impl<'a> Observed<'a> {
    /// Makes a file that was not read and has no tag.
    pub(crate) fn unread(traits: FileTraits) -> Observed<'a> {
        Observed { traits, tag: None, read: None, alike: 1 }
    }

    /// Makes a file of which only the tag is known, one of so many that are alike.
    pub(crate) fn tagged(tag: &'a Tag, alike: usize) -> Observed<'a> {
        Observed { traits: FileTraits::default(), tag: Some(tag), read: None, alike }
    }
}

impl<'a> CandidateFile<'a> {
    /// Makes a file of which only its proved contents and its names are known.
    pub(crate) fn tagged(tag: &'a Tag, names: NameState) -> CandidateFile<'a> {
        let (traits, is_proved) = (FileTraits::default(), true);
        let (is_namesake, seen_together) = (false, false);
        CandidateFile { traits, tag: Some(tag), is_proved, names, is_namesake, seen_together }
    }
}

/// What the names of a known file lead to now; of several names, the first of these that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum NameState {
    /// The observed file has one of its names.
    Here,
    /// Another name leads to a file of its inode, or, where inodes cannot be compared, to a file.
    #[cfg_attr(not(test), allow(dead_code, reason = "for the catalogue"))]
    Leads,
    /// What another name leads to is not known.
    Unknown,
    /// Its name leads to another file.
    #[cfg_attr(not(test), allow(dead_code, reason = "for the catalogue"))]
    Replaced,
    /// Nothing is at its name.
    Gone,
}

/// Which known file a file is: positions among the candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WhichFile {
    /// This one, which still has the names that it had. The file has one of them, or a further one
    /// (a hard link).
    Same(usize),
    /// This one, which lost the name that it had.
    Moved(usize),
    /// A file of its own, with the contents of this one.
    Copy(usize),
    /// None of them.
    New,
    /// One of these, or none: the evidence does not decide. Reading the file, if it was not read,
    /// may.
    Ambiguous(Vec<usize>),
}

/// The evidence that decided, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Ground {
    #[strum(serialize = "inode, birth")]
    InodeAndBirth,
    #[strum(serialize = "inode, digest")]
    InodeAndDigest,
    #[strum(serialize = "inode, time")]
    InodeAndTime,
    #[strum(serialize = "inode, name")]
    InodeAndName,
    #[strum(serialize = "digest, name")]
    DigestAndName,
    #[strum(serialize = "digest, time")]
    DigestAndTime,
    Digest,
    #[strum(serialize = "time, name")]
    TimeAndName,
    Time,
    Name,
    Inode,
    Nothing,
}

/// Which known file a file is, and by what evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identification {
    pub(crate) answer: WhichFile,
    pub(crate) ground: Ground,
}

/// How a candidate is related to the observed file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FileRelation {
    Same,
    Moved,
    Copy,
    Uncertain,
}

/// The evidence for one candidate; the least is the strongest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EvidenceFit {
    ground: Ground,
    relation: FileRelation,
    /// 0 if the observed file has a name of the candidate, 1 if only the last part is the same.
    distance: u8,
}

/// Decides which of the candidates a file is.
///
/// A candidate of the same inode outranks all others. So it is enough to ask with those of the
/// inode first, and with others if the ground is weaker than [`Ground::InodeAndName`].
///
/// Of several candidates that only their contents show to have moved here, any may be it: it is
/// the first, if as many files are at new names (`alike`), and else ambiguous. A caller that
/// accepts `Moved` takes that candidate out before it asks for the next file.
pub(crate) fn identity(
    observed: &Observed<'_>,
    candidates: &[CandidateFile<'_>],
) -> Identification {
    let fits =
        || candidates.iter().enumerate().filter_map(|(at, it)| Some((fit(observed, it)?, at)));
    let Some((best, at)) = fits().min() else {
        return Identification { answer: WhichFile::New, ground: Ground::Nothing };
    };
    let is_by_inode = best.ground <= Ground::InodeAndName;
    let rivals = || fits().filter(|(fit, _)| *fit == best).map(|(_, at)| at);
    let answer = match best.relation {
        FileRelation::Same => WhichFile::Same(at),
        FileRelation::Copy => WhichFile::Copy(at),
        FileRelation::Moved if is_by_inode || rivals().count() <= observed.alike.max(1) => {
            WhichFile::Moved(at)
        }
        FileRelation::Moved | FileRelation::Uncertain => WhichFile::Ambiguous(rivals().collect()),
    };
    Identification { answer, ground: best.ground }
}

/// Returns the evidence that a file is a candidate; `None` if there is none.
fn fit(observed: &Observed<'_>, candidate: &CandidateFile<'_>) -> Option<EvidenceFit> {
    let (now, was, names) = (observed.traits, candidate.traits, candidate.names);
    let is_here = names == NameState::Here;
    let distance = if is_here { 0 } else { 2 - u8::from(candidate.is_namesake) };
    let fit = |ground, relation| Some(EvidenceFit { ground, relation, distance });
    let has_birth = same(now.birth, was.birth);
    let has_inode = same(now.inode, was.inode) == Some(true) && has_birth != Some(false);
    let has_length = same(now.length, was.length).unwrap_or(true);
    let has_mtime = same(now.mtime, was.mtime) == Some(true);
    let contents = ContentsMatch::of(observed, candidate, has_inode);
    let is_known = contents != ContentsMatch::Unknown;
    if has_inode {
        let is_exact = has_length || now.mtime.is_some_and(|mtime| mtime.nanoseconds != 0);
        let ground = match contents {
            _ if has_birth == Some(true) => Some(Ground::InodeAndBirth),
            ContentsMatch::Same { .. } => Some(Ground::InodeAndDigest),
            ContentsMatch::Other | ContentsMatch::Unknown if has_mtime && is_exact => {
                Some(Ground::InodeAndTime)
            }
            // A file cannot have the inode of another one that still is there.
            _ if names == NameState::Leads => Some(Ground::InodeAndName),
            ContentsMatch::OtherTag => None,
            _ => is_here.then_some(Ground::InodeAndName),
        };
        let relation = match names {
            NameState::Here | NameState::Leads | NameState::Unknown => FileRelation::Same,
            NameState::Replaced | NameState::Gone => FileRelation::Moved,
        };
        if let Some(ground) = ground {
            return fit(ground, relation);
        }
    }
    if let ContentsMatch::Same { has_time } = contents {
        let has_left = match names {
            NameState::Here => return fit(Ground::DigestAndName, FileRelation::Same),
            NameState::Gone => true,
            // It may have been edited in place, so that this is a copy of what it was.
            NameState::Replaced => has_time,
            NameState::Leads => has_time && !candidate.is_proved,
            NameState::Unknown => false,
        };
        let is_move = has_left && !candidate.seen_together;
        let relation = if is_move { FileRelation::Moved } else { FileRelation::Copy };
        return fit(if has_time { Ground::DigestAndTime } else { Ground::Digest }, relation);
    }
    let has_extent = has_mtime && has_length && now.length.is_some();
    let has_left =
        matches!(names, NameState::Replaced | NameState::Gone) && !candidate.seen_together;
    let is_unread = !is_known && now.length != Some(0);
    match () {
        () if is_here && has_extent && !is_known => fit(Ground::TimeAndName, FileRelation::Same),
        () if is_here => fit(Ground::Name, FileRelation::Same),
        () if is_unread && has_left && has_extent => fit(Ground::Time, FileRelation::Uncertain),
        () if is_unread && has_inode && has_length => fit(Ground::Inode, FileRelation::Uncertain),
        () => None,
    }
}

/// What is known of the contents of a file, compared with those of a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentsMatch {
    /// The same; `has_time` if the modification time is the same, too.
    Same { has_time: bool },
    /// The file has a tag of other contents.
    OtherTag,
    /// The file has other contents, and no tag of its own.
    Other,
    /// There is no digest to compare, or both are empty and nothing else shows that they are one.
    Unknown,
}

impl ContentsMatch {
    fn of(
        observed: &Observed<'_>,
        candidate: &CandidateFile<'_>,
        has_inode: bool,
    ) -> ContentsMatch {
        let Some(was) = candidate.tag else { return ContentsMatch::Unknown };
        let comparable = |tag: &&Tag| tag.algorithm == was.algorithm;
        let (tag, read) = (observed.tag.filter(comparable), observed.read.filter(comparable));
        if ![tag, read].into_iter().flatten().any(|it| it.same_contents(was)) {
            return match (tag, read) {
                (Some(_), _) => ContentsMatch::OtherTag,
                (None, Some(_)) => ContentsMatch::Other,
                (None, None) => ContentsMatch::Unknown,
            };
        }
        // A file that is not as its tag has the time of other contents.
        let touched = candidate.traits.mtime.filter(|_| candidate.is_proved);
        let times = [observed.traits.mtime, tag.map(|tag| tag.mtime)];
        let has_time = times.into_iter().flatten().any(|now| {
            same_mtime(was.mtime, now) || touched.is_some_and(|touched| same_mtime(touched, now))
        });
        let has_name = candidate.is_namesake || candidate.names == NameState::Here;
        match was.length > 0 || has_name || has_inode && has_time {
            true => ContentsMatch::Same { has_time },
            false => ContentsMatch::Unknown,
        }
    }
}

/// Compares two pieces of evidence, if both are there.
fn same<T: PartialEq>(now: Option<T>, was: Option<T>) -> Option<bool> {
    now.zip(was).map(|(now, was)| now == was)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;
    use crate::Digest;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/identity.md");

    /// The values of the columns of evidence, in their order.
    const COLUMNS: [&[&str]; 7] = [
        &["same", "other", "none"],
        &["same", "other", "none"],
        &["same", "time", "second", "length", "other"],
        &["same", "other tag", "other", "none"],
        &["here", "leads", "unknown", "replaced", "gone"],
        &["yes", "no"],
        &["yes", "no"],
    ];

    fn time(seconds: i64, nanoseconds: u32) -> Timestamp {
        Timestamp { seconds, nanoseconds }
    }

    fn tag(content: u8, length: u64, mtime: Timestamp) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length,
            mtime,
            tagged: time(90, 0),
        }
    }

    fn traits(inode: Option<u64>, length: u64, mtime: Timestamp) -> FileTraits {
        FileTraits { inode, birth: None, length: Some(length), mtime: Some(mtime) }
    }

    fn known(tag: &Tag, names: NameState) -> CandidateFile<'_> {
        let traits = traits(Some(1), tag.length, tag.mtime);
        let (is_proved, tag) = (true, Some(tag));
        CandidateFile { traits, tag, is_proved, names, is_namesake: false, seen_together: false }
    }

    fn new_file(traits: FileTraits, tag: Option<&Tag>) -> Observed<'_> {
        Observed { traits, tag, read: None, alike: 1 }
    }

    /// Returns the answer and the ground as the page writes them.
    fn shown(found: &Identification) -> (String, String) {
        let answer = match &found.answer {
            WhichFile::Same(_) => "`same`",
            WhichFile::Moved(_) => "`moved`",
            WhichFile::Copy(_) => "`copy`",
            WhichFile::New => "`new`",
            WhichFile::Ambiguous(_) => "`ambiguous`",
        };
        (answer.to_owned(), found.ground.to_string())
    }

    /// Asks with the evidence of one row.
    fn asked(row: [&str; 7], is_namesake: bool) -> Identification {
        let [inode, birth, extent, digest, name, proved, together] = row;
        let nanoseconds = if extent == "second" { 0 } else { 6 };
        let mtime = time(5, nanoseconds);
        let own = tag(1, 10, mtime);
        let has_time = ["same", "time", "second"].contains(&extent);
        let has_length = ["same", "length"].contains(&extent);
        let was_mtime = if has_time { mtime } else { time(9, 1) };
        let was = tag(if digest == "same" { 1 } else { 2 }, 10, was_mtime);
        let birth_now = (birth != "none").then_some(time(1, 0));
        let observed = Observed {
            traits: FileTraits { birth: birth_now, ..traits(Some(1), 10, mtime) },
            tag: ["same", "other tag"].contains(&digest).then_some(&own),
            read: (digest == "other").then_some(&own),
            alike: 1,
        };
        let names = match name {
            "here" => NameState::Here,
            "leads" => NameState::Leads,
            "unknown" => NameState::Unknown,
            "replaced" => NameState::Replaced,
            _ => NameState::Gone,
        };
        let birth = if birth == "other" { Some(time(2, 0)) } else { birth_now };
        let inode = (inode != "none").then_some(if inode == "same" { 1 } else { 3 });
        let length = if has_length { 10 } else { 11 };
        let candidate = CandidateFile {
            traits: FileTraits { birth, ..traits(inode, length, was_mtime) },
            tag: Some(&was),
            is_proved: proved == "yes",
            names,
            is_namesake,
            seen_together: together == "yes",
        };
        identity(&observed, &[candidate])
    }

    /// Returns every row of evidence.
    fn rows() -> Vec<[&'static str; 7]> {
        let mut rows = vec![[""; 7]];
        for (at, values) in COLUMNS.iter().enumerate() {
            let longer = rows.iter().flat_map(|row| {
                values.iter().map(move |value| {
                    let mut row = *row;
                    row[at] = value;
                    row
                })
            });
            rows = longer.collect();
        }
        rows
    }

    #[test]
    fn every_combination_of_evidence_has_the_answer_of_the_first_row_that_fits() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let table = page.split("| --- | --- | --- | --- | --- | --- | --- | --- | --- |").nth(1);
        let lines = table.unwrap().lines().skip(1).take_while(|line| line.starts_with('|'));
        let lines: Vec<Vec<&str>> =
            lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
        let mut used = vec![0_usize; lines.len()];
        for row in rows() {
            let fits = |line: &&Vec<&str>| {
                let fits = |(cell, value)| {
                    let cell: &str = cell;
                    cell.is_empty() || cell.split(", ").any(|one| one == value)
                };
                line.iter().copied().zip(row).all(fits)
            };
            // The inode of a file with another birth is that of another file.
            let line = lines.iter().find(fits).unwrap();
            used[lines.iter().position(|it| it == line).unwrap()] += 1;
            for is_namesake in [true, false] {
                let (answer, ground) = shown(&asked(row, is_namesake));
                assert_eq!((answer.as_str(), ground.as_str()), (line[7], line[8]), "{row:?}");
            }
        }
        assert!(!used.contains(&0), "a row that is never used: {used:?}");
    }

    #[test]
    fn the_strongest_evidence_decides_among_several() {
        let (mtime, inode) = (time(5, 6), Some(1));
        let (one, two) = (tag(1, 10, mtime), tag(2, 10, mtime));
        let gone = |tag| CandidateFile {
            traits: traits(Some(9), 10, mtime),
            ..known(tag, NameState::Gone)
        };
        let here =
            CandidateFile { traits: traits(Some(4), 10, mtime), ..known(&two, NameState::Here) };
        // Renamed over a known file: by its inode, by its tag, and before it is read by its time.
        let renamed = new_file(traits(inode, 10, mtime), None);
        let by_inode = [here, known(&one, NameState::Gone)];
        assert_eq!(identity(&renamed, &by_inode).answer, WhichFile::Moved(1));
        let elsewhere = new_file(traits(None, 10, time(6, 6)), Some(&one));
        assert_eq!(identity(&elsewhere, &[here, gone(&one)]).answer, WhichFile::Moved(1));
        // At its own name the time is enough, and another file of that time is no rival.
        let unread = new_file(traits(None, 10, mtime), None);
        assert_eq!(identity(&unread, &[gone(&one), here]).answer, WhichFile::Same(1));
        let other_here = CandidateFile { traits: traits(Some(4), 8, mtime), ..here };
        let found = identity(&unread, &[other_here, gone(&one)]);
        assert_eq!((found.answer, found.ground), (WhichFile::Ambiguous(vec![1]), Ground::Time));
        // A further name, although the first one is gone from another record of the file.
        let names = [known(&one, NameState::Gone), known(&one, NameState::Leads)];
        assert_eq!(identity(&renamed, &names).answer, WhichFile::Same(1));
        // A file that is gone rather than one that is still there, and not against its time.
        let leads =
            CandidateFile { traits: traits(Some(8), 10, mtime), ..known(&one, NameState::Leads) };
        let tagged = new_file(traits(Some(7), 10, mtime), Some(&one));
        assert_eq!(identity(&tagged, &[leads, gone(&one)]).answer, WhichFile::Moved(1));
        let earlier = tag(1, 10, time(3, 3));
        let gone_earlier = CandidateFile { traits: traits(None, 10, time(3, 3)), ..gone(&earlier) };
        assert_eq!(identity(&tagged, &[gone_earlier, leads]).answer, WhichFile::Copy(1));
        assert_eq!(identity(&tagged, &[]).answer, WhichFile::New);
    }

    #[test]
    fn files_of_the_same_contents_are_told_apart_by_name_and_else_by_their_number() {
        let mtime = time(5, 6);
        let one = tag(1, 10, mtime);
        let gone =
            CandidateFile { traits: traits(None, 10, mtime), ..known(&one, NameState::Gone) };
        let observed = new_file(traits(None, 10, mtime), Some(&one));
        let two = [gone, gone];
        let found = identity(&observed, &two);
        assert_eq!(found.answer, WhichFile::Ambiguous(vec![0, 1]));
        assert_eq!(identity(&Observed { alike: 2, ..observed }, &two).answer, WhichFile::Moved(0));
        assert_eq!(identity(&observed, &two[..1]).answer, WhichFile::Moved(0));
        let namesake = [gone, CandidateFile { is_namesake: true, ..gone }];
        assert_eq!(identity(&observed, &namesake).answer, WhichFile::Moved(1));
        let inode = [known(&one, NameState::Gone), known(&one, NameState::Gone)];
        let by_inode = new_file(traits(Some(1), 10, mtime), None);
        assert_eq!(identity(&by_inode, &inode).answer, WhichFile::Moved(0), "names of one file");
    }

    #[test]
    fn empty_files_are_alike() {
        let mtime = time(5, 6);
        let empty = tag(1, 0, mtime);
        let gone =
            CandidateFile { traits: traits(Some(3), 0, mtime), ..known(&empty, NameState::Gone) };
        for own in [None, Some(&empty)] {
            let other = new_file(traits(Some(1), 0, mtime), own);
            assert_eq!(identity(&other, &[gone]).answer, WhichFile::New);
            let unlike = CandidateFile { traits: traits(Some(1), 0, time(7, 7)), ..gone };
            let reused = new_file(traits(Some(1), 0, time(8, 8)), None);
            assert_eq!(identity(&reused, &[unlike]).answer, WhichFile::New);
            let renamed = new_file(traits(Some(3), 0, mtime), own);
            assert_eq!(identity(&renamed, &[gone]).answer, WhichFile::Moved(0));
        }
        let namesake = CandidateFile { is_namesake: true, ..gone };
        let tagged = new_file(traits(Some(1), 0, mtime), Some(&empty));
        assert_eq!(identity(&tagged, &[namesake]).answer, WhichFile::Moved(0));
        // Its tag remembers the time of a file that was touched.
        let touched = new_file(traits(Some(3), 0, time(8, 8)), Some(&empty));
        assert_eq!(identity(&touched, &[gone]).answer, WhichFile::Moved(0));
    }

    #[test]
    fn asking_with_the_files_of_the_inode_first_changes_no_answer() {
        let mut candidates = Vec::new();
        let tags = [tag(1, 10, time(5, 6)), tag(2, 10, time(5, 6)), tag(1, 10, time(4, 4))];
        for tag in &tags {
            for names in [
                NameState::Here,
                NameState::Leads,
                NameState::Unknown,
                NameState::Replaced,
                NameState::Gone,
            ] {
                for inode in [Some(1), Some(2), None] {
                    let traits = traits(inode, 10, tag.mtime);
                    candidates.push(CandidateFile { traits, ..known(tag, names) });
                }
            }
        }
        for own in [None, Some(&tags[0]), Some(&tags[1])] {
            let observed = new_file(traits(Some(1), 10, time(5, 6)), own);
            for first in &candidates {
                for second in &candidates {
                    let both = [*first, *second];
                    let is_of_inode = |it: &&CandidateFile<'_>| it.traits.inode == Some(1);
                    let few: Vec<_> = both.iter().filter(is_of_inode).copied().collect();
                    let found = identity(&observed, &few);
                    if found.ground <= Ground::InodeAndName {
                        let whole = identity(&observed, &both);
                        assert_eq!(whole.ground, found.ground);
                        assert_eq!(shown(&whole), shown(&found));
                    }
                }
            }
        }
    }
}
