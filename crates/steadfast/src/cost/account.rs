//! Derives from the time of every thread what limits a run.
//!
//! Takes the account of a run; returns the least time that each of its resources needs, and the
//! part of the work whose removal would speed up the run most. Pure; `docs/reference/cost.md` has
//! the reasoning and an example.

use steadfast_sys::energy::EnergyReading;
use strum::{IntoStaticStr, VariantArray};

use super::{Cost, Role, Stage, ThreadCost};

/// Where the time of a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Time of the run, in nanoseconds.
    pub elapsed_ns: u64,
    /// Processors available to the process.
    pub processors: usize,
    /// Threads that hash.
    pub workers: usize,
    /// The most simultaneous reading jobs, if they are fewer than the threads for them.
    pub reads_at_a_time: Option<usize>,
    /// Every thread that the run started: workers, readers, the walk, the report.
    pub threads: Vec<ThreadCost>,
    /// Time that the storage would need for everything that was read at the best rate that it
    /// sustained during the run, in nanoseconds; 0 if no thread waited for it.
    pub storage_ns: u64,
    /// Time that the rate limit requires for the bytes that were read, in nanoseconds; 0 without a
    /// limit.
    pub rate_limit_ns: u64,
    /// Time for hashing the longest file, in nanoseconds, because one message cannot be divided; 0
    /// if no file was hashed by itself.
    pub longest_file_ns: u64,
    /// Energy, and the type of core that the process ran on, as far as the system tells.
    pub energy: EnergyReading,
}

/// A resource of a run that can be exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Resource {
    /// The processors, shared by all threads.
    Processors,
    /// The threads that hash and store.
    Workers,
    /// The rate limit of reading.
    RateLimit,
    /// The storage, as seen by reading.
    Storage,
    /// The permissions to read, if only this many threads may read at a time.
    Reads,
    /// The one thread that lists directories.
    Walk,
    /// The one thread that reports.
    Report,
    /// The thread that hashes the longest file.
    LongestFile,
}

impl Resource {
    /// Every resource.
    pub const ALL: [Resource; 8] =
        *Resource::VARIANTS.as_array().expect("there are eight resources");

    /// Returns the name as documents show it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A part of the work that can limit a run. Those of [`Stage::BUSY`] come first, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Bound {
    /// Listing directories, with its waiting.
    Walk,
    /// The work of opening and closing files.
    Open,
    /// The work of moving bytes.
    Read,
    /// Hashing.
    Hash,
    /// Storing, with its waiting.
    Store,
    /// Reporting, with its waiting.
    Report,
    /// The waiting of opening and reading for the storage.
    Storage,
    /// The rate limit of reading.
    RateLimit,
    /// Waiting for a processor that another program had.
    Queue,
}

impl Bound {
    /// Every part of the work.
    pub const ALL: [Bound; 9] = *Bound::VARIANTS.as_array().expect("there are nine parts");

    /// Returns the name as documents show it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A lower bound of the time of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The resource that is exhausted.
    pub resource: Resource,
    /// The part of the work that uses most of it.
    pub bound: Bound,
    /// The least time of the run if nothing else took time, in nanoseconds.
    pub least_ns: u64,
    /// The time of `bound` in it, in nanoseconds.
    pub part_ns: u64,
}

/// What limits a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The limit, with the part whose removal would speed up the run most.
    pub limit: Limit,
    /// The share of the run's time for which this part uses the resource, 0 to 1.
    pub share: f64,
    /// The limit if that part took no time.
    pub next: Option<Limit>,
}

/// A run waited for the rate limit if the limit takes this share of its time.
const HELD_SHARE: f64 = 0.8;

/// Nanoseconds that a resource needs for each of [`Bound::ALL`].
type Parts = [f64; Bound::ALL.len()];

impl Account {
    /// Returns the total time of all threads.
    pub fn cost(&self) -> Cost {
        self.cost_of(|_| true)
    }

