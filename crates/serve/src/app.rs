//! The state that all handlers share: the roots, the runs, the sessions and the server's names.
//!
//! In: a configuration. Out: one value behind an `Arc`, which handlers take as their state.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use steadfast::beneath;
use steadfast::catalogue::{Catalogue, CataloguedTree, TreeList};
use steadfast::{COVER_DAYS, FileState, FolderState, Options, Timestamp, open_files};

use steadfast_watch::{
    CheckSchedule, DriveReport, FolderStatus, QuestionKind, drives, drives_known,
};
use tokio::sync::Semaphore;

use crate::audits::RootAudits;
use crate::automation::{AlertReach, Automation};
use crate::config::{Config, Limits};
use crate::copying::ServedCopies;
use crate::drops::Drops;
use crate::error::Error;
use crate::fields::{NamedValues, encode};
use crate::folders::{ServedFolder, SideFolder, name_of, view_of};
use crate::lock::lock;
use crate::measuring::Measurements;
use crate::names::ServerNames;
use crate::recent::Recent;
use crate::refusal::Refusal;
use crate::repair_data::ServedRepairDataJobs;
use crate::repairs::ServedRepairs;
use crate::roots::{ServedPath, ServedRoots};
use crate::runs::ServedRuns;
use crate::session::{EntranceToken, PasswordLanes, Secret, Sessions, Tickets};
use crate::shelf::Shelf;

/// Lists of handed-over paths that are kept. Older ones have long been shown.
const HANDED_OVER_MAX: usize = 32;

/// Verifications of code, comparisons and look-ups of drops at a time.
const HEAVY_MAX: usize = 2;

/// Uploads of files and records at a time.
const UPLOADS_MAX: usize = 8;

/// What lets browsers in.
pub(crate) struct BrowserAccess {
    pub(crate) sessions: Sessions,
    /// The password attempts of each client.
    pub(crate) password_lanes: PasswordLanes,
    /// Lets one password after another be verified, which takes a processor.
    pub(crate) password_turn: Semaphore,
    pub(crate) tickets: Tickets,
    /// Lets one browser in.
    pub(crate) entrance: EntranceToken,
    /// Lets commands of the owner ask for tickets.
    owner: Secret,
}

/// Turns of what takes much of the machine.
pub(crate) struct WorkTurns {
    /// Limits work that takes a processor for seconds.
    heavy: Arc<Semaphore>,
    /// Limits bodies that are no forms.
    pub(crate) uploads: Semaphore,
}

/// The state that all handlers share.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) names: ServerNames,
    pub(crate) roots: ServedRoots,
    pub(crate) runs: ServedRuns,
    pub(crate) repairs: ServedRepairs,
    pub(crate) repair_data: ServedRepairDataJobs,
    pub(crate) copies: ServedCopies,
    pub(crate) drops: Drops,
    pub(crate) measurements: Measurements,
    pub(crate) shelf: Shelf,
    pub(crate) turns: WorkTurns,
    pub(crate) access: BrowserAccess,
    pub(crate) audits: RootAudits,
    /// Lists of paths that are too long for an address.
    handed_over: Mutex<Recent<Arc<[ServedPath]>>>,
    bound: SocketAddr,
}

impl App {
    /// Makes the state of a server that listens at `bound`.
    ///
    /// # Errors
    /// If a root is not a folder, or the configuration is contradictory.
    pub(crate) fn new(config: Config, bound: SocketAddr) -> Result<App, Error> {
        Ok(App {
            names: ServerNames::new(&config, bound)?,
            roots: roots_of(&config)?,
            runs: ServedRuns::default(),
            repairs: ServedRepairs::default(),
            repair_data: ServedRepairDataJobs::default(),
            copies: ServedCopies::default(),
            drops: Drops::default(),
            measurements: Measurements::default(),
            shelf: Shelf::default(),
            turns: WorkTurns {
                heavy: Arc::new(Semaphore::new(HEAVY_MAX)),
                uploads: Semaphore::new(UPLOADS_MAX),
            },
            access: BrowserAccess {
                sessions: Sessions::new(is_near(&config, bound)),
                password_lanes: PasswordLanes::default(),
                password_turn: Semaphore::new(1),
                tickets: Tickets::default(),
                entrance: EntranceToken::new()?,
                owner: Secret::random()?,
            },
            audits: RootAudits::default(),
            handed_over: Mutex::default(),
            config,
            bound,
        })
    }

