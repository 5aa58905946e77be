//! The alerts of a user: one TOML file in the folder of their configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use steadfast::Algorithm;
use steadfast::run::digest_of;
use steadfast_sys::file::write_private;
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

use crate::error::{Error, ErrorKind};
use crate::schedule::TimeOfDay;

/// When an alert is sent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Occasion {
    /// If there is trouble: new, still open after a week, or settled.
    #[default]
    Trouble,
    /// If there is trouble, and once a week that all is well.
    Weekly,
    /// After every run.
    EveryRun,
}

/// What a message contains.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Details {
    /// Numbers of files.
    Counts,
    /// Paths of some files too.
    #[default]
    Paths,
}

/// The form of a request to a webhook.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum WebhookForm {
    /// All facts as JSON.
    Json,
    /// ntfy.
    Ntfy,
    /// Gotify.
    Gotify,
    /// Slack and what takes its form, as Mattermost.
    Slack,
    /// Discord.
    Discord,
}

impl WebhookForm {
    /// Recognises the form that an address needs; plain JSON if it is not a known service.
    pub fn of(url: &str) -> WebhookForm {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        let path = path.split('?').next().unwrap_or_default();
        let host = host_of(url);
        match host {
            "ntfy.sh" => WebhookForm::Ntfy,
            "hooks.slack.com" => WebhookForm::Slack,
            "discord.com" | "discordapp.com" => WebhookForm::Discord,
            _ if host.starts_with("ntfy.") => WebhookForm::Ntfy,
            _ if path == "message" || path.ends_with("/message") => WebhookForm::Gotify,
            _ => WebhookForm::Json,
        }
    }
}

/// How a message is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A program, with the run as JSON on its standard input. No shell is involved.
    Command(Vec<String>),
    /// A request with the message.
    Webhook {
        /// The address.
        url: String,
        /// The form of the request.
        form: WebhookForm,
    },
    /// A request at the start of each run, and one with the state of the folder at its end, for
    /// monitors that notice silence.
    Ping(String),
    /// A mail by the local `sendmail`, to this address.
    Sendmail(String),
    /// A notification on this machine's desktop.
    Desktop,
}

/// An alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// How it is delivered.
    pub channel: Channel,
    /// When it is sent. A ping is sent at every run.
    pub on: Occasion,
    /// What its messages contain.
    pub details: Details,
    /// The only schedule that it is for; `None` for all.
    pub schedule: Option<String>,
    /// When only damage and danger are told.
    pub quiet: Option<QuietHours>,
}

/// A time of every day, in local time, in which messages wait that are not urgent. Two equal times
/// are the whole day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QuietHours {
    /// When it begins.
    pub from: TimeOfDay,
    /// When it ends, maybe on the next day.
    pub to: TimeOfDay,
}

impl QuietHours {
    /// Returns whether a time of day is in it.
    pub fn contain(self, now: TimeOfDay) -> bool {
        match self.from < self.to {
            true => self.from <= now && now < self.to,
            false => self.from <= now || now < self.to,
        }
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from, self.to)
    }
}

impl FromStr for QuietHours {
    type Err = String;

    fn from_str(text: &str) -> Result<QuietHours, String> {
        let (from, to) = text.split_once('-').ok_or("two times of day, as 22:00-07:00")?;
        Ok(QuietHours { from: from.parse()?, to: to.parse()? })
    }
}

impl TryFrom<String> for QuietHours {
    type Error = String;

    fn try_from(text: String) -> Result<QuietHours, String> {
        text.parse()
    }
}

impl From<QuietHours> for String {
    fn from(hours: QuietHours) -> String {
        hours.to_string()
    }
}

/// An alert in the file: one of the first five keys.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AlertEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ping: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sendmail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    desktop: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<WebhookForm>,
    #[serde(skip_serializing_if = "is_default")]
    on: Occasion,
    #[serde(skip_serializing_if = "is_default")]
    details: Details,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet: Option<QuietHours>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlertDocument {
    /// Until when nothing is told of a folder, in seconds since 1970.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    snooze: BTreeMap<String, i64>,
    #[serde(default, rename = "alert")]
    alerts: Vec<AlertEntry>,
}

