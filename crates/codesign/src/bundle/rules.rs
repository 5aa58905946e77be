//! Decides which files of a bundle are sealed, by the rules of the seal and the fixed exceptions.
//!
//! All patterns are matched at once; of the rules that match, the one with the greatest weight
//! decides.

use regex::bytes::RegexSet;
use regex::bytes::{RegexBuilder, RegexSetBuilder};

use super::pattern;
use crate::plist::Value;

/// The longest pattern. Those of Apple have 130 letters.
const PATTERN_LEN_MAX: usize = 4096;

/// The most rules. Apple's seals have 13.
const RULES_MAX: usize = 1000;

/// The most bytes that the compiled patterns may take, so that nested repetitions cannot grow
/// without limit.
const COMPILED_LEN_MAX: usize = 4 << 20;

/// Names that are never sealed, whatever the rules say. A folder of that name is not entered.
const EXCLUDED: [&[u8]; 3] = [b"_CodeSignature", b"CodeResources", b"_MASReceipt"];

/// The rules that strict checking lets omit something, as the parts after the resource folder.
const OMIT_ALLOWED: [&str; 4] =
    ["^(.*/)?\\.DS_Store$", "^Info\\.plist$", "^PkgInfo$", ".*\\.lproj/locversion.plist$"];

/// One rule of a seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRule {
    /// An extended regular expression.
    pub pattern: String,
    /// Of several rules that match, the one with the greatest weight decides.
    pub weight: u32,
    /// Whether a match is not sealed.
    pub omit: bool,
    /// Whether a match may be missing.
    pub optional: bool,
    /// Whether a match is code with a signature of its own.
    pub nested: bool,
}

/// The decision about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It is never sealed: the signature itself, or the main executable.
    Excluded,
    /// No rule matches it.
    Unruled,
    /// This rule decides.
    Rule(&'a ResourceRule),
}

/// The rules of one seal, ready to decide.
#[derive(Clone, Debug)]
pub struct ResourceRules {
    rules: Vec<ResourceRule>,
    set: RegexSet,
    /// The main executable, relative to the base; it is sealed by its own signature.
    executable: Option<Vec<u8>>,
}

impl ResourceRules {
    /// Reads the rules of a seal.
    ///
    /// # Errors
    /// What is wrong, and in which rule.
    pub fn parse(value: &Value) -> Result<ResourceRules, String> {
        let entries = value.as_map().ok_or("its rules are no dictionary")?;
        if entries.len() > RULES_MAX {
            return Err(format!("it has {} rules; the most is {RULES_MAX}", entries.len()));
        }
        let rules: Result<Vec<ResourceRule>, String> =
            entries.iter().map(|(pattern, value)| rule(pattern, value)).collect();
        let rules = rules?;
        let mut translated = Vec::with_capacity(rules.len());
        for ResourceRule { pattern, .. } in &rules {
            let wrong = |reason: &str| format!("its rule `{pattern}` has {reason}");
            if pattern.len() > PATTERN_LEN_MAX {
                return Err("it has a rule of more than 4,096 letters".to_owned());
            }
            let one = pattern::translate(pattern.as_bytes()).map_err(wrong)?;
            // First alone, so that the error names the rule.
            let compiled = RegexBuilder::new(&one).size_limit(COMPILED_LEN_MAX).build();
            compiled.map_err(|_| wrong("a pattern that is too large"))?;
            translated.push(one);
        }
        let set = RegexSetBuilder::new(&translated).size_limit(COMPILED_LEN_MAX).build();
        let set = set.map_err(|_| "its rules together are too large")?;
        Ok(ResourceRules { rules, set, executable: None })
    }

    /// Excludes the main executable.
    pub fn exclude_executable(&mut self, path: &[u8]) {
        self.executable = Some(path.to_vec());
    }

    /// Returns the rules, in the order of the seal.
    pub fn list(&self) -> &[ResourceRule] {
        &self.rules
    }

    /// Decides about a name relative to the base.
    ///
    /// Among rules of equal weight the first in the seal holds. Apple's order is that of a hash
    /// table there, so no seal can rely on it.
    pub fn decide(&self, path: &[u8]) -> Decision<'_> {
        if EXCLUDED.contains(&path) || self.executable.as_deref() == Some(path) {
            return Decision::Excluded;
        }
        let mut best: Option<&ResourceRule> = None;
        for index in self.set.matches(path) {
            let rule = &self.rules[index];
            if best.is_none_or(|best| rule.weight > best.weight) {
                best = Some(rule);
            }
        }
        best.map_or(Decision::Unruled, Decision::Rule)
    }

    /// Returns what strict checking rejects in the rules, one fragment for each reason.
    pub fn weaknesses(&self) -> Vec<String> {
        let mut found = Vec::new();
        let catches_all = |rule: &ResourceRule| rule.pattern == "^.*" && !rule.omit;
        if !self.rules.iter().any(catches_all) {
            found.push("no rule seals files that the other rules do not match".to_owned());
        }
        for ResourceRule { pattern, omit, .. } in &self.rules {
            let allowed = OMIT_ALLOWED.contains(&pattern.as_str())
                || pattern.starts_with('^') && pattern.ends_with(OMIT_ALLOWED[3]);
            if *omit && !allowed {
                found.push(format!("the rule `{pattern}` excludes files that should be sealed"));
            }
        }
        found
    }
}

