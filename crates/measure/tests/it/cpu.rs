//! Loops in one core: their answers, their instructions, their samples, what follows from them.

use std::num::NonZero;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use steadfast::Level;
use steadfast_measure::ErrorKind;
use steadfast_measure::figures;
use steadfast_measure::record::{self, Factors, Record, Sample, Series, Stage, Unit};
use steadfast_measure::runner::{End, Session, Unwatched};
use steadfast_measure::stats::{Finding, fastest};
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::cpu::kernels::Kernel;
use steadfast_measure::workload::together::{THREADS_MAX, thread_count};
use steadfast_measure::workload::{ROUNDS_MAX, Workload as _};

#[test]
fn every_kernel_computes_what_it_must() {
    for kernel in Kernel::ALL {
        for loops in [0, 1, 2, 9, 255, 256, 257, 1000] {
            assert_eq!(kernel.run(loops), kernel.expected(loops), "{} × {loops}", kernel.name());
        }
        // Were the sum the same whatever is done, nothing would be checked.
        assert_ne!(kernel.expected(1000), kernel.expected(1001), "{}", kernel.name());
    }
}

#[test]
fn kernels_are_found_by_name() {
    for kernel in Kernel::ALL {
        assert_eq!(Kernel::named(kernel.name()).unwrap(), kernel);
    }
    let error = Kernel::named("f32").unwrap_err().to_string();
    assert!(error.contains("f32-product-plain, i64-dot"), "{error}");
}

/// Arithmetic that an instruction does.
#[derive(Debug, PartialEq, Eq)]
enum Arithmetic {
    Scalar,
    Packed,
}

/// Judges one instruction of x86 or Arm; moves, jumps and the like are none.
fn arithmetic(instruction: &str) -> Option<Arithmetic> {
    let mut words = instruction.split_whitespace();
    let name = words.next()?;
    let operands = words.collect::<String>();
    let lanes = [".2s", ".4s", ".2d", ".4h", ".8h", ".8b", ".16b", "z"];
    if matches!(name, "fmul" | "fadd" | "fmla" | "fmadd" | "mul" | "madd" | "add" | "faddp") {
        let packed =
            lanes[..7].iter().any(|lane| operands.contains(lane)) || operands.starts_with(lanes[7]);
        return Some(if packed { Arithmetic::Packed } else { Arithmetic::Scalar });
    }
    let name = name.strip_prefix('v').unwrap_or(name);
    let does = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    if does(&["mulps", "mulpd", "addps", "addpd", "subps", "haddp", "dpps", "dppd"])
        || does(&["pmul", "padd", "psub", "phadd", "fmadd", "fnmadd"]) && !name.ends_with('s')
        || does(&["fmadd", "fnmadd"]) && (name.ends_with("ps") || name.ends_with("pd"))
    {
        return Some(Arithmetic::Packed);
    }
    does(&["mulss", "mulsd", "addss", "addsd", "imul"]).then_some(Arithmetic::Scalar)
}

