//! Reads the seal of a bundle's resources, `CodeResources`.
//!
//! A seal may have two versions of its entries. The second is used if it is there; the first has no
//! symlinks and no nested code.

use std::collections::BTreeMap;

use super::rules::ResourceRules;
use crate::hash::HashType;
use crate::plist::Value;

/// The version of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealVersion {
    /// `files` and `rules`: files with SHA-1.
    One,
    /// `files2` and `rules2`: any hash, symlinks, nested code.
    Two,
}

/// The seal of the resources.
#[derive(Clone, Debug)]
pub struct ResourceSeal {
    /// Its version.
    pub version: SealVersion,
    /// Which files are sealed.
    pub rules: ResourceRules,
    /// Everything that was sealed, by its path relative to the resource base.
    pub entries: BTreeMap<String, SealedEntry>,
}

/// One entry of the seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedEntry {
    /// The form of the sealed object.
    pub form: SealedForm,
    /// Whether it may be missing.
    pub optional: bool,
}

/// The form of a sealed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedForm {
    /// A file with these digests.
    File(Vec<(HashType, Vec<u8>)>),
    /// A symlink to this target.
    Symlink(String),
    /// Code with a signature of its own.
    Nested {
        /// The requirement it must meet, as text.
        requirement: String,
        /// The CDHash of exactly the code that was sealed.
        cdhash: Option<Vec<u8>>,
    },
}

/// The keys of digests. The number is that of the hash type; SHA-1 came first and has none.
const DIGEST_KEYS: [(&str, HashType); 4] = [
    ("hash", HashType::Sha1),
    ("hash2", HashType::Sha256),
    ("hash3", HashType::Sha256Truncated),
    ("hash4", HashType::Sha384),
];

impl ResourceSeal {
    /// Reads a seal.
    ///
    /// # Errors
    /// What is wrong with it, as a fragment that continues "the seal cannot be understood:".
    pub fn parse(bytes: &[u8]) -> Result<ResourceSeal, String> {
        let root = Value::parse(bytes).map_err(|error| error.to_string())?;
        let forms = [("files2", "rules2", SealVersion::Two), ("files", "rules", SealVersion::One)];
        for (files, rules, version) in forms {
            let (Some(files), Some(rules)) = (root.get(files), root.get(rules)) else { continue };
            let files = files.as_map().ok_or("its files are no dictionary")?;
            let mut entries = BTreeMap::new();
            for (path, value) in files {
                let sealed = sealed(value, version);
                let sealed =
                    sealed.ok_or_else(|| format!("its entry `{path}` is of no known form"))?;
                entries.insert(path.clone(), sealed);
            }
            return Ok(ResourceSeal { version, rules: ResourceRules::parse(rules)?, entries });
        }
        Err("it has no files with rules".to_owned())
    }
}

fn sealed(value: &Value, version: SealVersion) -> Option<SealedEntry> {
    if let Some(digest) = value.as_data() {
        let digests = vec![(HashType::Sha1, digest.to_vec())];
        return Some(SealedEntry { form: SealedForm::File(digests), optional: false });
    }
    value.as_map()?;
    let optional = value.get("optional").and_then(Value::as_boolean) == Some(true);
    let form = match (value.get("requirement"), value.get("symlink"), version) {
        (Some(requirement), _, SealVersion::Two) => SealedForm::Nested {
            requirement: requirement.as_text()?.to_owned(),
            cdhash: match value.get("cdhash") {
                Some(cdhash) => Some(cdhash.as_data()?.to_vec()),
                None => None,
            },
        },
        (None, Some(target), SealVersion::Two) => SealedForm::Symlink(target.as_text()?.to_owned()),
        _ => {
            let mut digests = Vec::new();
            for (key, hash) in DIGEST_KEYS {
                if let Some(digest) = value.get(key) {
                    digests.push((hash, digest.as_data()?.to_vec()));
                }
            }
            SealedForm::File(digests)
        }
    };
    // An entry without any digest seals nothing.
    let says_nothing = matches!(&form, SealedForm::File(digests) if digests.is_empty());
    (!says_nothing).then_some(SealedEntry { form, optional })
}

