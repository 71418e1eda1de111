//! Every wrong use of the keys of steps and architectures is told with line, key, what is expected and what stands there.

use gpu_core::spec::Spec;

const SUM: &str = "\
title = \"A sum of two kernels\"
oracle = \"sum\"
arch = [\"sm_90a\", \"sm_80\"]
param = [
    { name = \"x\", dtype = \"f32\", shape = [\"n\"] },
    { name = \"partial\", dtype = \"f32\", shape = [\"parts\"], role = \"scratch\", max_bytes = \"4 * parts\" },
    { name = \"y\", dtype = \"f32\", shape = [1], role = \"out\" },
    { name = \"n\", dtype = \"i32\", value = \"n\" },
]
tolerance = { absolute = 0.0, relative = 1e-5, reason = \"A few roundings.\" }
sizes = { check = [{ n = 1000, parts = 4 }] }

[[step]]
name = \"partial sums\"
entry = \"partial_sums\"
args = [\"x\", \"partial\", \"n\"]
grid = [\"parts\"]
block = [256]
learner_may_change = true

[[step]]
entry = \"combine\"
given = \"given/combine.cu\"
args = [\"partial\", \"y\"]
grid = [1]
block = [32]
cooperative = true
repeat = \"n - 998\"
group = \"turns\"
";

fn parse(text: &str) -> Result<Spec, String> {
    Spec::parse(text, "exercise.toml").map_err(|error| error.to_string())
}

#[track_caller]
fn rejects(from: &str, to: &str, parts: &[&str]) {
    assert!(SUM.contains(from), "the example no longer holds {from:?}");
    let error = parse(&SUM.replacen(from, to, 1)).expect_err(to);
    assert!(error.starts_with("exercise.toml:"), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{to}` gives\n{error}\nwithout\n{part}");
    }
}

#[test]
fn steps_read_and_resolve() {
    let spec = parse(SUM).unwrap_or_else(|error| panic!("{error}"));
    let [first, second] = &spec.steps[..] else { panic!("two steps") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("partial sums", "combine"));
    assert!(second.launch.cooperative && !first.launch.cooperative);
    assert_eq!(spec.entry(), "partial_sums");
    assert_eq!(spec.args_of(second), [1, 2]);
    assert_eq!(spec.arch, ["sm_90a", "sm_80"]);
    let resolved = spec.resolve(&spec.check[0]).expect("resolves");
    let order: Vec<(usize, u64)> = resolved.launches.iter().map(|launch| (launch.step, launch.turn)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (1, 1)]);
    assert_eq!((resolved.workspace_bytes(), resolved.over_workspace()), (16, None));
}

#[test]
fn a_turn_may_shape_a_launch_and_set_a_scalar() {
    let text = SUM.replace("grid = [1]", "grid = [\"turn + 1\"]").replace("value = \"n\"", "value = \"n - turn\"");
    let text = text.replace("args = [\"partial\", \"y\"]", "args = [\"partial\", \"y\", \"n\"]");
    let spec = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let resolved = spec.resolve(&spec.check[0]).expect("resolves");
    let grids: Vec<u32> = resolved.launches.iter().map(|launch| launch.geometry.grid[0]).collect();
    assert_eq!(grids, [4, 1, 2]);
    assert!(resolved.launches[1].scalars.is_empty(), "the value of turn 0 is the parameter's own");
    assert_eq!(resolved.launches[2].scalars, [(3, 999i32.to_le_bytes().to_vec())]);
    let asked: Vec<String> = resolved.signature().scalars.into_iter().map(|(name, _)| name).collect();
    assert!(asked.is_empty(), "what changes with the turn is no value of the problem: {asked:?}");
}

#[test]
fn groups_interleave() {
    let text = SUM.replace("[[step]]\nname", "[[step]]\nrepeat = \"n - 998\"\ngroup = \"turns\"\nname");
    let spec = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let resolved = spec.resolve(&spec.check[0]).expect("resolves");
    let order: Vec<(usize, u64)> = resolved.launches.iter().map(|launch| (launch.step, launch.turn)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1)]);
}

#[test]
fn the_courses_kernels_are_read_once() {
    let mut spec = parse(SUM).unwrap_or_else(|error| panic!("{error}"));
    let error = spec.read_given(|_| Err("this file to exist".to_owned())).expect_err("missing");
    assert_eq!(error, "given/combine.cu: this file to exist");
    spec.read_given(|file| Ok(format!("// {file}"))).expect("reads");
    assert_eq!(spec.given()[0].text, "// given/combine.cu");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("exercise.toml");
    std::fs::write(&path, SUM).expect("written");
    let error = Spec::load(&path).expect_err("no file").to_string();
    assert!(error.contains(":23:") && error.contains("given/combine.cu"), "{error}");
    std::fs::create_dir(folder.path().join("given")).expect("made");
    std::fs::write(folder.path().join("given/combine.cu"), "// here").expect("written");
    assert_eq!(Spec::load(&path).unwrap_or_else(|error| panic!("{error}")).given()[0].text, "// here");
}

#[test]
fn wrong_steps_are_named() {
    rejects("title", "entry = \"k\"\ntitle", &[":1:", "no key `entry` beside `[[step]]`", "\"k\""]);
    let launch = "launch = { grid = [1], block = [1] }\ntitle";
    rejects("title", launch, &[":1:", "no key `launch` beside `[[step]]`"]);
    rejects("entry = \"combine\"", "entry = \"a b\"", &[":22:", "step[1].entry", "as in C++", "\"a b\""]);
    rejects("entry = \"combine\"", "", &["step[1]: expected a key `entry`"]);
    rejects("entry = \"combine\"", "entry = \"combine\"\nname = \"partial sums\"", &["no other step", "again"]);
    rejects("name = \"partial sums\"", "name = \" \"", &["step[0].name", "a name to show, found nothing"]);
    rejects("name = \"partial sums\"", "name = 3", &["step[0].name", "a string, found 3"]);
    rejects("\"partial\", \"y\"]", "\"partials\", \"y\"]", &[":24:", "step[1].args[0]", "x, partial", "\"partials\""]);
    rejects("[\"partial\", \"y\"]", "[]", &["step[1].args", "in the kernel's order", "leave `args` out"]);
    rejects("[\"partial\", \"y\"]", "\"y\"", &["step[1].args", "an array of parameters' names", "\"y\""]);
    rejects("[\"x\", \"partial\", \"n\"]", "[\"x\", \"partial\"]", &[":8:", "param[3]", "takes `n`"]);
    rejects("grid = [1]", "", &["step[1]", "a key `grid`"]);
    rejects("block = [32]", "block = [2048]", &[":26:", "step[1].block[0]", "2048 is not between 1 and 1024"]);
    rejects("cooperative = true", "cooperative = 1", &["step[1].cooperative", "true or false, found 1"]);
    rejects("given = \"given/", "given = \"../../", &["step[1].given", "relative path to a .cu file"]);
    rejects("name = \"partial sums\"", "given = \"g.cu\"", &["no `learner_may_change` in a step with `given`"]);
    let all_given = "given = \"g.cu\"\n# learner_may_change = true";
    rejects("learner_may_change = true", all_given, &["at least one step without `given`"]);
    rejects("repeat = \"n - 998\"", "repeat = \"n - 1000\"", &[":28:", "step[1].repeat", "0 turns"]);
    rejects("repeat = \"n - 998\"", "repeat = \"100 * n\"", &["step[1].repeat", "more than 10000 launches"]);
    rejects("repeat = \"n - 998\"", "repeat = \"k\"", &["step[1].repeat", "unknown variable `k`"]);
    rejects("repeat = \"n - 998\"", "", &["a key `repeat` beside `group`"]);
    rejects("repeat = \"n - 998\"", "reapeat = 1", &["did you mean `repeat`?"]);
    rejects("group = \"turns\"", "group = 7", &["step[1].group", "a string, found 7"]);
    rejects("group = \"turns\"", "group = \"my turns\"", &["step[1].group", "a name such as"]);
    let other = "name = \"partial sums\"\nrepeat = 3\ngroup = \"turns\"";
    rejects("name = \"partial sums\"", other, &["step[1].repeat", "of group `turns`, 3, found n - 998"]);
    rejects("grid = [\"parts\"]", "grid = [\"turn\"]", &["step[0].grid[0]", "unknown variable `turn`"]);
    rejects("check = [{ n", "check = [{ turn", &["an identifier other than", "turn"]);
}

#[test]
fn a_group_is_not_torn_apart() {
    let torn = format!(
        "{}\n[[step]]\nname = \"between\"\nentry = \"b\"\ngrid = [1]\nblock = [1]\n\
         [[step]]\nname = \"late\"\nentry = \"b\"\ngrid = [1]\nblock = [1]\nrepeat = 2\ngroup = \"turns\"\n",
        SUM
    );
    let error = parse(&torn).expect_err("torn");
    assert!(error.contains("the steps of group `turns` one after the other, found `between` between them"), "{error}");
}

#[test]
fn wrong_sizes_of_scratch_memory_are_named() {
    rejects("role = \"scratch\", max", "role = \"out\", max", &[":6:", "no `max_bytes`", "for another role"]);
    rejects("\"4 * parts\"", "\"4 *\"", &["param[1].max_bytes", "an expression"]);
    rejects("\"4 * parts\"", "\"4 - parts * 4\"", &["param[1].max_bytes", "-12 bytes"]);
    rejects("\"4 * parts\"", "\"4 * k\"", &["param[1].max_bytes", "unknown variable `k`"]);
    rejects("\"4 * parts\"", "15", &["param[1].max_bytes", "at least the 16 bytes of `shape`", "15"]);
}

#[test]
fn wrong_architectures_are_named() {
    rejects("\"sm_90a\"", "\"hopper\"", &[":3:", "arch[0]", "such as \"sm_90a\"", "\"hopper\""]);
    rejects("\"sm_90a\"", "90", &["arch[0]", "a string, found 90"]);
    rejects("\"sm_90a\"", "\"sm_80\"", &["arch[1]", "not in the list yet", "\"sm_80\" again"]);
    rejects("[\"sm_90a\", \"sm_80\"]", "[]", &["arch", "the best first", "an array of 0"]);
    rejects("[\"sm_90a\", \"sm_80\"]", "\"sm_90a\"", &["arch", "\"sm_90a\""]);
}
