use super::*;
use std::collections::HashSet;

fn arch(name: &str) -> Arch {
    Arch::parse(name).expect("an architecture")
}

#[test]
fn every_probe_has_a_name_of_its_own_and_operands_that_do_not_change() {
    for (name, least) in [("sm_75", 900), ("sm_90a", 2000), ("sm_121a", 1800)] {
        let probes = probes(arch(name));
        assert!(probes.len() >= least, "{name}: {}", probes.len());
        let mut names = HashSet::new();
        for probe in &probes {
            assert!(names.insert(probe.name.clone()), "{} twice", probe.name);
            assert!(!probe.outputs.is_empty(), "{}", probe.name);
            assert_eq!(probe.operands_of(7), probe.operands_of(7));
        }
    }
}

#[test]
fn edges_meet_each_other() {
    let probe = Probe::plain("x", "add.f32", &[Fill::F32; 2], Value::F32);
    let pairs: HashSet<Vec<u64>> = (0..CASES).map(|case| probe.operands_of(case)).collect();
    let (infinity, least) = (0x7f80_0000, 1);
    for pair in [[infinity, infinity | 1 << 31], [least, 0x7fff_ffff], [0, 1 << 31]] {
        assert!(pairs.contains(pair.as_slice()), "{pair:x?}");
    }
    // Not only edges.
    assert!(pairs.len() > CASES / 2, "{}", pairs.len());
}

#[test]
fn a_module_knows_which_probe_a_line_belongs_to() {
    let probes = probes(arch("sm_90a"));
    let members: Vec<usize> = (10..20).collect();
    let batch = Batch::new(arch("sm_90a"), &probes, &members);
    for (at, line) in batch.ptx.lines().enumerate() {
        if let Some(rest) = line.strip_prefix(".visible .entry k") {
            let member: usize = rest.split('(').next().and_then(|digits| digits.parse().ok()).expect("an index");
            assert_eq!(batch.member_at(at as u32 + 1), Some(member));
        }
    }
    assert_eq!(batch.member_at(1), None);
}

#[test]
fn differences_are_weighed_by_type() {
    let one = |name: &str, value, agreement| Probe::plain("x", name, &[Fill::Int32], value).within(agreement);
    let verdict = |probe: &Probe, a: u64, b: u64| compare(probe, &[vec![a]], &[vec![b]]);
    let exact = one("x", Value::F32, Agreement::Exact);
    let bits = |x: f32| u64::from(x.to_bits());
    assert_eq!(verdict(&exact, bits(1.0), bits(1.0)).verdict, Match::Equal);
    assert_eq!(verdict(&exact, 0x7fff_ffff, 0x7fc0_0000).verdict, Match::NanBits);
    let off = verdict(&exact, bits(1.0), bits(1.0f32.next_up()));
    assert_eq!((off.verdict, off.max_ulp, off.differences.len()), (Match::Different, 1, 1));
    let loose = one("x", Value::F32, Agreement::Ulp(2));
    assert_eq!(verdict(&loose, bits(-0.0), bits(f32::from_bits(1))).verdict, Match::WithinBounds);
    assert_eq!(verdict(&loose, bits(1.0), 0x7fff_ffff).verdict, Match::Different);
    let near = one("x", Value::F32, Agreement::Absolute(1e-6));
    assert_eq!(verdict(&near, bits(0.5), bits(0.500_01)).verdict, Match::Different);
    // A NaN in one half does not hide a difference in the other.
    let pair = one("x", Value::F16x2, Agreement::Exact);
    assert_eq!(verdict(&pair, 0x7fff_3c00, 0x7e00_3c01).verdict, Match::Different);
    assert_eq!(verdict(&pair, 0x7fff_3c00, 0x7e00_3c00).verdict, Match::NanBits);
    let integer = one("x", Value::Bits32, Agreement::Exact);
    assert_eq!(verdict(&integer, 0x7fff_ffff, 0x7fc0_0000).verdict, Match::Different);
}