    /// Returns the total time of all threads in a role.
    pub fn cost_of(&self, wanted: impl Fn(Role) -> bool) -> Cost {
        let mut sum = Cost::default();
        for thread in self.threads.iter().filter(|thread| wanted(thread.role)) {
            sum.merge(&thread.cost);
        }
        sum
    }

    /// Returns the limit of each resource, the highest first, without resources that set no limit.
    pub fn limits(&self) -> Vec<Limit> {
        let limits = Resource::ALL.map(|resource| limit(resource, &self.parts(resource)));
        let mut limits: Vec<Limit> = limits.into_iter().flatten().collect();
        limits.sort_by_key(|limit| std::cmp::Reverse(limit.least_ns));
        limits
    }

    /// Returns what limits the run; `None` if it did nothing.
    pub fn bounds(&self) -> Option<Bounds> {
        let parts = Resource::ALL.map(|resource| (resource, self.parts(resource)));
        let highest = |without: Option<Bound>| {
            let limits = parts.iter().filter_map(|&(resource, mut parts)| {
                if let Some(bound) = without {
                    parts[bound as usize] = 0.0;
                }
                limit(resource, &parts)
            });
            // The first of equal limits, in the order of `Resource::ALL`.
            limits.reduce(|best, next| if next.least_ns > best.least_ns { next } else { best })
        };
        let top = highest(None)?;
        let (_, of_top) = parts.into_iter().find(|&(resource, _)| resource == top.resource)?;
        let least_ns = |bound| highest(Some(bound)).map_or(0, |limit| limit.least_ns);
        let bound = Bound::ALL.into_iter().min_by_key(|&bound| {
            // If two limits are equal, removing a part of one gains nothing.
            (least_ns(bound), std::cmp::Reverse(of_top[bound as usize] as u64))
        })?;
        // A part may exhaust two resources. The one that it uses more is named.
        let taken = |&&(_, parts): &&(Resource, Parts)| parts[bound as usize] as u64;
        let (resource, parts_there) = parts.iter().rev().max_by_key(taken)?;
        let part_ns = parts_there[bound as usize] as u64;
        let least_ns = parts_there.iter().sum::<f64>() as u64;
        Some(Bounds {
            limit: Limit { resource: *resource, bound, least_ns, part_ns },
            share: part_ns as f64 / self.elapsed_ns.max(1) as f64,
            next: highest(Some(bound)),
        })
    }

    /// Returns the parts of a resource's least time.
    fn parts(&self, resource: Resource) -> Parts {
        let mut parts = Parts::default();
        let is_worker = |role| role == Role::Worker;
        match resource {
            Resource::Processors => self.add_work(|_| true, self.processors, &mut parts),
            Resource::Workers => {
                self.add_work(is_worker, self.workers, &mut parts);
                // While a worker waits for a read, another thread may read; but only this worker
                // can store.
                let waited_ns = self.cost_of(is_worker).waited_ns(Stage::Store);
                parts[Bound::Store as usize] += waited_ns as f64 / self.workers as f64;
            }
            Resource::RateLimit => parts[Bound::RateLimit as usize] = self.rate_limit_ns as f64,
            Resource::Storage | Resource::Reads if self.is_held() => {}
            Resource::Storage => parts[Bound::Storage as usize] = self.storage_ns as f64,
            Resource::Reads => {
                if let Some(turns) = self.reads_at_a_time {
                    let cost = self.cost_of(|role| matches!(role, Role::Worker | Role::Reader));
                    let turns = turns.max(1) as f64;
                    for stage in [Stage::Open, Stage::Read] {
                        parts[stage as usize] += cost.processor_ns_of(stage) as f64 / turns;
                    }
                    parts[Bound::Storage as usize] += cost.storage_wait_ns() as f64 / turns;
                }
            }
            Resource::Walk => self.add_single(Role::Walk, &[Stage::Walk], &mut parts),
            Resource::Report => {
                self.add_single(Role::Report, &[Stage::Report, Stage::Store], &mut parts);
            }
            Resource::LongestFile => {
                // Its time was measured with the time for which its thread was displaced.
                let displaced_ns = self.displaced_ns(is_worker);
                let worked_ns = self.cost_of(is_worker).processor_ns as f64;
                let displaced = displaced_ns / (displaced_ns + worked_ns).max(1.0);
                parts[Bound::Queue as usize] = self.longest_file_ns as f64 * displaced;
                parts[Bound::Hash as usize] = self.longest_file_ns as f64 * (1.0 - displaced);
            }
        }
        // Rates of different moments may add up to slightly more than the whole.
        let (sum, elapsed_ns) = (parts.iter().sum::<f64>(), self.elapsed_ns as f64);
        if sum > elapsed_ns { parts.map(|part| part * elapsed_ns / sum) } else { parts }
    }