fn rule(pattern: &str, value: &Value) -> Result<ResourceRule, String> {
    let mut rule = ResourceRule {
        pattern: pattern.to_owned(),
        weight: 1,
        omit: false,
        optional: false,
        nested: false,
    };
    if let Some(truth) = value.as_boolean() {
        rule.omit = !truth;
        return Ok(rule);
    }
    if value.as_map().is_none() {
        return Err(format!("its rule `{pattern}` is neither a boolean nor a dictionary"));
    }
    let flag = |name| value.get(name).and_then(Value::as_boolean) == Some(true);
    rule.omit = flag("omit");
    rule.optional = flag("optional");
    rule.nested = flag("nested");
    if let Some(weight) = value.get("weight").and_then(Value::as_number) {
        // The weight may be a real number; one out of range becomes the nearest in range.
        rule.weight = weight as u32;
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(entries: &[(&str, Value)]) -> Value {
        Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    fn rules() -> ResourceRules {
        let weighted = |weight: f64, flag: &str| {
            dictionary(&[("weight", Value::Real(weight)), (flag, Value::Boolean(true))])
        };
        let mut rules = ResourceRules::parse(&dictionary(&[
            ("^.*", Value::Boolean(true)),
            ("^[^/]+$", weighted(10.0, "nested")),
            (
                "^Info\\.plist$",
                dictionary(&[("omit", Value::Boolean(true)), ("weight", Value::Integer(20))]),
            ),
            ("^Resources/.*\\.lproj/", weighted(1000.0, "optional")),
            ("^Resources/Base\\.lproj/", weighted(1010.0, "none")),
            ("^(.*/)?\\.DS_Store$", weighted(2000.0, "omit")),
        ]))
        .unwrap();
        rules.exclude_executable(b"MacOS/app");
        rules
    }

    fn decided(path: &str) -> Option<(bool, bool, bool)> {
        match rules().decide(path.as_bytes()) {
            Decision::Rule(rule) => Some((rule.omit, rule.optional, rule.nested)),
            _ => None,
        }
    }

    #[test]
    fn the_heaviest_rule_decides() {
        for (path, expected) in [
            ("Resources/a", Some((false, false, false))),
            ("helper", Some((false, false, true))),
            ("Info.plist", Some((true, false, false))),
            ("Resources/de.lproj/a", Some((false, true, false))),
            ("Resources/Base.lproj/a", Some((false, false, false))),
            ("Resources/de.lproj/.DS_Store", Some((true, false, false))),
            ("_CodeSignature", None),
            ("CodeResources", None),
            ("_MASReceipt", None),
            ("MacOS/app", None),
            ("Resources/CodeResources", Some((false, false, false))),
        ] {
            assert_eq!(decided(path), expected, "{path}");
        }
    }

    #[test]
    fn equal_weights_leave_the_first() {
        let rules = ResourceRules::parse(&dictionary(&[
            ("b", Value::Boolean(false)),
            ("a", Value::Boolean(true)),
        ]));
        let rules = rules.unwrap();
        assert_eq!(rules.decide(b"ab"), Decision::Rule(&rules.list()[0]));
        assert_eq!(rules.decide(b"c"), Decision::Unruled);
    }

    #[test]
    fn weak_rules_are_named() {
        assert_eq!(rules().weaknesses(), [""; 0]);
        let weak = ResourceRules::parse(&dictionary(&[
            ("^Resources/", Value::Boolean(true)),
            ("^PlugIns/", Value::Boolean(false)),
            ("^Resources/.*\\.lproj/locversion.plist$", Value::Boolean(false)),
        ]));
        let weak = weak.unwrap().weaknesses();
        assert_eq!(weak.len(), 2, "{weak:?}");
        assert!(weak[1].contains("^PlugIns/"), "{weak:?}");
    }

    #[test]
    fn rules_that_cannot_be_are_refused() {
        let many = "((((a{255}){255}){255}){255})";
        for (pattern, value) in [
            ("(", Value::Boolean(true)),
            (many, Value::Boolean(true)),
            ("a", Value::Text("b".to_owned())),
        ] {
            assert!(ResourceRules::parse(&dictionary(&[(pattern, value)])).is_err(), "{pattern}");
        }
        assert!(ResourceRules::parse(&Value::Boolean(true)).is_err());
        let long = "a".repeat(PATTERN_LEN_MAX + 1);
        assert!(ResourceRules::parse(&dictionary(&[(&long, Value::Boolean(true))])).is_err());
    }
}