/// Disassembles a function of this very program, given its module and name as linkers see them.
fn disassembled(objdump: &str, part: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(objdump).args(arguments).arg(&program).output().unwrap();
        assert!(output.status.success(), "objdump {arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let symbols = run(&["-t"]);
    let symbols: Vec<&str> = symbols
        .lines()
        .filter(|line| line.contains(".text") && line.contains(part))
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    assert!(!symbols.is_empty(), "no function {part} in the program");
    let mut instructions = Vec::new();
    for symbol in symbols {
        let listing = run(&["-d", "--no-show-raw-insn", &format!("--disassemble={symbol}")]);
        let lines = listing.lines().filter_map(|line| line.split_once(":\t"));
        instructions.extend(lines.map(|(_, instruction)| instruction.to_owned()));
    }
    instructions
}

#[test]
fn plain_loops_are_plain() {
    let objdump = "objdump";
    if steadfast_testing::program(objdump).is_none() {
        return;
    }
    let count = |part: &str, kind: Arithmetic| {
        let instructions = disassembled(objdump, part);
        instructions.iter().filter(|line| arithmetic(line).as_ref() == Some(&kind)).count()
    };
    for part in ["5plain8products", "5plain4dots"] {
        assert!(count(part, Arithmetic::Scalar) > 0, "{part} has no arithmetic");
        assert_eq!(count(part, Arithmetic::Packed), 0, "{part} was vectorised");
    }
    // The same eyes see packed arithmetic where there is some.
    assert!(count("7kernels14four_lane_dots", Arithmetic::Packed) > 0);
}

#[test]
fn packed_arithmetic_is_told_from_scalar() {
    for packed in [
        "mulps %xmm1,%xmm0",
        "vaddps (%rdi),%ymm0,%ymm1",
        "vfmadd231ps %ymm0,%ymm1,%ymm2",
        "pmuludq %xmm1,%xmm0",
        "paddq %xmm1,%xmm0",
        "fmul v0.4s, v1.4s, v2.4s",
        "fadd z0.s, z1.s, z2.s",
    ] {
        assert_eq!(arithmetic(packed), Some(Arithmetic::Packed), "{packed}");
    }
    for scalar in [
        "mulss (%rdi),%xmm0",
        "vaddss %xmm1,%xmm0,%xmm0",
        "imul (%rsi),%rax",
        "fmul s0, s1, s2",
        "madd x0, x1, x2, x3",
    ] {
        assert_eq!(arithmetic(scalar), Some(Arithmetic::Scalar), "{scalar}");
    }
    for neither in ["xorps %xmm0,%xmm0", "movaps %xmm0,%xmm1", "jne 10", "movss (%rdi),%xmm0"] {
        assert_eq!(arithmetic(neither), None, "{neither}");
    }
}

#[test]
fn each_combination_gives_a_sample_in_each_round() {
    let cpu = Cpu {
        kernels: vec![Kernel::IntegerDot, Kernel::SparseProduct],
        levels: vec![Level::Default],
        threads: [1, 3].into_iter().filter_map(NonZero::new).collect(),
        rounds: 5,
        rounds_max: 5,
        sample_ns: 100_000,
        ..Cpu::quick(9)
    };
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    cpu.plan(&mut session);
    cpu.run(&mut session).unwrap();
    let record = session.end(None);
    assert_eq!(record.series.len(), 4);
    assert!(record.warnings.iter().any(|text| text.contains("cpu: not standard")));
    for series in &record.series {
        assert_eq!(series.unit, Unit::Loops);
        let rounds: Vec<u32> = series.samples.iter().map(|sample| sample.round).collect();
        assert_eq!(rounds, [0, 1, 2, 3, 4]);
        let of_kernel = |other: &&Series| other.factors.algorithm == series.factors.algorithm;
        let amount = record.series.iter().find(of_kernel).unwrap().samples[0].amount;
        assert!(series.samples.iter().all(|sample| sample.amount == amount && amount > 0));
    }
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    assert_eq!(figures::cpu::of(&record, None).unwrap().rates.len(), 4);
}

#[test]
fn rounds_go_on_until_the_fastest_agree_or_there_are_enough() {
    let kernels = vec![Kernel::IntegerDot, Kernel::SparseProduct];
    let threads = NonZero::new(1).into_iter().collect();
    let (levels, sample_ns) = (vec![Level::Default], 50_000);
    let cpu = Cpu { kernels, levels, threads, rounds: 2, sample_ns, ..Cpu::quick(9) };
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    cpu.run(&mut session).unwrap();
    for series in session.end(None).series {
        let rates: Vec<f64> = series.samples.iter().map(|of| series.per_second(of)).collect();
        let settled = fastest(&rates, 0.01).is_some();
        assert!(settled || rates.len() == ROUNDS_MAX as usize, "{rates:?}");
        assert!((10..=ROUNDS_MAX as usize).contains(&rates.len()), "{rates:?}");
    }
}

#[test]
fn no_threads_and_too_many_are_refused() {
    for count in [1, 4, u64::from(THREADS_MAX)] {
        assert_eq!(u64::from(thread_count(count).unwrap().get()), count);
    }
    for count in [0, u64::from(THREADS_MAX) + 1, 100_000, u64::MAX] {
        let error = thread_count(count).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains(&count.to_string()), "{error}");
    }
    let threads = [1, 100_000].into_iter().filter_map(NonZero::new).collect();
    let cpu = Cpu { threads, sample_ns: 100_000, ..Cpu::quick(9) };
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    match cpu.run(&mut session) {
        Err(End::Failed(error)) => assert_eq!(error.kind(), ErrorKind::Usage),
        other => panic!("{other:?}"),
    }
    assert!(session.end(None).series.is_empty());
}

#[test]
fn no_sample_is_faster_than_the_work_can_be() {
    let cpu = Cpu {
        kernels: vec![Kernel::IntegerDot],
        levels: vec![Level::Default],
        // Many more than processors: the thread that only waits is put aside at every moment.
        threads: [1, 16].into_iter().filter_map(NonZero::new).collect(),
        rounds: 50,
        rounds_max: 50,
        sample_ns: 200_000,
        ..Cpu::quick(5)
    };
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    cpu.run(&mut session).unwrap();
    let record = session.end(None);
    assert_eq!(record.series.len(), 2);
    // The calibration was the fastest of three; a clock that speeds up gains less than this.
    let least_ns = cpu.sample_ns / 5;
    for series in &record.series {
        assert!(series.method.contains("took 0.2 ms"), "{}", series.method);
        assert_eq!(series.samples.len(), 50);
        for sample in &series.samples {
            assert!(sample.elapsed_ns >= least_ns, "{}: {sample:?}", series.label);
        }
    }
}