#[test]
fn a_recording_reads_back() {
    let probe = Probe::plain("x", "add.u32", &[Fill::Int32; 2], Value::Bits32);
    let results = vec![(0..CASES as u64).collect::<Vec<u64>>(), vec![0x7fff_ffff; CASES]];
    let mut other = results.clone();
    other[1][40] ^= 1;
    let found = compare(&Probe { outputs: vec![Value::Bits32; 2], ..probe.clone() }, &other, &results);
    let recording = Recording::new(&probe, &results, &found);
    assert!(recording.cases.contains(&(40, vec![40, 0x7fff_ffff])), "{:?}", recording.cases);
    let text = format!("# from somewhere\n{}\n", recording.line("add.u32"));
    assert_eq!(Recording::read(&text), Ok(vec![("add.u32".to_owned(), recording.clone())]));
    assert_ne!(Recording::new(&probe, &other, &found).digest, recording.digest);
    assert!(Recording::read("add.u32\t0").is_err());
}

/// Cases where the emulator once differed from an H200: name, case, result register, bits.
#[test]
fn the_emulator_gives_what_an_h200_gave() {
    let arch = arch("sm_90a");
    let probes = probes(arch);
    let mut wanted: std::collections::BTreeMap<usize, Vec<(usize, usize, u64)>> = Default::default();
    let recorded = include_str!("../../../assets/recorded/differences-h200.tsv");
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, case, result, bits] = fields[..] else { panic!("{line}") };
        let index = probes.iter().position(|probe| probe.name == name).unwrap_or_else(|| panic!("no probe {name}"));
        let number = |text: &str| text.parse::<usize>().expect("a number");
        let bits = u64::from_str_radix(bits, 16).expect("bits");
        wanted.entry(index).or_default().push((number(case), number(result), bits));
    }
    assert!(wanted.len() > 200, "{}", wanted.len());
    let mut device = crate::devices::open(&crate::device::DeviceChoice::Emulator).expect("the emulator");
    let chosen: Vec<usize> = wanted.keys().copied().collect();
    let mut wrong = Vec::new();
    for batch in batches(arch, &probes, &chosen) {
        let (taken, refused) = load(device.as_mut(), arch, &probes, &batch.members).expect("a module");
        assert!(refused.is_empty(), "{refused:?}");
        for index in taken {
            let results = run(device.as_mut(), index, &probes[index]).expect("results");
            for &(case, result, bits) in &wanted[&index] {
                let ours = results[result][case];
                if ours != bits {
                    let name = &probes[index].name;
                    wrong.push(format!("{name} case {case} result {result}: {ours:x}, not {bits:x}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What `lockstep dev verify-instructions --record` wrote on an H200, where it is kept: the digest of every form's
/// results, and the cases beside it to show where they part.
#[test]
fn the_emulator_gives_what_was_recorded() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/recorded/instructions-h200.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else { return };
    let recorded = Recording::read(&text).expect("a recording");
    let arch = arch("sm_90a");
    let probes = probes(arch);
    let mut wanted = std::collections::BTreeMap::new();
    for (name, recording) in &recorded {
        let index = probes.iter().position(|probe| probe.name == *name).unwrap_or_else(|| panic!("no probe {name}"));
        wanted.insert(index, recording);
    }
    assert!(wanted.len() > 100, "{}", wanted.len());
    let mut device = crate::devices::open(&crate::device::DeviceChoice::Emulator).expect("the emulator");
    let chosen: Vec<usize> = wanted.keys().copied().collect();
    let mut wrong = Vec::new();
    for batch in batches(arch, &probes, &chosen) {
        let (taken, refused) = load(device.as_mut(), arch, &probes, &batch.members).expect("a module");
        assert!(refused.is_empty(), "{refused:?}");
        for index in taken {
            let results = run(device.as_mut(), index, &probes[index]).expect("results");
            let (name, recording) = (&probes[index].name, wanted[&index]);
            let same = compare(&probes[index], &results, &results);
            if Recording::new(&probes[index], &results, &same).digest == recording.digest {
                continue;
            }
            let parts = recording
                .cases
                .iter()
                .filter(|(case, row)| row.iter().enumerate().any(|(register, bits)| results[register][*case] != *bits));
            let cases: Vec<usize> = parts.map(|(case, _)| *case).collect();
            wrong.push(format!("{name}: differs, of the recorded cases in {cases:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