    /// Does work that waits for the disk on a thread that may block, so that no other request
    /// waits.
    ///
    /// # Errors
    /// If the work panics.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<App>,
        work: impl FnOnce(&Arc<App>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let app = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&app)).await.map_err(|_| Refusal::Conflict)
    }

    /// Does work that takes a processor for seconds, as soon as few others do.
    ///
    /// # Errors
    /// If the work panics.
    pub(crate) async fn heavy<T: Send + 'static>(
        self: &Arc<App>,
        work: impl FnOnce(&Arc<App>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn =
            Arc::clone(&self.turns.heavy).acquire_owned().await.map_err(|_| Refusal::TooMuch)?;
        self.blocking(move |app| {
            // Held by the thread: the work goes on even if the request is dropped.
            let _turn = turn;
            work(app)
        })
        .await
    }

    /// Returns the path that the field `place` of a request names, if there is one.
    ///
    /// # Errors
    /// If it names no path beneath the roots.
    pub(crate) fn place(&self, values: &NamedValues) -> Result<Option<ServedPath>, Refusal> {
        let token = values.text("place");
        token.map(|token| self.roots.place(token).ok_or(Refusal::NotFound)).transpose()
    }

    /// Returns every served folder with what is known of it. Waits for the disk.
    pub(crate) fn folders(&self) -> Vec<ServedFolder> {
        let schedules = self.schedules();
        let places = self.roots.places().into_iter();
        places.map(|place| self.folder_with(place, &schedules)).collect()
    }

    /// Returns one served folder with what is known of it. Waits for the disk.
    pub(crate) fn folder(&self, root: usize) -> Option<ServedFolder> {
        let place = self.roots.at(root)?;
        Some(self.folder_with(place, &self.schedules()))
    }

    fn folder_with(&self, place: ServedPath, schedules: &[CheckSchedule]) -> ServedFolder {
        let path = self.roots.path(&place);
        let schedule = schedules.iter().find(|schedule| schedule.directory == path).cloned();
        let cover_days = schedule.as_ref().map_or(COVER_DAYS, |schedule| schedule.cover_days);
        let list = self.config.trees.as_deref();
        let tree = match (&self.config.automation, &schedule) {
            (Some(automation), Some(schedule)) => automation.places.tree_of(schedule),
            _ => list.and_then(|list| TreeList::at(list).of_root(&path)),
        };
        let audit = match self.root_of(&place, tree.as_ref()) {
            Ok(root) => {
                let ended = self.runs.ended() + self.repairs.ended() + self.copies.ended();
                self.audits.of(place.root, &root, tree.as_ref(), cover_days, ended)
            }
            Err(error) => self.audits.away(place.root, error.to_string()),
        };
        if let (Some(automation), Some(facts)) = (&self.config.automation, audit.facts()) {
            automation.places.note_seen(&path, facts);
        }
        self.view_of(place, audit, schedule, drives)
    }

    /// Returns the path of a root. A drive that came back is another folder of the same name: it
    /// is the same tree if the list of catalogued trees says so.
    fn root_of(&self, place: &ServedPath, tree: Option<&CataloguedTree>) -> io::Result<PathBuf> {
        self.roots.root(place).or_else(|error| {
            let path = self.roots.path(place);
            match is_known(&path, tree, self.now()) {
                true => {
                    self.roots.expect_another(place);
                    self.roots.root(place)
                }
                false => Err(error),
            }
        })
    }

    fn view_of(
        &self,
        place: ServedPath,
        audit: Arc<FolderState>,
        schedule: Option<CheckSchedule>,
        drives: fn(&Path) -> Vec<DriveReport>,
    ) -> ServedFolder {
        let path = self.roots.path(&place);
        let mut status = self.status_of(&path, &audit, schedule.as_ref(), drives);
        let run = self.runs.going_in(&place, &self.roots);
        if matches!(*audit, FolderState::TagsAlone(_) | FolderState::Unrecorded) {
            status.found = self.runs.found_in(&place);
        }
        ServedFolder {
            said: status.said(run.as_deref().map(view_of)),
            status,
            name: name_of(&path),
            shown: self.roots.shown(&place),
            run,
            place,
            audit,
            schedule,
        }
    }

    /// Returns how a folder is, with its schedule and what its drives said.
    fn status_of(
        &self,
        root: &Path,
        audit: &FolderState,
        schedule: Option<&CheckSchedule>,
        drives: fn(&Path) -> Vec<DriveReport>,
    ) -> FolderStatus {
        let (root, state) = (root.to_owned(), audit.clone());
        match &self.config.automation {
            Some(Automation { places, .. }) => {
                let status = places.status_of(&root, state, schedule, self.now().seconds);
                let drives = if audit.facts().is_some() { drives(&root) } else { Vec::new() };
                FolderStatus { drives, ..status }
            }
            None => FolderStatus::alone(root, state),
        }
    }

    /// Returns all open files of a root in one state, by their paths from it. Waits for the disk.
    pub(crate) fn open_paths(&self, place: &ServedPath, state: FileState) -> Option<Vec<PathBuf>> {
        let root = self.roots.root(place).ok()?;
        let catalogue = Catalogue::open_reader(&Catalogue::find_beneath(&root, &root)?).ok()?;
        open_files(&catalogue, |standing| standing == state).ok()
    }

    /// Asks about files of a folder, so that an answer is about these and no others. `None` if this
    /// server keeps no questions.
    pub(crate) fn question(
        &self,
        folder: &ServedFolder,
        state: FileState,
        paths: &[PathBuf],
    ) -> Option<String> {
        let places = &self.config.automation.as_ref()?.places;
        let tree = places.tree_at(&self.roots.path(&folder.place))?;
        Some(places.ask(&tree, QuestionKind::State(state), paths, 0).ok()?.code())
    }

    /// Returns the files of a question that are as they were when it was asked.
    pub(crate) fn answered(&self, place: &ServedPath, code: &str) -> Option<Vec<PathBuf>> {
        let places = &self.config.automation.as_ref()?.places;
        let root = self.roots.path(place);
        let question = places.question(&places.tree_at(&root)?, code).ok()?;
        Some(question.still(&root).0)
    }

    /// Returns the user's schedules. A list that cannot be read has none here: the command line
    /// says what is wrong with it.
    fn schedules(&self) -> Vec<CheckSchedule> {
        let automation = self.config.automation.as_ref();
        let list = automation.map(|automation| automation.places.schedules());
        list.and_then(Result::ok).map_or_else(Vec::new, |list| list.schedules().to_vec())
    }

    /// Returns the folders as they were last known, without waiting for the disk.
    pub(crate) fn side(&self) -> Arc<[SideFolder]> {
        let schedules = self.schedules();
        let one = |place: ServedPath| {
            let latest = self.audits.latest(place.root);
            let is_known = latest.is_some();
            let audit = latest.unwrap_or_else(|| Arc::new(FolderState::Unrecorded));
            let path = self.roots.path(&place);
            let schedule = schedules.iter().find(|schedule| schedule.directory == path).cloned();
            let folder = self.view_of(place, audit, schedule, drives_known);
            let address = folder.address();
            let said = (is_known || folder.run.is_some()).then_some(folder.said);
            SideFolder { address, name: folder.name, said }
        };
        self.roots.places().into_iter().map(one).collect()
    }

    /// Returns the options that every run has.
    pub(crate) fn usual_options(&self) -> Options {
        Options::default().with(|options| {
            options.catalogue.trees = self.config.trees.clone();
            options.ignore_change_times = self.config.ignore_change_times;
        })
    }

    /// Returns the present time.
    pub(crate) fn now(&self) -> Timestamp {
        (Options::default().now)()
    }

    /// Returns whether only this machine reaches the server.
    pub(crate) fn is_local(&self) -> bool {
        is_near(&self.config, self.bound)
    }

    /// Returns where alerts that pages add may be sent.
    pub(crate) fn alert_reach(&self) -> AlertReach {
        match self.is_local() || self.config.alerts_within {
            true => AlertReach::Anywhere,
            false => AlertReach::Elsewhere,
        }
    }

    /// Returns the address that lets one browser in.
    pub(crate) fn entrance(&self) -> String {
        format!("{}/enter?token={}", self.base(), self.access.entrance.letters())
    }

    /// Returns the address by which commands of the owner ask for tickets.
    pub(crate) fn owner_address(&self) -> String {
        format!("{}/ticket?token={}", self.base(), self.access.owner.letters())
    }

    /// Returns the address that lets a browser in and leads on to a page.
    pub(crate) fn entrance_to(&self, page: &str) -> String {
        format!("{}&to={}", self.entrance(), encode(page.as_bytes()))
    }

    /// Returns the address of a page, without the token.
    pub(crate) fn page_address(&self, page: &str) -> String {
        format!("{}{page}", self.base())
    }

    /// Returns an address that lets one browser in, once and within a minute, and leads it on to a
    /// page.
    ///
    /// # Errors
    /// If the system returns no random bytes.
    pub(crate) fn ticket_to(&self, page: &str) -> Result<String, Error> {
        let ticket = self.access.tickets.issue()?;
        let page = encode(page.as_bytes());
        Ok(format!("{}/enter?ticket={}&to={page}", self.base(), ticket.letters()))
    }

    /// Returns the page that shows paths: that of a folder, or the look-up of files. Returns `None`
    /// if a path is beneath no root. Waits for the disk.
    pub(crate) fn page_of(&self, paths: &[PathBuf]) -> Option<String> {
        let places: Option<Vec<ServedPath>> =
            paths.iter().map(|path| self.roots.place_of(path)).collect();
        let places = places?;
        Some(match places.as_slice() {
            [] => "/".to_owned(),
            [place] if beneath::is_folder(&self.roots.path(place)) => self.page_of_folder(place),
            places => format!("/drop?given={}", self.hand_over(places)),
        })
    }

    /// Returns the page that shows a folder: the offer to protect it if nothing is recorded of it,
    /// its own page if it has a catalogue, or the form to check or tag a part of a larger tree.
    fn page_of_folder(&self, place: &ServedPath) -> String {
        let path = self.roots.path(place);
        let root = self.roots.root(place).ok();
        let catalogue = root.map(|root| Catalogue::find_beneath(&root, &path));
        match catalogue {
            Some(None) => format!("/add?place={}", place.query()),
            Some(Some(file)) if file.starts_with(&path) => match self.roots.add(place) {
                Ok(own) => format!("/folders/{}", own.root),
                Err(_) => format!("/run?place={}", place.query()),
            },
            _ => format!("/run?place={}", place.query()),
        }
    }

    /// Keeps paths under a number, since there may be too many for an address.
    fn hand_over(&self, places: &[ServedPath]) -> u64 {
        let mut handed_over = lock(&self.handed_over);
        let number = handed_over.next_number();
        handed_over.add(number, places.into(), HANDED_OVER_MAX, |_| true);
        number
    }

    /// Returns the paths that are kept under a number.
    pub(crate) fn handed_over(&self, number: u64) -> Option<Arc<[ServedPath]>> {
        lock(&self.handed_over).find(number).map(Arc::clone)
    }

    /// Compares a token with the one that the owner's commands show.
    pub(crate) fn is_owner(&self, shown: &str) -> bool {
        self.access.owner.is(shown)
    }

    /// Returns the limits of connections here. Connections and the files that a run opens share the
    /// system's limit on open files.
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.config.limits;
        let open_files = steadfast::process::raise_open_files_limit().unwrap_or(1024);
        let connections = usize::try_from(open_files / 16).unwrap_or(usize::MAX).max(32);
        Limits { connections: limits.connections.min(connections), ..limits }
    }

    /// Returns the origin, and the path, by which the owner reaches this server.
    fn base(&self) -> String {
        let path = &self.config.public.base_path;
        if let Some(origin) = &self.config.public.proxy_origin {
            return format!("{}{path}", origin.trim_end_matches('/'));
        }
        let scheme = if self.config.tls.is_some() { "https" } else { "http" };
        match self.config.public.hosts.first() {
            Some(host) => format!("{scheme}://{host}:{}{path}", self.bound.port()),
            None => format!("{scheme}://{}{path}", self.bound),
        }
    }
}

