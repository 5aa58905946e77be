//! Delivers messages: by a program, a request, the local mail, or the desktop.
//!
//! Every delivery has a time limit. No redirect is followed and no proxy of the environment used,
//! so nothing is sent to an address that the user did not write into the configuration.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::crypto::ring;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::alert::config::{Alert, Channel, WebhookForm, host_of};
use crate::alert::message::{AlertMessage, AlertWords};
use crate::error::{Error, ErrorKind};
use steadfast_words::Priority;

/// How often to look whether a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long the delivery of one message may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Bytes of a message in a request at most; services cut or refuse longer ones.
const TEXT_LEN_MAX: usize = 1_900;

/// Where `sendmail` is, which cron does not search.
const MORE_FOLDERS: &str = "/usr/sbin:/sbin:/usr/local/sbin";

/// The variables that a timer gives to its command, and the line in a crontab too.
const OF_TIMERS: [&str; 6] =
    ["HOME", "LOGNAME", "USER", "SHELL", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// The search path of cron.
const PATH_OF_CRON: &str = "/usr/bin:/bin";

/// Sends messages.
#[derive(Clone, Debug)]
pub struct Sender {
    /// How long one delivery may take.
    pub time_limit: Duration,
    /// The search path for programs; `None` for that of `environment`, and the system's folders.
    pub search_path: Option<OsString>,
    /// The variables that programs get, with their values.
    pub environment: Vec<(OsString, OsString)>,
    /// The system, by its name in `std`: it decides how a desktop is told.
    pub os: &'static str,
    /// Whether programs get only what a timer gives them of `environment`, as they will at night.
    pub is_bare: bool,
    /// The words that depend on the machine.
    pub words: AlertWords,
}

/// The outcome of one alert.
#[derive(Debug)]
pub struct Delivery {
    /// Where the message went, without secrets.
    pub target: String,
    /// Why it did not arrive, if so.
    pub result: Result<(), Error>,
}

impl Sender {
    /// Returns the sender of this machine, whose programs get these variables.
    pub fn of_this_machine(words: AlertWords, environment: Vec<(OsString, OsString)>) -> Sender {
        Sender {
            time_limit: TIME_LIMIT,
            search_path: None,
            environment,
            os: std::env::consts::OS,
            is_bare: false,
            words,
        }
    }

    /// Tells monitors of a schedule that a run begins.
    pub fn begin(&self, alerts: &[Alert], schedule: &str) -> Vec<Delivery> {
        let is_ping =
            |alert: &&Alert| matches!(alert.channel, Channel::Ping(_)) && alert.is_for(schedule);
        side_by_side(alerts.iter().filter(is_ping), |alert| match &alert.channel {
            Channel::Ping(url) => self.post(&extended(url, "start"), &[], b"", "text/plain"),
            _ => Ok(()),
        })
    }

    /// Tells a monitor the state of its folders: an exit status, and the words.
    pub(crate) fn ping(&self, url: &str, status: u8, words: &str) -> Result<(), Error> {
        self.post(&extended(url, &status.to_string()), &[], words.as_bytes(), "text/plain")
    }

    /// Sends a test message to every alert.
    pub fn test(&self, alerts: &[Alert]) -> Vec<Delivery> {
        let message = AlertMessage::test(&self.words);
        side_by_side(alerts.iter(), |alert| match &alert.channel {
            Channel::Ping(url) => self.ping(url, 0, &message.subject),
            channel => self.send(channel, &message),
        })
    }

    /// Sends a message to a channel that takes messages.
    ///
    /// # Errors
    /// If it does not arrive.
    pub fn send(&self, channel: &Channel, message: &AlertMessage) -> Result<(), Error> {
        match channel {
            Channel::Command(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                self.run(command, &words[0], message.json.to_string().as_bytes())
            }
            Channel::Webhook { url, form } => self.webhook(url, *form, message),
            // A monitor hears of states.
            Channel::Ping(_) => Ok(()),
            Channel::Sendmail(address) => self.mail(address, message),
            Channel::Desktop => self.desktop(message),
        }
    }

    fn webhook(&self, url: &str, form: WebhookForm, message: &AlertMessage) -> Result<(), Error> {
        let body = cut(&message.body, TEXT_LEN_MAX);
        let text = format!("{}\n{body}", message.subject);
        let document: Value = match form {
            WebhookForm::Ntfy => {
                let priority = match message.priority {
                    Priority::Low => "low",
                    Priority::Normal => "default",
                    Priority::High => "high",
                };
                let title = ascii_title(&message.subject);
                let headers = [("Title", title.as_str()), ("Priority", priority)];
                return self.post(url, &headers, body.as_bytes(), "text/plain; charset=utf-8");
            }
            WebhookForm::Json => message.json.clone(),
            WebhookForm::Gotify => json!({
                "title": message.subject,
                "message": body,
                "priority": match message.priority {
                    Priority::Low => 2,
                    Priority::Normal => 5,
                    Priority::High => 8,
                },
            }),
            WebhookForm::Slack => json!({ "text": entities(&verbatim(&text)) }),
            WebhookForm::Discord => {
                json!({ "content": verbatim(&text), "allowed_mentions": { "parse": [] } })
            }
        };
        self.post(url, &[], document.to_string().as_bytes(), "application/json")
    }

    /// Sends one request. Any answer but a success is an error.
    fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        content_type: &str,
    ) -> Result<(), Error> {
        let host = host_of(url);
        let failed =
            |reason: String| Error::new(ErrorKind::Delivery, format!("`{host}`: {reason}"));
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::WebPki)
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(self.time_limit))
            .user_agent(concat!("steadfast/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent: Agent = config.into();
        let mut request = agent.post(url).header("content-type", content_type);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send(body).map_err(|error| failed(error.to_string()))?;
        match response.status().as_u16() {
            200..300 => Ok(()),
            status @ 300..400 => {
                Err(failed(format!("it answers {status} and sends on to elsewhere; not followed")))
            }
            status => Err(failed(format!("it answers {status}"))),
        }
    }

    fn mail(&self, address: &str, message: &AlertMessage) -> Result<(), Error> {
        let subject = encoded_header(&format!("steadfast: {}", message.subject));
        let text = format!(
            "To: {address}\nSubject: {subject}\nMIME-Version: 1.0\n\
             Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\
             Auto-Submitted: auto-generated\n\n{}\n",
            message.body
        );
        let mut command = Command::new("sendmail");
        command.args(["-i", "-t"]);
        self.run(command, "sendmail", text.as_bytes())
    }

    fn desktop(&self, message: &AlertMessage) -> Result<(), Error> {
        let (program, words): (&str, &[&str]) = match self.os {
            // The texts are arguments of the script, never part of it.
            "macos" => (
                "osascript",
                &[
                    "-e",
                    "on run argv",
                    "-e",
                    "display notification (item 2 of argv) with title (item 1 of argv)",
                    "-e",
                    "end run",
                    "--",
                ],
            ),
            _ => ("notify-send", &["--app-name=Steadfast", "--"]),
        };
        let body = match program {
            // It replaces escapes such as `\n`, and desktops interpret markup.
            "notify-send" => &entities(&message.body).replace('\\', r"\\"),
            _ => &message.body,
        };
        let mut command = Command::new(program);
        command.args(words).args([&message.subject, body]);
        self.run(command, program, b"")
    }

    /// Runs a program with an input and a time limit.
    fn run(&self, mut command: Command, name: &str, input: &[u8]) -> Result<(), Error> {
        let failed =
            |reason: String| Error::new(ErrorKind::Delivery, format!("`{name}`: {reason}"));
        let is_given = |name: &OsStr| !self.is_bare || OF_TIMERS.iter().any(|given| name == *given);
        let given = self.environment.iter().filter(|(name, _)| is_given(name)).cloned();
        let own = || given.clone().find_map(|(name, value)| (name == "PATH").then_some(value));
        let path = self.search_path.clone().unwrap_or_else(|| {
            let mut path = own().unwrap_or_else(|| PATH_OF_CRON.into());
            path.push(":");
            path.push(MORE_FOLDERS);
            path
        });
        command.env_clear().envs(given);
        command.env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let pipe = child.stdin.take();
        let input = input.to_owned();
        // By a thread, because a program that does not read would block the writer. Nobody waits
        // for it: a program that ends without reading everything has decided so.
        thread::spawn(move || -> io::Result<()> {
            pipe.map_or(Ok(()), |mut pipe| pipe.write_all(&input))
        });
        let status = self.wait(&mut child).map_err(|error| failed(error.to_string()))?;
        let Some(status) = status else {
            let seconds = self.time_limit.as_secs_f64();
            return Err(failed(format!("it did not end within {seconds} s and was stopped")));
        };
        match status.success() {
            true => Ok(()),
            false => Err(failed(format!("it ended with {status}"))),
        }
    }

    /// Waits for a program; `None` if it was stopped after the time limit.
    fn wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if begun.elapsed() > self.time_limit {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// Delivers to all at once, so that several that hang take the time of one. Keeps their order.
pub(crate) fn side_by_side<'a>(
    alerts: impl Iterator<Item = &'a Alert>,
    deliver: impl Fn(&'a Alert) -> Result<(), Error> + Sync,
) -> Vec<Delivery> {
    let deliver = &deliver;
    thread::scope(|scope| {
        let begun: Vec<_> =
            alerts.map(|alert| (alert, scope.spawn(move || deliver(alert)))).collect();
        let ended = begun.into_iter().map(|(alert, thread)| {
            let failed = || Error::new(ErrorKind::Delivery, "its delivery ended unexpectedly");
            let result = thread.join().unwrap_or_else(|_| Err(failed()));
            Delivery { target: alert.target(), result }
        });
        ended.collect()
    })
}

/// Appends a component to the path of a URL, before its query.
fn extended(url: &str, component: &str) -> String {
    let (path, query) =
        url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let path = format!("{}/{component}", path.trim_end_matches('/'));
    query.map_or(path.clone(), |query| format!("{path}?{query}"))
}

/// Cuts a text to a length in bytes, at a character.
fn cut(text: &str, len_max: usize) -> &str {
    &text[..text.floor_char_boundary(len_max)]
}

/// Returns a text as a block in which services interpret neither Markdown nor mentions.
fn verbatim(text: &str) -> String {
    // Nothing in it ends the block.
    let text = text.replace("``", r"`\u{60}");
    format!("```\n{}\n```", cut(&text, TEXT_LEN_MAX))
}

/// Escapes what begins a mention or an element: `<!channel>` would ring everybody.
fn entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns a title for a header, which holds ASCII only.
fn ascii_title(text: &str) -> String {
    let plain = |letter: char| if (' '..='~').contains(&letter) { letter } else { '?' };
    text.chars().map(plain).collect()
}

/// Encodes a mail header that has other characters than ASCII, by RFC 2047, quoted-printable, a
/// word for every few characters, because words are limited to 75 characters.
fn encoded_header(text: &str) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    let mut words = vec![String::new()];
    for letter in text.chars() {
        let mut buffer = [0; 4];
        let bytes = letter.encode_utf8(&mut buffer).bytes();
        let encoded: String =
            bytes
                .map(|byte| {
                    if plain(byte) { char::from(byte).to_string() } else { format!("={byte:02X}") }
                })
                .collect();
        if words.last().is_some_and(|word| word.len() + encoded.len() > 60) {
            words.push(String::new());
        }
        words.last_mut().expect("there is a word").push_str(&encoded);
    }
    let words: Vec<String> = words.iter().map(|word| format!("=?UTF-8?Q?{word}?=")).collect();
    words.join("\n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_extended_before_their_query() {
        assert_eq!(extended("https://hc.example/abc/", "start"), "https://hc.example/abc/start");
        assert_eq!(extended("https://hc.example/a?b=c", "3"), "https://hc.example/a/3?b=c");
    }

    #[test]
    fn headers_are_ascii_and_one_header() {
        assert_eq!(encoded_header("plain: text"), "plain: text");
        let encoded = encoded_header("Bücher\nBcc: x@example.org");
        assert!(encoded.is_ascii() && !encoded.contains("\nBcc"), "{encoded}");
        assert!(encoded.starts_with("=?UTF-8?Q?B=C3=BCcher=0ABcc=3A=20"), "{encoded}");
        let long = encoded_header(&"é".repeat(200));
        assert!(long.lines().all(|line| line.trim().len() <= 75), "{long}");
        assert_eq!(ascii_title("Bücher\n"), "B?cher?");
    }

    #[test]
    fn nothing_in_a_name_is_interpreted_or_ends_its_block() {
        let text = verbatim("a `b` ```` @here");
        assert_eq!(text, "```\na `b` `\\u{60}`\\u{60} @here\n```");
        assert_eq!(text.matches("```").count(), 2);
        assert!(verbatim(&"`".repeat(9_000)).len() < 2_000, "Discord takes no more");
        assert_eq!(entities("<!channel> &lt;"), "&lt;!channel&gt; &amp;lt;");
    }
}
