//! Repaired files: written as drafts, proved, and put in place of the damaged ones, which are kept.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_manifest::tag::Tag;
use steadfast_parity::par2::{Par2File, Solution};
use steadfast_sys::file::{Dir, Draft, Existing};

use super::Par2Report;
use super::ranges::{HashedPart, digests};
use super::rebuild::{BlockReader, rebuild};
use super::survey::{BlockSurvey, open};
use super::volumes::LoadedSet;
use crate::beneath;
use crate::catalogue::Catalogue;
use crate::event::FileError;
use crate::pages::Descriptor;
use crate::repair::{
    FolderTime, MadeFolders, MissingRecords, Originals, Own, SparseWriter, WRITTEN_SINCE, Withheld,
    digest_matches, draft_for, ensure_room, exchange, give_all, give_known, make_directory,
    make_private, read_back, refused, system,
};
use crate::store::{StoredTag, tag_at};
use crate::verdict::Verdict;

/// Files whose drafts are open at a time.
const DRAFTS_MAX: usize = 256;

/// Bytes that are copied at a time.
const COPY_LEN: u64 = 1 << 20;

/// Repairs the files of a set.
pub(super) struct Replacer<'a> {
    loaded: &'a LoadedSet,
    survey: &'a BlockSurvey,
    /// The real path of the folder.
    root: PathBuf,
    originals: Originals,
    /// What is known of missing files.
    records: MissingRecords,
    stop: &'a AtomicBool,
}

/// A file that is being repaired.
struct DraftedFile {
    number: usize,
    own: Option<Own>,
    folder: DraftedFolder,
    draft: Draft,
}

/// The folder of a file that is being repaired.
enum DraftedFolder {
    /// That of a damaged file, and its time.
    There(Arc<Dir>, FolderTime),
    /// That of a missing file.
    Made(MadeFolders),
}

impl DraftedFolder {
    fn dir(&self) -> &Arc<Dir> {
        match self {
            DraftedFolder::There(dir, _) => dir,
            DraftedFolder::Made(made) => &made.dir,
        }
    }
}

impl DraftedFile {
    /// Makes what writes to the draft.
    fn writer(&self) -> SparseWriter<'_> {
        SparseWriter::new(&self.draft, self.own.as_ref().map(|own| &own.file))
    }
}

