//! Checks that the kernels are as fast with other profiles as with the one that favours them.
//!
//! A package that depends on `steadfast-digest` chooses its own profile. The example
//! `kernel_rates` is built with three profiles, and each program verifies its digests and prints
//! its rates. The programs take turns; a kernel's figure is the median of the ratios of each turn.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::{Session, steps};

/// The profiles: name, codegen units, LTO. The first one is the reference.
const PROFILES: [Profile; 3] = [
    Profile { name: "kernels-favoured", codegen_units: "1", lto: "\"thin\"" },
    Profile { name: "kernels-cargo-default", codegen_units: "16", lto: "false" },
    Profile { name: "kernels-apart", codegen_units: "16", lto: "\"off\"" },
];

/// Number of times that each program runs.
const TURNS: usize = 9;

/// The least ratio to the reference. A kernel that a profile does not inline is many times slower:
/// with closures in the kernels, `x86_shani x4` had 0.06 on Zen 4. Smaller differences are not told
/// from noise: on a shared Xeon the medians of single kernels were between 0.74 and 1.13, each time
/// of other kernels, in four runs of the same code.
const RATIO_MIN: f64 = 0.5;

struct Profile {
    name: &'static str,
    codegen_units: &'static str,
    lto: &'static str,
}

impl Profile {
    /// The arguments that make this profile and choose it.
    fn arguments(&self) -> Vec<String> {
        let Profile { name, codegen_units, lto } = self;
        let config = |key: &str, value: &str| format!("--config=profile.{name}.{key}={value}");
        vec![
            config("inherits", "\"release\""),
            config("codegen-units", codegen_units),
            config("lto", lto),
            config("debug", "false"),
            format!("--profile={name}"),
        ]
    }
}

/// The rate of each kernel in GB/s.
type KernelRates = BTreeMap<String, f64>;

pub(super) fn kernels(session: &mut Session) -> anyhow::Result<()> {
    let target = steps::target_folder(session)?;
    for profile in &PROFILES {
        let mut build = steps::cargo(session);
        build.args(["build", "--package", "steadfast-digest", "--example", "kernel_rates"]);
        steps::succeed(build.args(profile.arguments()))?;
    }
    let programs =
        PROFILES.each_ref().map(|profile| target.join(profile.name).join("examples/kernel_rates"));
    let mut ratios: BTreeMap<(&str, String), Vec<f64>> = BTreeMap::new();
    for _ in 0..TURNS {
        let reference = rates(&programs[0])?;
        for (profile, program) in PROFILES.iter().zip(&programs).skip(1) {
            let rates = rates(program)?;
            ensure!(rates.keys().eq(reference.keys()), "the builds have different kernels");
            for (kernel, rate) in rates {
                let ratio = rate / reference[&kernel];
                ratios.entry((profile.name, kernel)).or_default().push(ratio);
            }
        }
    }
    let mut slow = Vec::new();
    for ((profile, kernel), ratios) in &mut ratios {
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        println!("{median:.2} of the favoured rate: {kernel}, {profile}");
        if median < RATIO_MIN {
            slow.push(format!("{kernel} with {profile}: {median:.2}"));
        }
    }
    ensure!(slow.is_empty(), "kernels below {RATIO_MIN} of their rate: {}", slow.join("; "));
    Ok(())
}

/// Runs a program and reads its lines: a rate, then the kernel's name.
fn rates(program: &Path) -> anyhow::Result<KernelRates> {
    let output = Command::new(program).output();
    let output = output.with_context(|| format!("running `{}`", program.display()))?;
    ensure!(output.status.success(), "`{}` gave {}", program.display(), output.status);
    let rates = parse_rates(&String::from_utf8(output.stdout)?);
    rates.with_context(|| format!("reading what `{}` printed", program.display()))
}

fn parse_rates(text: &str) -> anyhow::Result<KernelRates> {
    let rates = text.lines().map(|line| {
        let (rate, kernel) = line.split_once(' ').context("a line without a rate")?;
        let rate: f64 = rate.parse()?;
        anyhow::Ok((kernel.to_owned(), rate))
    });
    let rates: KernelRates = rates.collect::<anyhow::Result<_>>()?;
    ensure!(!rates.is_empty(), "no rates");
    Ok(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_by_kernel() {
        let rates = parse_rates("2.35 SHA-256 x86_shani x2\n0.36 SHA-256 portable x1\n").unwrap();
        let found: Vec<(&str, f64)> = rates.iter().map(|(name, rate)| (&**name, *rate)).collect();
        assert_eq!(found, [("SHA-256 portable x1", 0.36), ("SHA-256 x86_shani x2", 2.35)]);
        assert!(parse_rates("").is_err());
        assert!(parse_rates("fast x86_shani x2\n").is_err());
    }
}
