//! Exercise files: the documented example reads, and every mistake is named with line, expectation and finding.

#[path = "spec/steps.rs"]
mod steps;

use gpu_core::oracle;
use gpu_core::spec::{Dtype, Param, Size, Spec, launch_directives};
use gpu_core::verdict::HINT_KEYS;

const README: &str = include_str!("../../kernels/README.md");

fn example() -> &'static str {
    let start = README.find("```toml\n").expect("README holds an example") + 8;
    let end = README[start..].find("```").expect("the example ends");
    &README[start..start + end]
}

fn size(n: i64) -> Size {
    Size::from([("n".to_owned(), n)])
}

#[test]
fn the_documented_example_reads() {
    let spec = Spec::parse(example(), "example.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(spec.entry(), "vector_add");
    assert_eq!(spec.params.iter().map(Param::name).collect::<Vec<_>>(), ["a", "b", "c", "n"]);
    assert_eq!(spec.bench[1], size(1 << 28));
    let resolved = spec.resolve(&size(1000)).expect("resolves");
    assert_eq!(resolved.launches[0].geometry.grid, [4, 1, 1]);
    assert_eq!((resolved.flops, resolved.bytes, resolved.name.as_str()), (1000.0, 12000.0, "n = 1000"));
}

#[test]
fn the_manual_names_everything_that_the_reader_accepts() {
    for name in
        oracle::ORACLES.iter().map(|oracle| oracle.name).chain(HINT_KEYS).chain(Dtype::ALL.map(|(name, _)| name))
    {
        let documented = README.contains(name) || name == "stopped";
        assert!(documented, "kernels/README.md does not mention `{name}`");
    }
}

#[test]
fn directives_change_the_launch() {
    let spec = Spec::parse(example(), "example.toml").expect("reads");
    let source = "// lockstep: block = 128\n// lockstep: grid = ceil_div(n, 4 * block_x)\n";
    let directives = launch_directives(source, &[]).expect("well-formed");
    let directed = spec.directed(&directives).expect("allowed");
    let geometry = directed.resolve(&size(1000)).expect("resolves").launches[0].geometry;
    assert_eq!((geometry.grid[0], geometry.block[0]), (2, 128));
    let mut fixed = spec.clone();
    fixed.steps[0].launch.learner_may_change = false;
    let error = fixed.directed(&directives).expect_err("fixed");
    assert!(error.starts_with("line 1:"), "{error}");
}

/// Replaces `from` by `to` in the example and expects a problem that holds every one of `parts`.
#[track_caller]
fn rejects(from: &str, to: &str, parts: &[&str]) {
    assert!(example().contains(from), "the example no longer holds {from:?}");
    let text = example().replacen(from, to, 1);
    let error = Spec::parse(&text, "exercise.toml").expect_err(to).to_string();
    assert!(error.starts_with("exercise.toml:"), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{to}` gives\n{error}\nwithout\n{part}");
    }
}

#[test]
fn mistakes_are_named_with_line_expectation_and_finding() {
    rejects("title = ", "titel = ", &["exercise.toml:1:1: ", "did you mean `title`?", "a key `title`"]);
    rejects("entry = \"vector_add\"", "entry = \"vector add\"", &[":2:", "as in C++", "\"vector add\""]);
    rejects("entry = \"vector_add\"", "entry = 3", &[":2:", "entry: expected a string, found 3"]);
    rejects("oracle = \"vector_add\"", "oracle = \"vectoradd\"", &[":3:", "matmul", "softmax", "\"vectoradd\""]);
    rejects("oracle = \"vector_add\"", "oracle = \"matmul\"", &[":3:", "a[m,k], b[k,n]", "`a` must have 2 dimension"]);
    rejects("dtype = \"f32\"", "dtype = \"float\"", &[":8:", "param[0].dtype", "bf16", "\"float\""]);
    rejects("role = \"in\"", "role = \"input\"", &[":10:", "in, out, inout"]);
    rejects("shape = [\"n\"]", "shape = [\"m\"]", &[":9:", "unknown variable `m`"]);
    rejects("shape = [\"n\"]", "shape = [\"n -\"]", &[":9:", "found the end"]);
    rejects("shape = [\"n\"]", "shape = []", &["1 to 4 extents"]);
    rejects("shape = [\"n\"]", "shape = [\"n - 1\"]", &["at least 1 is needed, not 0"]);
    rejects("name = \"b\"", "name = \"a\"", &["param[1]", "`a` again"]);
    rejects("kind = \"normal\"", "kind = \"gauss\"", &[":11:", "normal, uniform, integers"]);
    rejects("std = 1.0", "std = -1.0", &["standard deviation of at least 0"]);
    rejects("role = \"out\"", "role = \"in\"", &["at least one buffer with role \"out\""]);
    rejects("grid = [\"ceil_div(n, block_x)\"]", "grid = true", &["launch.grid", "1 to 3 expressions", "true"]);
    rejects("block = [256]", "block = [2048]", &["launch.block[0]", "2048 is not between 1 and 1024"]);
    rejects("block = [256]", "block = [64, 64]", &["launch.block", "4096 threads a block"]);
    rejects("block = [256]", "block = [\"256 / (n - 1)\"]", &["divides by zero"]);
    rejects("check = [{ n = 1 },", "check = [{ n = 0 },", &["sizes.check[0].n", "positive whole number"]);
    rejects("check = [{ n = 1 },", "check = [{ m = 1 },", &["the variables"]);
    rejects("check = [{ n = 1 },", "check = [{ grid_x = 1 },", &["an identifier other than"]);
    rejects("{ n = \"1 << 28\" }", "{ n = \"1 << 63\" }", &["overflows 64 bits"]);
    rejects("{ n = \"1 << 28\" }", "{ n = \"1 << 41\" }", &["2^40 elements"]);
    rejects("value = \"n\"", "value = \"n * 16777216\"", &["does not fit i32 `n`"]);
    rejects("relative = 1e-7", "relative = -1", &["tolerances of at least 0"]);
    rejects("reason = \"One", "because = \"One", &["a key `reason`"]);
    rejects("flops = \"n\"", "flops = \"-n\"", &["cost.flops", "negative"]);
    rejects("share_of_ceiling = 0.9", "share_of_ceiling = 90", &["between 0 and 1"]);
    let beside = "a share of the other's speed: 1 is as fast";
    rejects("share_of_ceiling = 0.9", "share_of_library = 90", &["milestone[0].share_of_library", beside, "found 90"]);
    rejects("share_of_ceiling = 0.9", "share_of_rival.cub = 0", &["share_of_rival.cub", beside]);
    rejects("share_of_ceiling = 0.9", "share_of_rival.cub = \"fast\"", &["share_of_rival.cub", "a finite number"]);
    rejects("share_of_ceiling = 0.9", "share_of_rival = {}", &["such as { cub = 1.0 }"]);
    rejects("share_of_ceiling = 0.9", "share_of_rival = { \"torch sum\" = 1 }", &["a rival's key", "`torch sum`"]);
    rejects("share_of_ceiling = 0.9", "share_of_rivals = 1.0", &["did you mean `share_of_rival`?"]);
    rejects("title = ", "title ", &["exercise.toml:1:", "valid TOML"]);
    rejects("[launch]", "[lunch]", &["did you mean `launch`?", "a key `launch` with a table"]);
    rejects("title = ", "options = [\"--include-path=/etc\"]\ntitle = ", &[":1:", "NVRTC option", "--include-path"]);
}

#[test]
fn several_mistakes_are_reported_at_once_in_line_order() {
    let text = example().replace("role = \"out\"", "role = \"output\"").replace("block = [256]", "blocks = [256]");
    let error = Spec::parse(&text, "exercise.toml").expect_err("two mistakes");
    assert!(error.problems.len() >= 3, "{error}");
    assert!(error.problems.is_sorted_by_key(|problem| problem.line), "{error}");
}

#[test]
fn unreadable_files_are_errors_with_a_path() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let missing = folder.path().join("none.toml");
    let error = Spec::load(&missing).expect_err("missing").to_string();
    assert!(error.contains("none.toml") && error.contains("readable exercise file"), "{error}");
    let path = folder.path().join("exercise.toml");
    std::fs::write(&path, b"title = \"x\"\nentry = \"\xff\"\n").expect("written");
    let error = Spec::load(&path).expect_err("not UTF-8").to_string();
    assert!(error.contains("exercise.toml:2:10: expected UTF-8 text, found the byte 0xff"), "{error}");
    std::fs::write(&path, "").expect("written");
    let error = Spec::load(&path).expect_err("empty").to_string();
    assert!(error.contains("a key `title`") && error.contains("a key `launch`"), "{error}");
}

#[test]
fn random_mutations_never_panic() {
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    let mut random = SmallRng::seed_from_u64(11);
    let bytes = example().as_bytes();
    for _ in 0..1500 {
        let mut text = bytes.to_vec();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..text.len());
            match random.random_range(0..3) {
                0 => text[at] = b" \"[]{}=,.#n9-\n"[random.random_range(0..14)],
                1 => drop(text.drain(at..(at + random.random_range(1..30)).min(text.len()))),
                _ => text.insert(at, b'1'),
            }
        }
        if let Ok(text) = std::str::from_utf8(&text) {
            let _ = Spec::parse(text, "fuzz.toml");
        }
    }
}

#[test]
fn a_spec_survives_the_wire() {
    let spec = Spec::parse(example(), "example.toml").expect("reads");
    let bytes = postcard::to_stdvec(&spec).expect("encodes");
    assert_eq!(postcard::from_bytes::<Spec>(&bytes).expect("decodes"), spec);
}