    /// Adds the work of threads in a role, and the time for which they were displaced, divided
    /// among so many. Per thread: the waiting of a reader does not describe that of a worker.
    fn add_work(&self, wanted: impl Fn(Role) -> bool + Copy, among: usize, parts: &mut Parts) {
        for thread in self.threads.iter().filter(|thread| wanted(thread.role)) {
            for stage in Stage::BUSY {
                parts[stage as usize] += thread.cost.processor_ns_of(stage) as f64 / among as f64;
            }
        }
        parts[Bound::Queue as usize] = self.displaced_ns(wanted) / among as f64;
    }

    /// Adds the work and the waiting of the only thread in a role.
    fn add_single(&self, role: Role, stages: &[Stage], parts: &mut Parts) {
        let cost = self.cost_of(|other| other == role);
        for &stage in stages {
            parts[stage as usize] += (cost.processor_ns_of(stage) + cost.waited_ns(stage)) as f64;
        }
        parts[Bound::Queue as usize] = self.displaced_ns(|other| other == role);
    }

    /// Returns whether reading waited for the rate limit. The speed of the storage is then unknown.
    fn is_held(&self) -> bool {
        self.rate_limit_ns as f64 >= HELD_SHARE * self.elapsed_ns as f64 && self.rate_limit_ns > 0
    }

    /// Returns how long threads in a role waited for processors that other programs had.
    ///
    /// The rest of their time in the queue, they waited for other threads of the run: if the run
    /// had all processors all the time, nothing but its own work delayed it.
    fn displaced_ns(&self, wanted: impl Fn(Role) -> bool) -> f64 {
        let all = self.cost();
        let capacity_ns = self.elapsed_ns as f64 * self.processors as f64;
        let others_ns = (capacity_ns - all.processor_ns as f64).max(0.0);
        let share = others_ns / (all.elapsed_ns(Stage::Queue) as f64).max(1.0);
        self.cost_of(wanted).elapsed_ns(Stage::Queue) as f64 * share.min(1.0)
    }
}