impl Alert {
    /// Makes an alert for trouble.
    pub fn new(channel: Channel) -> Alert {
        let (on, details) = (Occasion::default(), Details::default());
        Alert { channel, on, details, schedule: None, quiet: None }
    }

    /// Returns whether it is for a schedule.
    pub fn is_for(&self, schedule: &str) -> bool {
        self.schedule.as_deref().is_none_or(|name| name == schedule)
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// If an address or a command is not valid.
    pub fn validate(&self) -> Result<(), Error> {
        let usage = |message: &str| Err(Error::new(ErrorKind::Usage, message));
        match &self.channel {
            Channel::Command(words) if words.first().is_none_or(String::is_empty) => {
                usage("a command needs a program")
            }
            Channel::Webhook { url, .. } | Channel::Ping(url) if !is_url(url) => {
                usage("an address begins with https:// or http:// and has no spaces")
            }
            Channel::Sendmail(address) if !is_mail_address(address) => {
                usage("a mail address has one @ and no spaces, as in me@example.org")
            }
            _ => Ok(()),
        }
    }

    /// Returns a name for what is remembered of it, which contains no secret.
    pub(crate) fn memory_name(&self) -> String {
        let channel = match &self.channel {
            Channel::Command(words) => words.join("\0"),
            Channel::Webhook { url, .. } | Channel::Ping(url) => url.clone(),
            Channel::Sendmail(address) => address.clone(),
            Channel::Desktop => String::new(),
        };
        let text = format!("{}\0{channel}\0{:?}", self.target(), self.schedule);
        let digest = digest_of(&mut text.as_bytes(), Algorithm::Sha256);
        digest.map(|digest| digest.to_string()).unwrap_or_default()
    }

    /// Describes where the message goes, without secrets: of a URL, the host.
    pub fn target(&self) -> String {
        match &self.channel {
            Channel::Command(words) => format!("command {}", words.first().map_or("", |w| w)),
            Channel::Webhook { url, form } => format!("webhook {} ({form})", host_of(url)),
            Channel::Ping(url) => format!("ping {}", host_of(url)),
            Channel::Sendmail(address) => format!("mail to {address}"),
            Channel::Desktop => "desktop".to_owned(),
        }
    }

    fn of(entry: AlertEntry) -> Result<Alert, Error> {
        let AlertEntry { command, webhook, ping, sendmail, desktop, form, .. } = entry;
        let form_of = |url: &str| form.unwrap_or_else(|| WebhookForm::of(url));
        let channels = [
            command.map(Channel::Command),
            webhook.map(|url| Channel::Webhook { form: form_of(&url), url }),
            ping.map(Channel::Ping),
            sendmail.map(Channel::Sendmail),
            desktop.filter(|on| *on).map(|_| Channel::Desktop),
        ];
        let mut channels = channels.into_iter().flatten();
        let (Some(channel), None) = (channels.next(), channels.next()) else {
            let message = "an alert has one of: command, webhook, ping, sendmail, desktop = true";
            return Err(Error::new(ErrorKind::Usage, message));
        };
        let AlertEntry { on, details, schedule, quiet, .. } = entry;
        let alert = Alert { channel, on, details, schedule, quiet };
        alert.validate().map(|()| alert)
    }

    fn entry(&self) -> AlertEntry {
        let Alert { on, details, quiet, .. } = *self;
        let schedule = self.schedule.clone();
        let mut entry = AlertEntry { on, details, schedule, quiet, ..AlertEntry::default() };
        match self.channel.clone() {
            Channel::Command(words) => entry.command = Some(words),
            Channel::Webhook { url, form } => {
                entry.form = Some(form).filter(|form| *form != WebhookForm::of(&url));
                entry.webhook = Some(url);
            }
            Channel::Ping(url) => entry.ping = Some(url),
            Channel::Sendmail(address) => entry.sendmail = Some(address),
            Channel::Desktop => entry.desktop = Some(true),
        }
        entry
    }
}

/// The alerts in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertList {
    file: PathBuf,
    snooze: BTreeMap<String, i64>,
    alerts: Vec<Alert>,
}

