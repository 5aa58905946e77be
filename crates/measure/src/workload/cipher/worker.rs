//! A child process that runs with fewer instructions: its requests and its replies.
//!
//! The library detects instructions once, when a process starts, so each set of instructions needs
//! a process. It answers one line of JSON per request and ends when its standard input ends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};
use steadfast_sys::{clock, crypto};

use super::file;
use super::kernels::CipherKernel;
use super::masks::Mask;
use super::primitives::RepeatableWork;
use crate::calibrate;
use crate::error::Error;
use crate::record::Stage;

/// The command that starts a process which only runs [`serve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// A request.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// Asks for the library and the processor features that it detects.
    Look,
    /// One sample of a kernel.
    Time { algorithm: String, stage: Stage, buffer_len_bytes: usize, sample_ns: u64 },
    /// Encrypts a file into another; paths are bytes.
    File { algorithm: String, from: Vec<u8>, to: Vec<u8> },
}

/// A reply: what was asked for, or why not.
type WorkerReply = Result<Value, String>;

/// The library and the processor features that it detects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LibraryFacts {
    pub(super) library: String,
    pub(super) words: Vec<u32>,
}

/// A sample, timed by the worker process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TimedWork {
    pub(super) amount: u64,
    pub(super) elapsed_ns: u64,
    pub(super) cpu_ns: u64,
    /// The last result, if every process must return the same.
    pub(super) answer: Option<Vec<u8>>,
}

/// Answers requests until there are no more.
///
/// # Errors
///
/// If reading or writing fails.
pub fn serve(questions: &mut dyn BufRead, answers: &mut dyn Write) -> io::Result<()> {
    let mut prepared = HashMap::new();
    for question in questions.lines() {
        let answer: WorkerReply = serde_json::from_str(&question?)
            .map_err(|error| Error::record("question", error))
            .and_then(|request| answer(request, &mut prepared))
            .map_err(|error| error.to_string());
        serde_json::to_writer(&mut *answers, &answer)?;
        answers.write_all(b"\n")?;
        answers.flush()?;
    }
    Ok(())
}

/// Prepared work by kernel and length, with its number of repetitions per sample.
type Prepared = HashMap<(CipherKernel, usize), (Box<dyn RepeatableWork>, u64)>;

fn answer(request: Request, prepared: &mut Prepared) -> Result<Value, Error> {
    match request {
        Request::Look => {
            let (library, words) = (crypto::library(), crypto::capabilities());
            Ok(json!(LibraryFacts { library, words }))
        }
        Request::Time { algorithm, stage, buffer_len_bytes, sample_ns } => {
            let kernel =
                CipherKernel::named(&algorithm)?.into_iter().find(|kernel| kernel.stage == stage);
            let kernel = kernel.ok_or_else(|| Error::usage(format!("`{algorithm}` not so")))?;
            let (work, times) = match prepared.entry((kernel, buffer_len_bytes)) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let mut work = kernel.prepare(buffer_len_bytes)?;
                    let times = calibrate::repetitions(sample_ns, |times| {
                        Ok::<u64, Error>(timed(&mut *work, times)?.cpu_ns)
                    })?;
                    entry.insert((work, times))
                }
            };
            timed(&mut **work, *times).map(|timed| json!(timed))
        }
        Request::File { algorithm, from, to } => {
            let path = |bytes: Vec<u8>| PathBuf::from_vec(bytes);
            file::encipher(&algorithm, &path(from), &path(to)).map(|filed| json!(filed))
        }
    }
}

fn timed(work: &mut dyn RepeatableWork, times: u64) -> Result<TimedWork, Error> {
    let cpu = clock::process_cpu_ns();
    let begun = clock::monotonic_ns();
    let done = work.repeat(times);
    let elapsed_ns = (clock::monotonic_ns() - begun).max(1);
    let cpu_ns = clock::process_cpu_ns() - cpu;
    done?;
    let answer = work.answer()?;
    Ok(TimedWork { amount: times * work.amount(), elapsed_ns, cpu_ns, answer })
}

/// A worker process. Dropping the value ends it.
#[derive(Debug)]
pub(super) struct CipherWorker {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl CipherWorker {
    /// Starts a process. Without a mask it uses every instruction, whatever masks this process has.
    pub(super) fn start(
        command: &WorkerCommand,
        mask: Option<&Mask>,
    ) -> Result<CipherWorker, Error> {
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A signal to the session's group must not reach the worker: the session ends it by closing
        // its input.
        process.process_group(0);
        match mask.and_then(Mask::variable) {
            Some((variable, value)) => process.env(variable, value),
            None => process.env_remove(crypto::WORDS.variable),
        };
        let failed = |error| Error::system("start it for a measurement", error);
        let mut child = process.spawn().map_err(|error| failed(error).at(&command.program))?;
        let questions = child.stdin.take();
        let answers = child.stdout.take().expect("its output is piped");
        Ok(CipherWorker { child, questions, answers: BufReader::new(answers) })
    }

    /// Asks for the library and the features that it detects.
    pub(super) fn library_facts(&mut self) -> Result<LibraryFacts, Error> {
        self.ask(&Request::Look)
    }

    /// Asks for one sample of a kernel.
    pub(super) fn time(
        &mut self,
        kernel: CipherKernel,
        buffer_len_bytes: usize,
        sample_ns: u64,
    ) -> Result<TimedWork, Error> {
        let CipherKernel { algorithm, stage } = kernel;
        let algorithm = algorithm.to_owned();
        self.ask(&Request::Time { algorithm, stage, buffer_len_bytes, sample_ns })
    }

    /// Asks to encrypt a file.
    pub(super) fn file(
        &mut self,
        algorithm: &str,
        from: &Path,
        to: &Path,
    ) -> Result<file::Filed, Error> {
        let bytes = |path: &Path| OsStr::as_bytes(path.as_os_str()).to_vec();
        let algorithm = algorithm.to_owned();
        self.ask(&Request::File { algorithm, from: bytes(from), to: bytes(to) })
    }

    fn ask<R: DeserializeOwned>(&mut self, request: &Request) -> Result<R, Error> {
        let mut question = serde_json::to_vec(request).expect("a question is JSON");
        question.push(b'\n');
        let failed = |error| Error::system("talk to the process that measures", error);
        let questions = self.questions.as_mut().expect("it is closed by `drop` only");
        questions.write_all(&question).and_then(|()| questions.flush()).map_err(failed)?;
        let mut line = String::new();
        if self.answers.read_line(&mut line).map_err(failed)? == 0 {
            let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it ended without an answer");
            return Err(failed(ended));
        }
        let answer: Result<R, String> =
            serde_json::from_str(&line).map_err(|error| failed(error.into()))?;
        answer.map_err(Error::wrong)
    }
}

impl Drop for CipherWorker {
    fn drop(&mut self) {
        drop(self.questions.take());
        // It may be in the middle of a sample that is no longer needed. An error here has no
        // consequence.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
