//! Exact documents, kept in `testdata/golden/report`.

use std::path::Path;

/// Compares a document with its file, or rewrites the file if asked to.
#[track_caller]
pub(crate) fn compare_bytes(name: &str, found: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/report");
    let path = folder.join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read(&path).unwrap_or_default();
    let (found, expected) = (str::from_utf8(found).unwrap(), str::from_utf8(&expected).unwrap());
    assert_eq!(found, expected, "{name} differs; UPDATE_GOLDEN=1 rewrites it");
}
