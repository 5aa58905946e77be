//! How fast the storage answered, by the number of simultaneous reads.
//!
//! Takes the beginnings and ends of reading jobs, and how much they fetched. Returns the best rate
//! seen. Knows nothing of files; the caller chooses the unit of what is fetched.

/// A number of simultaneous jobs counts only if it was seen for this part of the reading time.
const TIME_PART_MIN: f64 = 0.1;

/// Rates by the number of jobs that read at the same time.
#[derive(Debug)]
pub(super) struct Depths {
    depth: usize,
    last_ns: u64,
    /// Time with this many jobs reading, in nanoseconds; the first place is for none.
    time_ns: Vec<u64>,
    /// Units fetched in that time.
    units: Vec<f64>,
}

/// A job under way: when it began, and the totals at that time.
#[derive(Debug)]
pub(crate) struct Entered {
    start_ns: u64,
    time_ns: Vec<u64>,
}

impl Depths {
    /// Makes a record for at most this many jobs at a time.
    pub(super) fn new(jobs_max: usize) -> Depths {
        let (time_ns, units) = (vec![0; jobs_max + 1], vec![0.0; jobs_max + 1]);
        Depths { depth: 0, last_ns: 0, time_ns, units }
    }

    /// Notes that a job begins.
    pub(super) fn enter(&mut self, now_ns: u64) -> Entered {
        self.advance(now_ns);
        self.depth += 1;
        Entered { start_ns: self.last_ns, time_ns: self.time_ns.clone() }
    }

    /// Notes that a job ends. Its units are taken to have come evenly over its time.
    pub(super) fn leave(&mut self, job: &Entered, now_ns: u64, units: u64) {
        self.advance(now_ns);
        self.depth -= 1;
        let elapsed_ns = (self.last_ns - job.start_ns).max(1) as f64;
        for depth in 1..self.time_ns.len() {
            let time_ns = (self.time_ns[depth] - job.time_ns[depth]) as f64;
            self.units[depth] += units as f64 * time_ns / elapsed_ns;
        }
    }

    /// Returns the least time for everything that was fetched, at the best sustained rate, in
    /// nanoseconds.
    pub(super) fn least_ns(&self) -> f64 {
        let (units, time_ns) = (&self.units[1..], &self.time_ns[1..]);
        let all: f64 = units.iter().sum();
        let reading_ns = time_ns.iter().sum::<u64>() as f64;
        let rates = units.iter().zip(time_ns).filter_map(|(&units, &time_ns)| {
            let counts = time_ns as f64 >= TIME_PART_MIN * reading_ns && time_ns > 0;
            counts.then_some(units / time_ns as f64)
        });
        match rates.fold(0.0, f64::max) {
            0.0 => 0.0,
            best => all / best,
        }
    }

    fn advance(&mut self, now_ns: u64) {
        // Threads read their clocks before they get the lock, so calls may be out of order.
        let elapsed_ns = now_ns.saturating_sub(self.last_ns);
        self.time_ns[self.depth] += elapsed_ns;
        self.last_ns += elapsed_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_in_lockstep_count_together() {
        let mut depths = Depths::new(4);
        for round in 0..10 {
            let jobs: Vec<_> = (0..4).map(|_| depths.enter(round * 100)).collect();
            for job in &jobs {
                depths.leave(job, round * 100 + 100, 50);
            }
        }
        assert_eq!(depths.least_ns(), 1000.0);
    }

    #[test]
    fn the_best_rate_that_was_kept_up_counts() {
        let mut depths = Depths::new(3);
        // One at a time: a unit per nanosecond, for 800 ns.
        for start_ns in (0..800).step_by(100) {
            let job = depths.enter(start_ns);
            depths.leave(&job, start_ns + 100, 100);
        }
        // Two at a time: each as fast, for 200 ns.
        let (first, second) = (depths.enter(800), depths.enter(800));
        depths.leave(&first, 1000, 200);
        depths.leave(&second, 1000, 200);
        assert_eq!(depths.least_ns(), 1200.0 / 2.0);
        // A rate seen only for a moment does not count.
        let jobs = [depths.enter(2000), depths.enter(2000), depths.enter(2000)];
        for job in &jobs {
            depths.leave(job, 2001, 1000);
        }
        assert_eq!(depths.least_ns(), 4200.0 / 2.0);
        assert_eq!(Depths::new(1).least_ns(), 0.0);
    }
}
