//! The recipes of `share/packaging`, filled in.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{Release, printed};

/// The recipes, and where they go in the folder of the release: a build of a container takes
/// everything from the folder that its recipe is in.
const RECIPES: [&str; 5] = ["Dockerfile", "compose.yaml", "unraid.xml", "steadfast.rb", "PKGBUILD"];

pub(super) fn write(release: &Release) -> anyhow::Result<()> {
    for name in RECIPES {
        let recipe = fs::read_to_string(release.root.join("share/packaging").join(name))?;
        // One of an earlier run would have the digests of other archives.
        let _ = fs::remove_file(release.out.join(name));
        if let Some(absent) =
            archives(&recipe, release).find(|file| !release.out.join(file).exists())
        {
            println!("left out: {name}, because {absent} was not made");
            continue;
        }
        let filled = filled(&recipe, &release.version, &release.repository, |file| {
            sum(&release.out.join(file))
        });
        let filled = filled.with_context(|| format!("filling in `{name}`"))?;
        fs::write(release.out.join(name), filled)?;
    }
    Ok(())
}

/// The archives whose digests a recipe has.
fn archives<'a>(recipe: &'a str, release: &'a Release) -> impl Iterator<Item = String> + 'a {
    let recipe = recipe.replace("@VERSION@", &release.version);
    let parts: Vec<String> = recipe.split("@SHA256:").skip(1).map(str::to_owned).collect();
    parts.into_iter().filter_map(|part| Some(part.split_once('@')?.0.to_owned()))
}

/// Replaces `@VERSION@`, `@REPOSITORY@` and `@SHA256:FILE@`.
fn filled(
    recipe: &str,
    version: &str,
    repository: &str,
    sum_of: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    let recipe = recipe.replace("@VERSION@", version).replace("@REPOSITORY@", repository);
    let mut parts = recipe.split("@SHA256:");
    let mut filled = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let (file, rest) = part.split_once('@').context("a placeholder without an end")?;
        filled += &sum_of(file)?;
        filled += rest;
    }
    Ok(filled)
}

/// The SHA-256 of a file.
fn sum(file: &Path) -> anyhow::Result<String> {
    let line = printed(Command::new("sha256sum").arg(file))?;
    let sum = line.split(' ').next().unwrap_or("");
    ensure!(sum.len() == 64, "sha256sum printed `{line}`");
    Ok(sum.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in() {
        let sum_of = |file: &str| Ok(format!("<{file}>"));
        let recipe = "v@VERSION@ of @REPOSITORY@: @SHA256:a-@VERSION@.zip@ @SHA256:b@\n";
        let filled = filled(recipe, "1.2.3", "https://example.org", sum_of).unwrap();
        assert_eq!(filled, "v1.2.3 of https://example.org: <a-1.2.3.zip> <b>\n");
    }
}