impl AlertList {
    /// Reads the file; a file that does not exist has no alerts.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not valid. The message names the line or the alert.
    pub fn read(file: &Path) -> Result<AlertList, Error> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::system("read", file, &error)),
        };
        let invalid = |reason: String| {
            Error::new(ErrorKind::Config, format!("`{}` is not valid: {reason}", file.display()))
        };
        let document: AlertDocument =
            toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        let numbered = document.alerts.into_iter().enumerate();
        let alerts = numbered.map(|(number, entry)| {
            Alert::of(entry).map_err(|error| invalid(format!("alert {}: {error}", number + 1)))
        });
        let alerts = alerts.collect::<Result<_, _>>()?;
        Ok(AlertList { file: file.to_owned(), snooze: document.snooze, alerts })
    }

    /// Returns the alerts, in the order of the file.
    pub fn alerts(&self) -> &[Alert] {
        &self.alerts
    }

    /// Returns the times at which quiet hours end: what waited is sent then.
    pub fn ends_of_quiet(&self) -> Vec<TimeOfDay> {
        let ends = self.alerts.iter().filter_map(|alert| Some(alert.quiet?.to));
        let mut ends: Vec<TimeOfDay> = ends.collect();
        ends.sort();
        ends.dedup();
        ends
    }

    /// Returns until when nothing is told of a folder, in seconds since 1970, if that is to come.
    pub fn snoozed_until_s(&self, folder: &Path, now_s: i64) -> Option<i64> {
        let until_s = self.snooze.get(folder.to_str()?).copied();
        until_s.filter(|until_s| *until_s > now_s)
    }

    /// Lists the folders of which nothing is told until a time to come, in seconds since 1970.
    pub fn snoozed(&self, now_s: i64) -> impl Iterator<Item = (&str, i64)> {
        let all = self.snooze.iter().map(|(folder, until_s)| (folder.as_str(), *until_s));
        all.filter(move |(_, until_s)| *until_s > now_s)
    }

    /// Tells nothing of a folder until a time, in seconds since 1970, or tells it again, and writes
    /// the file.
    ///
    /// # Errors
    ///
    /// If the path is not UTF-8, or the file cannot be written.
    pub fn snooze(&mut self, folder: &Path, until_s: Option<i64>) -> Result<(), Error> {
        let folder = folder.to_str();
        let folder = folder.ok_or_else(|| Error::new(ErrorKind::Usage, "the path is not UTF-8"))?;
        match until_s {
            Some(until_s) => _ = self.snooze.insert(folder.to_owned(), until_s),
            None => _ = self.snooze.remove(folder),
        }
        self.write()
    }

    /// Adds an alert, in place of one with the same channel, and writes the file.
    ///
    /// # Errors
    ///
    /// If it is not valid, or the file cannot be written.
    pub fn add(&mut self, alert: Alert) -> Result<(), Error> {
        alert.validate()?;
        self.alerts
            .retain(|other| other.channel != alert.channel || other.schedule != alert.schedule);
        self.alerts.push(alert);
        self.write()
    }

    /// Removes an alert by its number, from 1, and returns it.
    ///
    /// # Errors
    ///
    /// If there is no such alert, or the file cannot be written.
    pub fn remove(&mut self, number: usize) -> Result<Alert, Error> {
        let Some(index) = number.checked_sub(1).filter(|index| *index < self.alerts.len()) else {
            let message =
                format!("there is no alert {number}: `steadfast alert list` numbers them");
            return Err(Error::new(ErrorKind::Usage, message));
        };
        let alert = self.alerts.remove(index);
        self.write().map(|()| alert)
    }

    fn write(&self) -> Result<(), Error> {
        let failed = |error: &io::Error| Error::system("write", &self.file, error);
        let snooze = self.snooze.clone();
        let document =
            AlertDocument { snooze, alerts: self.alerts.iter().map(Alert::entry).collect() };
        let text = toml::to_string(&document)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        write_private(&self.file, text.as_bytes()).map_err(|error| failed(&error))
    }
}

fn is_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let plain = |letter: char| letter.is_ascii_graphic();
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && rest.chars().all(plain))
}

fn is_mail_address(address: &str) -> bool {
    let plain = |letter: char| !letter.is_whitespace() && !letter.is_control();
    let parts = address.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
        && !address.starts_with('-')
        && address.chars().all(plain)
}

/// Returns the host of a URL, without a password.
pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit('@').next().unwrap_or_default()
}
