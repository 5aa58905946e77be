//! Addresses of object stores, which Steadfast sends no requests to: what to type instead.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use steadfast::beneath::presence_of;
use steadfast_report::advice::typed_path;

/// The stores whose addresses are known, and what rclone calls each.
const STORES: [(&str, &str); 8] = [
    ("s3", "s3,provider=AWS,env_auth=true"),
    ("gs", "gcs,env_auth=true"),
    ("gcs", "gcs,env_auth=true"),
    ("b2", "b2"),
    ("az", "azureblob,env_auth=true"),
    ("azblob", "azureblob,env_auth=true"),
    ("swift", "swift,env_auth=true"),
    ("oos", "oos,provider=env_auth"),
];

/// The verbs that compare files with a list.
const BY_LIST: [&str; 5] = ["check", "import", "known", "safe", "hash"];

/// Returns what to type if a word is the address of a store, and no file has that name. `words`
/// begin with the program and the verb.
pub(super) fn advice(words: &[OsString]) -> Option<String> {
    let verb = words.get(1)?.to_str()?;
    let is_option = |word: &OsStr| word.as_encoded_bytes().starts_with(b"-");
    let pairs = words.windows(2).skip(1).filter(|pair| !is_option(&pair[1]));
    // What follows an option may be its value.
    let paths: Vec<(&OsStr, bool)> =
        pairs.map(|pair| (&*pair[1], !is_option(&pair[0]) || pair[0] == "--in")).collect();
    let (at, address, remote) = paths.iter().enumerate().find_map(|(at, (word, is_free))| {
        let text = word.to_str()?;
        Some((at, text, remote_of(text, *is_free && BY_LIST.contains(&verb))?))
    })?;
    let list = format!("{}.json", list_name(address));
    let folder = paths.get(at + 1).or_else(|| paths.get(at.checked_sub(1)?));
    let folder = folder.map_or("DIR".to_owned(), |(path, _)| typed_path(Path::new(path)));
    let next = match verb {
        "known" | "safe" => format!("steadfast {verb} {folder} --in {list}"),
        "import" => format!("steadfast import {list} {folder}"),
        _ => format!("steadfast check --manifest {list} {folder}"),
    };
    let remote = typed_path(Path::new(&remote));
    Some(format!(
        "`{}` is in a store, and Steadfast sends no requests to stores. Make a list there, and \
         compare with that:\n  rclone lsjson --hash -R {remote} > {list}\n  {next}\n",
        address.escape_debug()
    ))
}

/// Returns what rclone calls an address: that of a store, or, if `may_be_remote`, one that is
/// rclone's already.
fn remote_of(address: &str, may_be_remote: bool) -> Option<String> {
    if !presence_of(Path::new(address)).is_lost() {
        return None;
    }
    if let Some((scheme, rest)) = address.split_once("://") {
        let store = STORES.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name));
        return store.map(|(_, remote)| format!(":{remote}:{}", rest.trim_end_matches('/')));
    }
    let (name, rest) = address.strip_prefix(':').unwrap_or(address).split_once(':')?;
    let is_name = |letter: char| letter.is_alphanumeric() || "_-,=".contains(letter);
    // A letter and a colon are a drive of Windows.
    let is_remote = may_be_remote && name.len() > 1 && name.chars().all(is_name);
    (is_remote && !rest.starts_with("//")).then(|| address.to_owned())
}

/// Returns a name for the list: the last name of the address.
fn list_name(address: &str) -> String {
    let last = address.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let plain = last.chars().filter(|it| it.is_ascii_alphanumeric() || "._-".contains(*it));
    let name: String = plain.collect();
    match name.trim_start_matches(['-', '.']) {
        "" => "objects".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_stores_are_answered_with_the_list_to_make() {
        let said = |line: &str| advice(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for (line, list, next) in [
            (
                "steadfast check s3://archive/photos /srv/x",
                "rclone lsjson --hash -R ':s3,provider=AWS,env_auth=true:archive/photos' \
                 > photos.json",
                "steadfast check --manifest photos.json /srv/x",
            ),
            (
                "steadfast known /srv/x --in gs://archive",
                "rclone lsjson --hash -R ':gcs,env_auth=true:archive' > archive.json",
                "steadfast known /srv/x --in archive.json",
            ),
            (
                "steadfast import backup:a/b",
                "rclone lsjson --hash -R backup:a/b > b.json",
                "steadfast import b.json DIR",
            ),
            (
                "steadfast copy /srv/x s3://archive/",
                "rclone lsjson --hash -R ':s3,provider=AWS,env_auth=true:archive' > archive.json",
                "steadfast check --manifest archive.json /srv/x",
            ),
        ] {
            let said = said(line).expect(line);
            assert!(said.contains(&format!("\n  {list}\n  {next}\n")), "{line}\n{said}");
        }
        for line in [
            "steadfast check a b",
            "steadfast copy a:b c",
            "steadfast check C:x",
            "steadfast check --exclude ab:c x",
            "steadfast",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