impl<'a> Replacer<'a> {
    pub(super) fn new(
        loaded: &'a LoadedSet,
        survey: &'a BlockSurvey,
        root: PathBuf,
        originals: Originals,
        stop: &'a AtomicBool,
    ) -> Replacer<'a> {
        let catalogue = Catalogue::find(&root).and_then(|it| Catalogue::open_reader(&it).ok());
        let records = MissingRecords::of(&root, catalogue.map(Rc::new));
        Replacer { loaded, survey, originals, records, root, stop }
    }

    /// Returns the number and the folder under which damaged files are kept, if some are.
    pub(super) fn originals(&self) -> Option<(u64, PathBuf)> {
        self.originals.place()
    }

    /// Repairs the damaged and missing files, or says which can be, with `is_plan`.
    pub(super) fn repair(&self, is_plan: bool, reports: &mut [Par2Report]) {
        let lost = self.survey.lost();
        let exponents: Vec<u32> = self.loaded.recovery.iter().map(|block| block.exponent).collect();
        let solution = Solution::new(self.survey.places.len(), &lost, &exponents, self.stop);
        let mut targets = Vec::new();
        for (number, report) in reports.iter_mut().enumerate() {
            if !matches!(report.verdict, Verdict::Corrupt | Verdict::Missing) {
                continue;
            }
            report.is_repaired = Some(false);
            let path = &self.loaded.set.files[number].path;
            if let Err(fault) = self.records.ensure_mounted(path) {
                report.fault = Some(fault);
                continue;
            }
            match &solution {
                Err(error) if report.lost_blocks > 0 => {
                    report.fault = Some(refused(error.to_string()));
                }
                _ if report.blocks == 0 && self.loaded.set.files[number].length > 0 => {
                    report.fault = Some(refused("the set has no recovery blocks of it"));
                }
                _ if is_plan => report.is_repaired = Some(true),
                _ => targets.push(number),
            }
        }
        let solution = solution.ok();
        for batch in targets.chunks(DRAFTS_MAX) {
            self.repair_batch(batch, solution.as_ref(), reports);
        }
        for (relative, kept) in self.originals.written_since() {
            let number = self.loaded.set.files.iter().position(|file| file.path == relative);
            if let Some(number) = number {
                reports[number].is_repaired = Some(false);
                let text = format!("{WRITTEN_SINCE} `{}`", kept.display());
                reports[number].fault = Some(refused(text));
            }
        }
    }

    fn repair_batch(
        &self,
        batch: &[usize],
        solution: Option<&Solution>,
        reports: &mut [Par2Report],
    ) {
        let mut files = Vec::new();
        for number in batch {
            match self.begin(*number) {
                Ok(file) => files.push(file),
                Err(fault) => reports[*number].fault = Some(fault),
            }
        }
        let needs = files.iter().any(|file| reports[file.number].lost_blocks > 0);
        if let Some(solution) = solution.filter(|_| needs)
            && let Err(error) = self.write_lost(&files, solution)
        {
            for file in &files {
                reports[file.number].fault =
                    Some(system("rebuild the lost blocks")(error_of(&error)));
            }
            return;
        }
        for file in files {
            let number = file.number;
            match self.finish(file) {
                Ok(withheld) => {
                    reports[number].is_repaired = Some(true);
                    reports[number].withheld = withheld;
                }
                Err(fault) => reports[number].fault = Some(fault),
            }
        }
    }

    /// Makes a draft with the blocks that are left.
    fn begin(&self, number: usize) -> Result<DraftedFile, FileError> {
        let of = &self.loaded.set.files[number];
        let own = self.own(number)?;
        let parent = of.path.parent().unwrap_or(Path::new(""));
        let folder = match own {
            Some(_) => beneath::directory(&self.root, parent).map(|dir| {
                let time = FolderTime::of(&dir);
                DraftedFolder::There(Arc::new(dir), time)
            }),
            None => make_directory(&self.root, parent, &self.records).map(DraftedFolder::Made),
        };
        let folder = folder.map_err(system("open its folder"))?;
        let draft = draft_for((&self.root, parent), own.as_ref(), folder.dir(), &self.originals)?;
        make_private(&draft, own.as_ref())?;
        let file = DraftedFile { number, own, folder, draft };
        let write = system("write the draft");
        let room = self.room_for(&file);
        ensure_room(&self.root.join(parent), room, "", || Ok(room)).map_err(&write)?;
        self.write_left(&file).map_err(&write)?;
        Ok(file)
    }

    /// Opens the damaged file, which must still be as it was read.
    fn own(&self, number: usize) -> Result<Option<Own>, FileError> {
        let Some(before) = &self.survey.files[number].status else { return Ok(None) };
        let opened = open(self.loaded, number);
        let (file, status) = opened.map_err(system("open it"))?;
        match status {
            _ if status != *before => Err(refused("the file was changed meanwhile")),
            _ if status.links > 1 => Err(refused(format!(
                "it has {} names (hard links), which a repair would part",
                status.links
            ))),
            _ => Ok(Some(Own { file, status })),
        }
    }

    /// Returns how many bytes a file needs at least: of a missing one, nothing is known.
    fn room_for(&self, file: &DraftedFile) -> u64 {
        let own = file.own.as_ref();
        own.and_then(|own| own.file.allocated_bytes().ok()).unwrap_or(0)
    }

    fn write_left(&self, file: &DraftedFile) -> io::Result<()> {
        let of = &self.loaded.set.files[file.number];
        let block_len = self.loaded.set.block_len;
        let mut reader = BlockReader::new(self.loaded, self.survey);
        let mut bytes = vec![0; block_len.min(COPY_LEN) as usize];
        let mut writer = file.writer();
        writer.set_length(of.length)?;
        for number in 0..of.blocks.len() {
            let start = number as u64 * block_len;
            let end = (start + block_len).min(of.length);
            let mut at = start;
            while at < end {
                super::go_on(self.stop)?;
                let bytes = &mut bytes[..(end - at).min(COPY_LEN).min(block_len) as usize];
                if !reader.read(of.blocks.start + number, at - start, bytes)? {
                    break;
                }
                writer.write(bytes, at)?;
                at += bytes.len() as u64;
            }
        }
        Ok(())
    }

    fn write_lost(&self, files: &[DraftedFile], solution: &Solution) -> io::Result<()> {
        let block_len = self.loaded.set.block_len;
        rebuild(self.loaded, self.survey, solution, self.stop, &mut |block, at, bytes| {
            for file in files {
                let of: &Par2File = &self.loaded.set.files[file.number];
                if of.blocks.contains(&block) {
                    let start = (block - of.blocks.start) as u64 * block_len + at;
                    let len = of.length.saturating_sub(start).min(bytes.len() as u64);
                    file.writer().write(&bytes[..len as usize], start)?;
                }
            }
            Ok(())
        })
    }

    /// Proves a draft and puts it in place.
    fn finish(&self, repaired: DraftedFile) -> Result<Vec<Withheld>, FileError> {
        let DraftedFile { number, own, folder, draft } = repaired;
        let of = &self.loaded.set.files[number];
        let tag = self.prove(of, own.as_ref(), &draft)?;
        let name = of.path.file_name().ok_or_else(|| refused("it has no name"))?;
        match (own, folder) {
            (Some(own), DraftedFolder::There(dir, time)) => {
                let mtime = tag.map_or(own.status.mtime, |tag| tag.mtime);
                give_all(&own, &draft, &of.path, mtime)?;
                exchange(&of.path, &own, draft, &dir, name, &self.originals)?;
                time.restore();
                Ok(Vec::new())
            }
            (_, folder) => {
                let mut withheld = give_known(&self.records, &draft, &of.path, None)?;
                let published = draft.publish_in(folder.dir(), name, Existing::Keep);
                let put = published.and_then(|()| folder.dir().flush());
                put.map_err(system("put it in place"))?;
                if let DraftedFolder::Made(made) = folder {
                    withheld.extend(made.finish());
                }
                Ok(withheld)
            }
        }
    }

    /// Reads the draft back from the medium: length and MD5 must be those of the set, and the
    /// digest that of the file's tag, which is returned, if it has one.
    fn prove(
        &self,
        of: &Par2File,
        own: Option<&Own>,
        draft: &Draft,
    ) -> Result<Option<Tag>, FileError> {
        let file = read_back(draft)?;
        let len_bytes = file.status().map_err(system("read the draft back"))?.length;
        let source = Descriptor { file: &file, len_bytes };
        let whole = digests(&source, &[HashedPart::whole(0, len_bytes)], self.stop);
        let whole = whole.map_err(system("read the draft back"))?;
        if len_bytes != of.length || whole != [Some(of.digest)] {
            return Err(refused("the rebuilt contents do not have the MD5 of the set"));
        }
        let tag = own.map(|own| tag_at(&own.file, &self.root.join(&of.path)));
        let Some(Ok(StoredTag::Whole(tag))) = tag else { return Ok(None) };
        let matches = tag.length == len_bytes
            && digest_matches(&file, &tag, self.stop).map_err(system("read the draft back"))?;
        match matches {
            true => Ok(Some(tag)),
            false => Err(refused("the contents of the set are not those of the file's tag")),
        }
    }
}

/// Copies an error, which is said of several files.
fn error_of(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}
