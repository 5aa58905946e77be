//! The machine, its clocks and its limits: facts that must at least be possible.

use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use steadfast_sys::{clock, file, machine};

#[test]
fn a_lowered_limit_on_open_files_is_raised_as_far_as_it_goes() {
    let limit = file::raise_open_files_limit().unwrap();
    let now = getrlimit(Resource::Nofile);
    assert_eq!(now.current.unwrap_or(u64::MAX), limit);
    if cfg!(target_os = "linux") {
        assert_eq!(now.current, now.maximum);
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(limit - 1), ..now }).unwrap();
    assert_eq!(file::raise_open_files_limit().unwrap(), limit);
    assert_eq!(getrlimit(Resource::Nofile), now);
}

#[test]
fn the_monotonic_clock_goes_forwards_at_the_pace_of_time() {
    let outer = Instant::now();
    let start = clock::monotonic_ns();
    let inner = Instant::now();
    let mut before = start;
    while inner.elapsed() < Duration::from_millis(2) {
        let now = clock::monotonic_ns();
        assert!(now >= before);
        before = now;
    }
    let inner = inner.elapsed().as_nanos() as u64;
    let measured = clock::monotonic_ns() - start;
    let outer = outer.elapsed().as_nanos() as u64;
    assert!((inner..=outer).contains(&measured), "{measured} ns, not {inner} to {outer}");
}

#[test]
fn work_costs_processor_time() {
    let process = clock::process_cpu_ns();
    let thread = clock::thread_cpu_ns();
    let mut rounds = 0_u64;
    while clock::thread_cpu_ns() - thread < 1_000_000 {
        rounds = std::hint::black_box(rounds + 1);
    }
    assert!(rounds > 0);
    assert!(clock::process_cpu_ns() - process >= 1_000_000);
}

#[test]
fn threads_that_are_too_many_wait_for_a_processor() {
    let threads = 2 * machine::logical_cpus() + 1;
    let spin = || {
        let (start_ns, cpu_ns) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        let queued_ns = clock::thread_queued_ns();
        while clock::thread_cpu_ns() - cpu_ns < 20_000_000 {
            std::hint::spin_loop();
        }
        let idle_ns = clock::monotonic_ns() - start_ns - (clock::thread_cpu_ns() - cpu_ns);
        queued_ns.map(|before| (idle_ns, clock::thread_queued_ns().unwrap() - before))
    };
    let spinning: Vec<_> = (0..threads).map(|_| std::thread::spawn(spin)).collect();
    let times: Option<Vec<(u64, u64)>> = spinning.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(times.is_some(), cfg!(target_os = "linux"));
    let (idle_ns, queued_ns) =
        times.unwrap_or_default().iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!((idle_ns / 2..=idle_ns + 20_000_000).contains(&queued_ns), "{queued_ns} of {idle_ns}");
}

#[test]
fn utc_is_what_the_standard_library_says() {
    let known = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let before = known();
    let now = clock::utc_now();
    let after = known();
    assert!(now.nanoseconds < 1_000_000_000);
    assert!((before as i128..=after as i128).contains(&now.as_nanoseconds()));
}

#[test]
fn the_machine_is_described() {
    assert!(machine::logical_cpus() >= 1);
    assert!(machine::memory_bytes() > 64 << 20);
    for fact in [machine::cpu_model(), machine::os_version()] {
        assert!(!fact.is_empty() && fact != "unknown");
        assert_eq!(fact.trim(), fact);
    }
    if cfg!(target_os = "linux") {
        assert!(machine::os_version().contains("Linux "));
    }
}

#[test]
fn the_peak_of_memory_follows_what_was_touched() {
    let touched = 48 << 20;
    let bytes = vec![1_u8; touched];
    assert!(std::hint::black_box(&bytes).iter().all(|&byte| byte == 1));
    let peak = machine::peak_rss_bytes();
    assert!(peak >= touched as u64 && peak <= machine::memory_bytes(), "{peak}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_reserved_table_of_open_files_has_its_room_at_once() {
    let limit = steadfast_sys::file::raise_open_files_limit().unwrap();
    let count = 2_000.min(limit);
    steadfast_sys::file::reserve_open_files(count).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
    assert!(size.trim().parse::<u64>().unwrap() >= count, "FDSize {size}");
}