fn limit(resource: Resource, parts: &Parts) -> Option<Limit> {
    let most = |bound: &Bound| parts[*bound as usize] as u64;
    let bound = Bound::ALL.into_iter().max_by_key(most)?;
    let least_ns = parts.iter().sum::<f64>() as u64;
    (least_ns > 0).then_some(Limit { resource, bound, least_ns, part_ns: most(&bound) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a thread with this time, and this part of it waiting, in each stage.
    fn thread(role: Role, stages: &[(Stage, u64, u64)]) -> ThreadCost {
        let mut cost = Cost::default();
        for &(stage, elapsed_ns, waited_ns) in stages {
            cost.add(stage, elapsed_ns);
            cost.add_waited(stage, waited_ns);
            cost.processor_ns += if stage == Stage::Queue { 0 } else { elapsed_ns - waited_ns };
        }
        ThreadCost { name: String::new(), role, lifetime_ns: cost.total_ns(), cost }
    }

    fn account(threads: Vec<ThreadCost>) -> Account {
        let workers = threads.iter().filter(|thread| thread.role == Role::Worker).count();
        Account { elapsed_ns: 1000, processors: 2, workers, threads, ..Account::default() }
    }

    fn bounds_of(account: &Account) -> (Resource, Bound, f64, Option<(Resource, Bound, u64)>) {
        let Bounds { limit, share, next } = account.bounds().expect("something was done");
        let next = next.map(|next| (next.resource, next.bound, next.least_ns));
        (limit.resource, limit.bound, share, next)
    }

    const HASH: Bound = Bound::Hash;
    const READ: Bound = Bound::Read;

    #[test]
    fn hashing_binds_and_copying_would_be_next() {
        let worker = || thread(Role::Worker, &[(Stage::Hash, 900, 0), (Stage::Read, 70, 0)]);
        let account = account(vec![worker(), worker()]);
        let next = Some((Resource::Processors, READ, 70));
        assert_eq!(bounds_of(&account), (Resource::Processors, HASH, 0.9, next));
        assert_eq!(account.limits().len(), 2);
    }

    #[test]
    fn storage_binds_however_much_time_threads_wait_elsewhere() {
        let worker = || thread(Role::Worker, &[(Stage::Hash, 400, 0), (Stage::Read, 600, 500)]);
        let reader = || thread(Role::Reader, &[(Stage::Read, 1000, 990)]);
        let mut account = account(vec![worker(), worker(), reader(), reader()]);
        account.storage_ns = 950;
        let next = Some((Resource::Processors, HASH, 510));
        assert_eq!(bounds_of(&account), (Resource::Storage, Bound::Storage, 0.95, next));
        // The same waiting, on a storage that could take more requests.
        account.storage_ns = 300;
        assert_eq!(bounds_of(&account).1, HASH);
    }

    #[test]
    fn the_part_counts_without_which_the_run_would_be_fastest() {
        // Opening takes the most time, but without hashing, the second limit would be just as high.
        let worker = || thread(Role::Worker, &[(Stage::Hash, 450, 0), (Stage::Open, 500, 0)]);
        let mut two = account(vec![worker(), worker()]);
        assert_eq!(bounds_of(&two).1, Bound::Open);
        // If a walk takes as long as the rest without either, only the size is left to choose by.
        two.threads.push(thread(Role::Walk, &[(Stage::Walk, 900, 890)]));
        assert_eq!(bounds_of(&two).1, Bound::Open);
        assert_eq!(bounds_of(&two).3.map(|next| next.0), Some(Resource::Walk));
    }

    #[test]
    fn one_thread_binds_where_only_one_can_do_it() {
        let worker = || thread(Role::Worker, &[(Stage::Hash, 300, 0)]);
        for (role, stage, part, resource) in [
            (Role::Walk, Stage::Walk, Bound::Walk, Resource::Walk),
            (Role::Report, Stage::Report, Bound::Report, Resource::Report),
        ] {
            let one = account(vec![worker(), worker(), thread(role, &[(stage, 980, 600)])]);
            let (found, bound, share, next) = bounds_of(&one);
            assert_eq!((found, bound, share), (resource, part, 0.98));
            assert_eq!(next, Some((Resource::Processors, HASH, 300)));
        }
        let mut file = account(vec![thread(Role::Worker, &[(Stage::Hash, 990, 0)]), worker()]);
        file.longest_file_ns = 985;
        assert_eq!(bounds_of(&file), (Resource::LongestFile, HASH, 0.985, None));
    }

    #[test]
    fn writing_tags_holds_workers_and_not_processors() {
        let worker = || thread(Role::Worker, &[(Stage::Store, 950, 940), (Stage::Hash, 40, 0)]);
        let bound = bounds_of(&account(vec![worker(), worker()]));
        let next = Some((Resource::Processors, HASH, 40));
        assert_eq!(bound, (Resource::Workers, Bound::Store, 0.95, next));
    }

    #[test]
    fn a_part_is_told_by_the_resource_of_which_it_takes_most() {
        // The processors are closer to exhausted, but without hashing the run would gain most.
        let worker =
            |hash_ns| thread(Role::Worker, &[(Stage::Hash, hash_ns, 0), (Stage::Read, 600, 0)]);
        let mut one = account(vec![worker(300), worker(300)]);
        one.longest_file_ns = 590;
        assert_eq!(one.limits()[0].resource, Resource::Processors);
        let next = Some((Resource::Processors, READ, 600));
        assert_eq!(
            bounds_of(&one),
            (Resource::Processors, READ, 0.6, Some((Resource::LongestFile, HASH, 590)))
        );
        one.longest_file_ns = 620;
        assert_eq!(bounds_of(&one), (Resource::LongestFile, HASH, 0.62, next));
    }

    #[test]
    fn reading_in_turns_binds_as_if_one_thread_did_it() {
        let worker = || thread(Role::Worker, &[(Stage::Hash, 100, 0), (Stage::Read, 470, 40)]);
        let mut turns = account(vec![worker(), worker()]);
        assert_eq!(bounds_of(&turns).0, Resource::Processors);
        turns.reads_at_a_time = Some(1);
        let next = Some((Resource::Processors, HASH, 100));
        assert_eq!(bounds_of(&turns), (Resource::Reads, READ, 0.86, next));
        turns.reads_at_a_time = Some(2);
        assert_eq!(turns.bounds().map(|bounds| bounds.limit.least_ns), Some(530));
    }

    #[test]
    fn waiting_for_processors_that_others_had_binds() {
        let worker = || thread(Role::Worker, &[(Stage::Hash, 300, 0), (Stage::Queue, 650, 0)]);
        let mut displaced = account(vec![worker(), worker()]);
        let next = Some((Resource::Processors, HASH, 300));
        assert_eq!(bounds_of(&displaced), (Resource::Processors, Bound::Queue, 0.65, next));
        // The time of the longest file includes the waiting of its thread.
        displaced.longest_file_ns = 950;
        assert_eq!(bounds_of(&displaced).1, Bound::Queue);
        // Threads that wait for each other leave no processor idle and to nobody else.
        let worker = || thread(Role::Worker, &[(Stage::Hash, 500, 0), (Stage::Queue, 500, 0)]);
        let crowded = account(vec![worker(), worker(), worker(), worker()]);
        assert_eq!(bounds_of(&crowded), (Resource::Processors, HASH, 1.0, None));
    }

    #[test]
    fn fewer_workers_than_processors_bind_by_themselves() {
        let bound = bounds_of(&account(vec![thread(Role::Worker, &[(Stage::Hash, 980, 0)])]));
        assert_eq!(bound, (Resource::Workers, HASH, 0.98, None));
    }

    #[test]
    fn a_limit_on_the_rate_binds_and_hides_the_storage() {
        let worker = || thread(Role::Worker, &[(Stage::Hash, 50, 0), (Stage::Read, 900, 890)]);
        let mut held = account(vec![worker(), worker()]);
        held.storage_ns = 950;
        held.reads_at_a_time = Some(1);
        held.rate_limit_ns = 940;
        let next = Some((Resource::Processors, HASH, 60));
        assert_eq!(bounds_of(&held), (Resource::RateLimit, Bound::RateLimit, 0.94, next));
        // A storage slower than the rate limit is itself the limit.
        (held.rate_limit_ns, held.reads_at_a_time) = (300, None);
        assert_eq!(bounds_of(&held).1, Bound::Storage);
    }

    #[test]
    fn no_limit_is_beyond_the_run_and_nothing_bounds_nothing() {
        let mut late = account(vec![thread(Role::Worker, &[(Stage::Hash, 10, 0)])]);
        late.storage_ns = 5000;
        assert_eq!(late.limits()[0].least_ns, 1000);
        assert_eq!(Account::default().bounds(), None);
        assert!(Account::default().limits().is_empty());
    }
}
