//! Writes levels as text: first the machine, then each level with the outcome of its steps.
//!
//! In: facts. Out: lines of text. Chooses units and columns; the words are those of `qos.rs`.

use std::io::Write as _;

use steadfast::qos::{CoreClass, Offer, Pace, Trial, cpu_list};

use super::{
    confinement_words, grouping_words, honours_words, knowledge_words, outcome_words, uclamp_words,
};
use crate::escape;

/// Appends the page.
pub fn write_text(offer: &Offer, trials: &[Trial], out: &mut Vec<u8>) {
    let mut page = String::new();
    machine(offer, &mut page);
    for trial in trials {
        page.push('\n');
        level(trial, &mut page);
    }
    out.write_all(page.as_bytes()).expect("memory takes what is written to it");
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

fn machine(offer: &Offer, page: &mut String) {
    let cores = &offer.cores;
    let processors = counted(cores.logical, "processor");
    let model = escape::text(&offer.cpu_model);
    line(page, &format!("{model}: {processors} in use, {}", knowledge_words(cores)));
    let width = cores.classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0);
    for class in &cores.classes {
        let mut text = format!("  {:width$}  {}", escape::text(&class.name), class_words(class));
        if cores.slower().contains(class) {
            text.push_str("; background is confined to these");
        }
        line(page, &text);
    }
    if let Some(words) = uclamp_words(offer) {
        line(page, &format!("utilisation  {words}"));
    }
    line(page, &format!("processors are shared  {}", grouping_words(&offer.grouping)));
    let width = offer.devices.iter().map(|device| device.name.chars().count()).max().unwrap_or(0);
    for device in &offer.devices {
        let scheduler = device.scheduler.as_deref().unwrap_or("no I/O scheduler");
        let (name, scheduler) = (escape::text(&device.name), escape::text(scheduler));
        line(page, &format!("{name:width$}  {scheduler}: {}", honours_words(device.honours)));
    }
    let has: Vec<&str> = offer.thread.iter().map(|fact| fact.value.as_str()).collect();
    line(page, &format!("this thread  {}", has.join(", ")));
}

fn class_words(class: &CoreClass) -> String {
    let mut words = counted(class.logical, "processor");
    if !class.cpus.is_empty() {
        words.push_str(&format!(" ({})", cpu_list(&class.cpus)));
    }
    if let Some(physical) = class.physical {
        words.push_str(&format!(", {}", counted(physical, "core")));
    }
    if let Some(capacity) = class.capacity {
        words.push_str(&format!(", capacity {capacity}"));
    }
    if let Some(khz) = class.frequency_khz_max {
        words.push_str(&format!(", up to {:.2} GHz", khz as f64 / 1e6));
    }
    words
}

fn level(trial: &Trial, page: &mut String) {
    let (level, pace) = (trial.level, Pace::of(trial.level));
    let workers = counted(trial.workers, "worker");
    line(page, &format!("{level} ({}, --pace {pace}): {workers}", level.number()));
    if trial.steps.is_empty() {
        line(page, "  nothing is asked: threads stay as they are");
    }
    let width = trial.steps.iter().map(|step| step.what.chars().count()).max().unwrap_or(0);
    for step in &trial.steps {
        let outcome = escape::text(&outcome_words(step));
        line(page, &format!("  {:width$}  {outcome}", step.what));
    }
    if let Some(words) = confinement_words(&trial.confinement) {
        line(page, &format!("  {words}"));
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