impl SealedEntry {
    /// Returns the digests that must hold, one for each hash type that the code directories have:
    /// that of the type, else SHA-1's. `None` if for some type there is neither.
    pub fn digests_for(&self, hashes: &[HashType]) -> Option<Vec<(HashType, &[u8])>> {
        let SealedForm::File(digests) = &self.form else { return None };
        let of = |wanted: HashType| {
            let found = digests.iter().find(|(hash, _)| *hash == wanted);
            found.map(|(hash, digest)| (*hash, digest.as_slice()))
        };
        let mut needed = Vec::with_capacity(hashes.len());
        for hash in hashes {
            let digest = of(*hash).or_else(|| of(HashType::Sha1))?;
            if !needed.contains(&digest) {
                needed.push(digest);
            }
        }
        Some(needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(inner: &str) -> Result<ResourceSeal, String> {
        ResourceSeal::parse(
            format!("<plist version=\"1.0\"><dict>{inner}</dict></plist>").as_bytes(),
        )
    }

    const RULES: &str = "<key>rules2</key><dict><key>^.*</key><true/></dict>";

    #[test]
    fn every_form_of_entry() {
        let seal = parse(&format!(
            "<key>files</key><dict><key>old</key><data>AA==</data></dict>\
             <key>rules</key><dict/>\
             <key>files2</key><dict>\
             <key>bare</key><data>AA==</data>\
             <key>file</key><dict><key>hash2</key><data>AQ==</data><key>hash</key><data>Ag==</data>\
             <key>optional</key><true/></dict>\
             <key>link</key><dict><key>symlink</key><string>a/b</string></dict>\
             <key>code</key><dict><key>cdhash</key><data>Aw==</data>\
             <key>requirement</key><string>identifier x</string></dict>\
             </dict>{RULES}"
        ));
        let seal = seal.unwrap();
        assert_eq!(seal.version, SealVersion::Two);
        let form = |name: &str| seal.entries[name].form.clone();
        assert_eq!(form("bare"), SealedForm::File(vec![(HashType::Sha1, vec![0])]));
        let both = vec![(HashType::Sha1, vec![2]), (HashType::Sha256, vec![1])];
        assert_eq!(form("file"), SealedForm::File(both));
        assert!(seal.entries["file"].optional && !seal.entries["link"].optional);
        assert_eq!(form("link"), SealedForm::Symlink("a/b".to_owned()));
        let requirement = "identifier x".to_owned();
        assert_eq!(form("code"), SealedForm::Nested { requirement, cdhash: Some(vec![3]) });
        assert_eq!(seal.entries.len(), 4);
    }

    #[test]
    fn each_hash_type_needs_its_digest_or_that_of_sha_1() {
        let one = |digests| SealedEntry { form: SealedForm::File(digests), optional: false };
        let sha1 = (HashType::Sha1, vec![1]);
        let sha256 = (HashType::Sha256, vec![2]);
        let both = one(vec![sha1.clone(), sha256.clone()]);
        let wanted = [HashType::Sha1, HashType::Sha256, HashType::Sha384];
        let needed = both.digests_for(&wanted).unwrap();
        assert_eq!(needed, [(HashType::Sha1, &[1][..]), (HashType::Sha256, &[2][..])]);
        assert_eq!(one(vec![sha256]).digests_for(&wanted), None);
        let fallback = one(vec![sha1]).digests_for(&[HashType::Sha256]).unwrap().len();
        assert_eq!(fallback, 1);
    }

    #[test]
    fn the_first_form_serves_where_there_is_no_second() {
        let seal = parse(
            "<key>files</key><dict><key>a</key><dict><key>hash</key><data>AA==</data></dict></dict>\
             <key>rules</key><dict><key>^.*</key><true/></dict>",
        );
        assert_eq!(seal.unwrap().version, SealVersion::One);
    }

    #[test]
    fn what_is_no_seal_is_told() {
        for inner in [
            String::new(),
            format!("<key>files2</key><true/>{RULES}"),
            format!("<key>files2</key><dict><key>a</key><true/></dict>{RULES}"),
            format!("<key>files2</key><dict><key>a</key><dict/></dict>{RULES}"),
            "<key>files2</key><dict/><key>rules2</key><dict><key>(</key><true/></dict>".to_owned(),
        ] {
            assert!(parse(&inner).is_err(), "{inner}");
        }
    }
}