/// Returns whether only this machine reaches a server.
fn is_near(config: &Config, bound: SocketAddr) -> bool {
    bound.ip().is_loopback() && config.public.proxy_origin.is_none()
}

/// Returns whether the catalogued tree is there, at its own path.
fn is_known(root: &Path, tree: Option<&CataloguedTree>, now: Timestamp) -> bool {
    let is_real = root.canonicalize().is_ok_and(|real| real == root);
    let state = |tree| FolderState::read(root, Some(tree), COVER_DAYS, now);
    is_real && tree.is_some_and(|tree| state(tree).facts().is_some())
}

/// Returns the roots: the named folders and files, and the catalogued trees beneath these folders,
/// which a page added before.
fn roots_of(config: &Config) -> Result<ServedRoots, Error> {
    let list = config.trees.as_deref().map(TreeList::at);
    let now = (Options::default().now)();
    // The folder of a drive that is not mounted is another one than that of the drive.
    let is_away = |root: &Path| {
        let tree = list.as_ref().and_then(|list| list.of_root(root));
        tree.is_some() && !is_known(root, tree.as_ref(), now)
    };
    let roots = ServedRoots::new(&config.roots, &config.files, &is_away)?;
    for tree in list.as_ref().map(TreeList::read).unwrap_or_default() {
        if let Some(place) = roots.place_of(&tree.root) {
            // One that is gone, or became a link, has no card.
            let _ = roots.add(&place);
        }
    }
    Ok(roots)
}
