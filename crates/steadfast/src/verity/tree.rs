//! The tree above the leaves, computed as they arrive.
//!
//! Takes leaves, in order. Returns the root. Must not know files. Memory is one page for each
//! level, and a file of any length has few levels.

use steadfast_digest::AlgorithmHasher;

use super::VerityParams;

/// The root of a tree: the digest at its top; zeros for an empty file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root([u8; Root::LEN_MAX]);

impl Root {
    /// The longest root in bytes; shorter ones are padded with zeros.
    pub const LEN_MAX: usize = 64;

    /// Makes a root from its padded form.
    pub fn from_padded(padded: [u8; Root::LEN_MAX]) -> Root {
        Root(padded)
    }

    /// Returns the root in its padded form.
    pub fn padded(&self) -> &[u8; Root::LEN_MAX] {
        &self.0
    }
}

/// A tree that is being computed.
#[derive(Clone, Debug)]
pub struct Tree {
    params: VerityParams,
    prefix: Vec<u8>,
    levels: Vec<TreeLevel>,
}

/// The page of one level that is being filled.
#[derive(Clone, Debug, Default)]
struct TreeLevel {
    page: Vec<u8>,
    /// Pages of this level that are hashed already.
    hashed: u64,
}

impl Tree {
    /// Makes a tree without leaves.
    pub fn new(params: &VerityParams) -> Tree {
        Tree { params: params.clone(), prefix: params.prefix(), levels: Vec::new() }
    }

    /// Adds consecutive leaves.
    ///
    /// # Panics
    /// If the bytes are not whole leaves.
    pub fn push_all(&mut self, leaves: &[u8]) {
        let leaf_len = self.params.hash.digest_len();
        assert!(leaves.len().is_multiple_of(leaf_len), "leaves are whole");
        for leaf in leaves.chunks_exact(leaf_len) {
            self.push(0, leaf);
        }
    }

    fn push(&mut self, level: usize, digest: &[u8]) {
        if level == self.levels.len() {
            self.levels.push(TreeLevel::default());
        }
        // Hashed only when more follows: a full page alone has no level above it yet.
        if self.levels[level].page.len() == self.params.page_len {
            self.ascend(level);
        }
        self.levels[level].page.extend_from_slice(digest);
    }

    /// Hashes the page of a level, padded with zeros, into the level above.
    fn ascend(&mut self, level: usize) {
        let TreeLevel { page, hashed } = &mut self.levels[level];
        page.resize(self.params.page_len, 0);
        let mut hasher = AlgorithmHasher::new(self.params.hash.algorithm());
        hasher.update(&self.prefix);
        hasher.update(page);
        page.clear();
        *hashed += 1;
        self.push(level + 1, hasher.finalize().as_bytes());
    }

    /// Ends the tree and returns its root.
    pub fn root(mut self) -> Root {
        let digest_len = self.params.hash.digest_len();
        let mut root = [0; Root::LEN_MAX];
        let mut level = 0;
        while let Some(TreeLevel { page, hashed }) = self.levels.get(level) {
            if *hashed == 0 && page.len() == digest_len {
                root[..digest_len].copy_from_slice(page);
                break;
            }
            self.ascend(level);
            level += 1;
        }
        Root(root)
    }
}
