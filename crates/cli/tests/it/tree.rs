//! One builder for all tests: a directory with files, and the command run in it.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

/// A directory on a file system that keeps extended attributes.
pub(crate) struct Tree {
    dir: TempDir,
    /// The user's state folder, of no other test.
    state: TempDir,
}

/// The program of the tests: the command, with a clock and change times as the tests say.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_steadfast-trial");

/// What a finished command left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Tree {
    /// An empty directory.
    pub(crate) fn new() -> Tree {
        let folder = || TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Tree { dir: folder(), state: folder() }
    }

    /// A directory with `a`, `b` and `sub/c`.
    pub(crate) fn small() -> Tree {
        Tree::new().file("a", b"alpha").file("b", b"beta").file("sub/c", b"gamma")
    }

    /// The same, all tagged.
    pub(crate) fn tagged() -> Tree {
        let tree = Tree::small();
        tree.run(["tag", "."]).succeeds();
        tree
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file in the user's state folder.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    /// Adds a file, modified a day ago so that any edit moves its time.
    pub(crate) fn file(self, name: impl AsRef<Path>, contents: &[u8]) -> Tree {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        let yesterday = SystemTime::now() - Duration::from_secs(86_400);
        set_modified(&path, yesterday);
        self
    }

    /// Replaces a file's contents and lets its modification time move.
    pub(crate) fn edit(&self, name: &str) {
        fs::write(self.path(name), b"edited").unwrap();
    }

    /// Moves a file's modification time alone.
    pub(crate) fn touch(&self, name: &str) {
        set_modified(&self.path(name), SystemTime::now());
    }

    /// Flips a bit and puts the modification time back, as decay would leave it.
    pub(crate) fn corrupt(&self, name: &str) {
        let path = self.path(name);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, 0).unwrap();
        file.write_all_at(&[byte[0] ^ 1], 0).unwrap();
        set_modified(&path, modified);
    }

    /// Stores bytes that are not a tag where a tag should be.
    pub(crate) fn damage_tag(&self, name: &str) {
        let file = steadfast_sys::file::File::open(&self.path(name)).unwrap();
        steadfast_sys::xattr::set(&file, steadfast_sys::xattr::TAG, b"not a tag").unwrap();
    }

    /// A command that is to run in the directory.
    pub(crate) fn command<I>(&self, arguments: I) -> Command
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = Command::new(crate::tree::PROGRAM);
        command.args(arguments).current_dir(self.dir.path());
        command.env("XDG_STATE_HOME", self.state.path());
        // A test that writes bytes as decay would moves the change time, which decay does not.
        command.env("STEADFAST_IGNORE_CTIME", "1");
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
        command
    }

    pub(crate) fn run<I>(&self, arguments: I) -> Outcome
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        Outcome::of(&mut self.command(arguments))
    }

    /// Runs the command with bytes on its stdin.
    pub(crate) fn run_with<I>(&self, arguments: I, stdin: &[u8]) -> Outcome
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        // A file, so that any amount of input fits without a second thread.
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(stdin).unwrap();
        file.rewind().unwrap();
        Outcome::of(self.command(arguments).stdin(file))
    }
}

impl Outcome {
    pub(crate) fn of(command: &mut Command) -> Outcome {
        let output = command.output().unwrap();
        Outcome {
            status: output.status.code().expect("the command ends by itself"),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }

    pub(crate) fn stdout(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> &str {
        str::from_utf8(&self.stderr).unwrap()
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Outcome {
        self.ends(0)
    }

    #[track_caller]
    pub(crate) fn ends(self, status: i32) -> Outcome {
        let (stdout, stderr) =
            (String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&self.stderr));
        assert_eq!(self.status, status, "stdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }

    /// Every line of stdout as JSON.
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.stdout().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The last line of stdout as a summary.
    pub(crate) fn summary(&self) -> Value {
        let last = self.objects().pop().expect("there is a last line");
        last.get("summary").expect("the last line is the summary").clone()
    }

    /// The verdict that JSON gives for a path.
    pub(crate) fn verdict(&self, path: &str) -> Option<String> {
        let objects = self.objects();
        let object = objects.iter().find(|object| object["path"] == path)?;
        object["verdict"].as_str().map(str::to_owned)
    }
}

pub(crate) fn set_modified(path: &Path, modified: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
}
