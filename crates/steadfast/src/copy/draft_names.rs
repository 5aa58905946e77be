//! Names at a destination that nobody else can foresee, and that the next run finds again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::file::{Dir, Draft, Existing, draft_name, make_private_folder};
use steadfast_sys::names::NameBytes as _;

/// As many bytes as the digest that the names are taken from.
const SECRET_LEN: usize = 32;

/// The file with the secret, beside the list of catalogued trees.
const FILE: &str = "secret";

/// Names of drafts and marks at one destination.
pub(super) struct DraftNames {
    secret: Vec<u8>,
    destination: PathBuf,
}

impl DraftNames {
    /// Takes the secret beside a list of trees, and makes one if there is none. Without it, what a
    /// killed run leaves is not found again.
    pub(super) fn at(destination: &Path, trees: Option<&Path>) -> io::Result<DraftNames> {
        let kept = trees.and_then(|trees| kept_secret(&trees.with_file_name(FILE)).ok());
        let secret = kept.map_or_else(new_secret, Ok)?;
        Ok(DraftNames { secret, destination: destination.to_owned() })
    }

    /// Returns the name of something that belongs to a path beneath the destination.
    pub(super) fn name(&self, what: &str, relative: &Path) -> OsString {
        let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
        let paths = [&*self.destination, relative].map(|path| path.as_bytes());
        for part in [&*self.secret, what.as_bytes(), paths[0], paths[1]] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let digest = hasher.finalize();
        let number = digest.as_bytes().first_chunk().expect("a digest has 32 bytes");
        draft_name(u64::from_le_bytes(*number))
    }
}

fn kept_secret(file: &Path) -> io::Result<Vec<u8>> {
    match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_private_folder(file.parent().unwrap_or(Path::new("")))?;
            let (dir, name) = Dir::parent_of(file)?;
            let mut draft = Draft::new(&Arc::new(dir))?;
            draft.write_all(&new_secret()?)?;
            // Another run may have made one meanwhile.
            let _ = draft.publish(&name, Existing::Keep);
            fs::read(file)
        }
        read => read,
    }
    .and_then(|secret| match secret.len() {
        SECRET_LEN => Ok(secret),
        _ => Err(io::ErrorKind::InvalidData.into()),
    })
}

fn new_secret() -> io::Result<Vec<u8>> {
    let mut secret = vec![0; SECRET_LEN];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_a_secret_that_is_kept() {
        let state = tempfile::tempdir().unwrap();
        let names = |user: &str, destination: &str| {
            let trees = state.path().join(user).join("state/trees");
            DraftNames::at(Path::new(destination), Some(&trees)).unwrap()
        };
        let name = names("a", "/to").name("file", Path::new("x"));
        assert_eq!(names("a", "/to").name("file", Path::new("x")), name);
        assert_eq!(fs::read(state.path().join("a/state/secret")).unwrap().len(), SECRET_LEN);
        let others = [
            names("b", "/to").name("file", Path::new("x")),
            names("a", "/other").name("file", Path::new("x")),
            names("a", "/to").name("folder", Path::new("x")),
            names("a", "/to").name("file", Path::new("y")),
            DraftNames::at(Path::new("/to"), None).unwrap().name("file", Path::new("x")),
        ];
        assert!(!others.contains(&name));
    }
}
