//! Keys for a store, from the environment or from the files of the AWS tools.
//!
//! In: the name of a profile. Out: the credentials, and the other settings of the profile. No
//! message contains the value of a key, even if its file is malformed.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use steadfast_objects::Credentials;

/// Credentials and settings.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) credentials: Option<Credentials>,
    pub(super) region: Option<String>,
    pub(super) endpoint: Option<String>,
    /// The file of the certificates to trust.
    pub(super) authorities: Option<String>,
}

/// Finds the keys: those of the environment, unless a profile is given. The other settings of the
/// profile always apply.
pub(super) fn find(profile: Option<&str>, anonymous: bool) -> anyhow::Result<Keys> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let name = profile.map(str::to_owned).or_else(|| variable("AWS_PROFILE"));
    let name = name.unwrap_or_else(|| "default".to_owned());
    let credentials = read("AWS_SHARED_CREDENTIALS_FILE", "credentials")?;
    let config = read("AWS_CONFIG_FILE", "config")?;
    let section = if name == "default" { name.clone() } else { format!("profile {name}") };
    let get = |key: &str| {
        value(&credentials, &name, key).or_else(|| value(&config, &section, key)).map(str::to_owned)
    };
    let keys = Keys {
        credentials: None,
        region: get("region"),
        endpoint: get("endpoint_url"),
        authorities: get("ca_bundle"),
    };
    if anonymous {
        return Ok(keys);
    }
    let own = variable("AWS_ACCESS_KEY_ID").zip(variable("AWS_SECRET_ACCESS_KEY"));
    let credentials = if let Some((access, secret)) = own.filter(|_| profile.is_none()) {
        Credentials::new(access, secret, variable("AWS_SESSION_TOKEN"))
    } else if let Some((access, secret)) =
        get("aws_access_key_id").zip(get("aws_secret_access_key"))
    {
        Credentials::new(access, secret, get("aws_session_token"))
    } else {
        bail!(
            "no key was found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, add a key to the \
             profile `{name}` in ~/.aws/credentials, or use --anonymous"
        );
    };
    Ok(Keys { credentials: Some(credentials), ..keys })
}

/// Reads a file of profiles. A missing file has none.
fn read(variable: &str, name: &str) -> anyhow::Result<String> {
    let named = env::var_os(variable).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".aws").join(name));
    let Some(path) = named.or_else(home) else { return Ok(String::new()) };
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// Finds a value in a section.
fn value<'a>(text: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let mut here = false;
    for line in text.lines() {
        let plain = line.trim();
        if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            here = name.trim() == section;
        } else if here
            // An indented line belongs to a setting of several lines.
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((name, value)) = plain.split_once('=')
            && name.trim() == key
        {
            return Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_their_sections() {
        let text = "[default]\nregion = a\n# region = x\n\n[profile p]\ns3 =\n  region = y\n\
                    region=b\n[ q ]\nregion =\n";
        assert_eq!(value(text, "default", "region"), Some("a"));
        assert_eq!(value(text, "profile p", "region"), Some("b"));
        assert_eq!(value(text, "q", "region"), None);
        assert_eq!(value(text, "p", "region"), None);
    }
}