#[test]
fn mixed_levels_have_a_series_each() {
    let cpu = Cpu {
        kernels: vec![Kernel::IntegerDot],
        levels: vec![Level::Background, Level::UserInteractive],
        threads: Vec::new(),
        mixed: true,
        rounds: 5,
        rounds_max: 5,
        sample_ns: 200_000,
        ..Cpu::quick(5)
    };
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    cpu.run(&mut session).unwrap();
    let record = session.end(None);
    let of = |series: &Series| (series.factors.qos, series.factors.threads, series.samples.len());
    let found: Vec<_> = record.series.iter().map(of).collect();
    assert_eq!(found, [(Some(9), Some(2), 5), (Some(33), Some(2), 5)]);
    let figures = figures::cpu::of(&record, None).unwrap();
    let [high, low] = figures.rates.as_slice() else { panic!("{figures:?}") };
    let beside = [high, low].map(|of| of.factors.busy_threads);
    assert_eq!(beside, [Some(2), Some(2)]);
    assert!(figures.of_high(high).is_none() && figures.of_high(low).is_some());
    let contended = figures.contended.unwrap();
    assert_eq!((contended.low, contended.high), (9, 33));
    assert_eq!(contended.share.value, figures.of_high(low).unwrap().value, "of the only kernel");
    assert_eq!(figures.levels, None, "no thread was alone");
}

/// A record of one kernel whose rounds take so many nanoseconds for 1,000 loops.
fn made(series: &[(u8, u32, [u64; 6])]) -> Record {
    let stop = AtomicBool::new(false);
    let mut unwatched = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
    for &(qos, threads, times) in series {
        let sample = |(round, elapsed_ns): (usize, u64)| Sample {
            round: round as u32,
            amount: 1000,
            elapsed_ns,
            ..Sample::default()
        };
        session.add_series(Series {
            workload: record::Workload::Cpu,
            label: "i64-dot".into(),
            method: String::new(),
            factors: Factors {
                stage: Some(Stage::Kernel),
                algorithm: Some("i64-dot".into()),
                threads: Some(threads),
                qos: Some(qos),
                ..Factors::default()
            },
            unit: Unit::Loops,
            seed: Some(3),
            place: None,
            samples: times.into_iter().enumerate().map(sample).collect(),
            stated: None,
        });
    }
    session.end(None)
}

#[test]
fn rates_are_those_of_one_thread_and_crowding_is_said() {
    let record = made(&[
        (9, 1, [4000; 6]),
        (33, 1, [1000, 1000, 1010, 990, 1000, 1000]),
        (33, 4, [2000; 6]),
    ]);
    let figures = figures::cpu::of(&record, None).unwrap();
    let [high, four, low] = figures.rates.as_slice() else { panic!("{figures:?}") };
    assert_eq!((high.factors.qos, high.threads(), high.per_second()), (Some(33), 1, 1e9));
    assert!(figures.of_high(high).is_none() && figures.of_one_thread(high).is_none());
    let bounds = high.rate.unwrap().interval.unwrap();
    assert!(bounds.0 < 1e9 && bounds.1 > 1e9, "{bounds:?}");
    assert!((figures.of_one_thread(four).unwrap().value - 0.5).abs() < 1e-9);
    assert!((figures.of_high(low).unwrap().value - 0.25).abs() < 1e-9);
    assert!(figures.is_crowded(four) && !figures.is_crowded(low));
}

#[test]
fn levels_are_compared_by_the_median_kernel() {
    let one = |times: [u64; 6], kernel: &str, qos: u8| {
        let mut series = made(&[(qos, 1, times)]).series.remove(0);
        series.factors.algorithm = Some(kernel.to_owned());
        series
    };
    let compared = |slow: [[u64; 6]; 3]| {
        let kernels = ["a", "b", "c"];
        let low = kernels.iter().zip(slow).map(|(kernel, times)| one(times, kernel, 9));
        let high = kernels.iter().map(|kernel| one([1000; 6], kernel, 33));
        let record = Record { series: low.chain(high).collect(), ..made(&[]) };
        figures::cpu::of(&record, None).unwrap().levels.unwrap()
    };
    let slow = compared([[1250; 6], [1240, 1260, 1250, 1250, 1250, 1250], [4000; 6]]);
    assert_eq!((slow.low, slow.high, slow.finding), (9, 33, Finding::Slower));
    assert!((slow.share.value - 0.8).abs() < 1e-9, "{slow:?}");
    // One kernel does far more by chance: the median kernel shows no difference.
    let alike = compared([[1001, 999, 1000, 1002, 998, 1000], [1000; 6], [800; 6]]);
    assert_eq!(alike.finding, Finding::NoDifference);
    let wide = compared([[900, 1100, 900, 1100, 900, 1100]; 3]);
    assert_eq!(wide.finding, Finding::NotEnoughData);
    assert!(wide.share.interval.is_some());
    assert_eq!(figures::cpu::of(&made(&[(33, 1, [1000; 6])]), None).unwrap().levels, None);
}

#[test]
fn another_record_gives_shares_of_its_highest_level() {
    let (ours, theirs) =
        (made(&[(33, 1, [500; 6])]), made(&[(9, 1, [9000; 6]), (25, 1, [1000; 6])]));
    let figures = figures::cpu::of(&ours, Some(&theirs)).unwrap();
    assert!((figures.of_other(&figures.rates[0]).unwrap().value - 2.0).abs() < 1e-9);
    assert_eq!(figures.against(), Some(theirs.machine.cpu.as_str()));
    let alone = figures::cpu::of(&ours, None).unwrap();
    assert!(alone.of_other(&alone.rates[0]).is_none());
}
