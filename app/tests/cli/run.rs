//! Kernels of one's own: what `lockstep run` says of them, and that status, last line and `--json` say the same.

use crate::cli_support::{Ended, Machine};
use serde_json::Value;

/// A spec for `entry(const float* x, float* y, int n)` in one block.
fn spec(entry: &str) -> String {
    format!(
        "title = \"t\"\nentry = \"{entry}\"\n\
         [[param]]\nname = \"x\"\ndtype = \"f32\"\nshape = [\"n\"]\n\
         [[param]]\nname = \"y\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"out\"\n\
         [[param]]\nname = \"n\"\ndtype = \"i32\"\nvalue = \"n\"\n\
         [launch]\ngrid = [1]\nblock = [64]\n[sizes]\ncheck = [{{ n = 40 }}, {{ n = 64 }}]\n"
    )
}

/// A kernel of that signature with this body; `i` is the thread.
fn kernel(body: &str) -> String {
    format!(
        "extern \"C\" __global__ void k(const float* x, float* y, int n)\n{{\n    int i = threadIdx.x;\n    {body}\n}}\n"
    )
}

struct Bench {
    machine: Machine,
    spec: String,
}

impl Bench {
    fn new() -> Self {
        let machine = Machine::new();
        let spec = machine.file("k.toml", spec("k"));
        Bench { machine, spec }
    }

    fn file(&self, name: &str, body: &str) -> String {
        self.machine.file(name, kernel(body))
    }

    fn run(&self, kernel: &str, more: &[&str]) -> Ended {
        self.machine.run(&[&["run", kernel, "--spec", &self.spec], more].concat())
    }

    /// Asserts that all three ways of saying it agree that the kernel is wrong; its `run` object.
    #[track_caller]
    fn fails(&self, body: &str, more: &[&str], hint: &str, said: &[&str]) -> Value {
        let file = self.file("wrong.cu", body);
        let ended = self.run(&file, more);
        assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
        let last =
            ended.stdout.lines().rfind(|line| line.starts_with("FAILED")).unwrap_or_else(|| panic!("{}", ended.stdout));
        for text in said {
            assert!(last.contains(text), "`{text}` is missing in: {last}");
        }
        let (json, status) = self.machine.json(&[&["run", &file, "--spec", &self.spec], more].concat());
        assert_eq!((status, json["run"]["passed"].as_bool()), (1, Some(false)));
        let hints = json["run"]["hints"].as_array().unwrap();
        assert!(hints.iter().any(|found| found == hint), "{hints:?}");
        json["run"].clone()
    }
}

#[test]
fn a_fault_fails_a_run_that_came_to_its_end() {
    let bench = Bench::new();
    let race = "__shared__ float s[64]; s[i] = i < n ? x[i] : 0.0f; if (i < n) y[i] = s[63 - i];";
    let run = bench.fails(race, &[], "race", &["with no barrier"]);
    assert_eq!(run["completed"].as_bool(), Some(true), "it ran to its end all the same");
    bench.fails("__shared__ float s[64]; if (i < n) y[i] = s[i] + x[i];", &[], "uninitialised", &["`s`"]);
    bench.fails("if (i < n) { __syncthreads(); y[i] = x[i]; }", &[], "barrier_divergence", &["40 of the 64"]);
}

#[test]
fn outputs_are_looked_at_without_an_oracle() {
    let bench = Bench::new();
    bench.fails("if (i < n / 2) y[i] = x[i];", &[], "never_written", &["y[20] was never written", "20 of 40"]);
    bench.fails("if (n < 0) y[i] = x[i];", &[], "nothing_written", &["none of its 40 elements"]);
    let copied = "__shared__ float s[64]; if (i < 8) s[i] = x[i]; __syncthreads(); if (i < n) y[i] = s[i];";
    bench.fails(copied, &[], "uninitialised", &["y[8]", "something that nobody wrote"]);
    bench.fails(
        "if (i < n) y[i] = sqrtf(-1.0f - x[i] * x[i]);",
        &[],
        "nan_output",
        &["NaN", "every input is finite", "line 4"],
    );
    let run = bench.fails("if (i < n) y[i] = 1.0f / (x[i] - x[i]);", &[], "nan_output", &["inf"]);
    assert_eq!(run["outputs"][1]["infinite_count"].as_u64(), Some(40));
    // Both may be what a kernel is for.
    let partial = bench.file("partial.cu", "if (i < n / 2) y[i] = x[i];");
    bench.run(&partial, &["--allow-partial"]).shows(&["COMPLETED", "20 never written"]);
    let infinite = bench.file("infinite.cu", "if (i < n) y[i] = 1.0f / (x[i] - x[i]);");
    bench.run(&infinite, &["--allow-nan"]).shows(&["COMPLETED"]);
}

#[test]
fn bytes_that_look_like_the_filling_are_no_gaps() {
    let machine = Machine::new();
    let file = machine
        .file("b.cu", "__global__ void bytes(unsigned char* y, int n) { int i = threadIdx.x; if (i < n) y[i] = i; }\n");
    machine.run(&["run", &file, "--size", "n=256"]).shows(&["COMPLETED"]);
}

#[test]
fn another_kernel_or_an_oracle_says_what_is_right() {
    let bench = Bench::new();
    let twice = bench.file("twice.cu", "if (i < n) y[i] = 2.0f * x[i];");
    let added = bench.file("added.cu", "if (i < n) y[i] = x[i] + x[i];");
    bench.run(&added, &["--against", &twice]).shows(&["COMPLETED", "all 40 output elements agree with twice.cu"]);
    let run = bench.fails("if (i < n) y[i] = 3.0f * x[i];", &["--against", &twice], "wrong_output", &["40 of 40"]);
    assert_eq!(run["compared"].as_u64(), Some(40));
    assert!(run["mismatches"][0]["writer"]["source"]["line"].as_u64() == Some(4), "{run}");
    let broken = bench.machine.file("broken.cu", "int main");
    let ended = bench.run(&added, &["--against", &broken]);
    ended.fails(2, &["the kernel to compare with does not compile"]);

    let oracle = spec("k")
        .replace("entry =", "oracle = \"copy\"\nentry =")
        .replace("[sizes]", "[tolerance]\nabsolute = 0.0\nrelative = 1e-6\nreason = \"r\"\n[sizes]");
    let bench = Bench { spec: bench.machine.file("oracle.toml", oracle), ..bench };
    bench.fails("if (i < n) y[i] = x[i] + 1.0f;", &[], "wrong_output", &["expected"]);
    let copy = bench.file("copy.cu", "if (i < n) y[i] = x[i];");
    bench.run(&copy, &[]).shows(&["COMPLETED", "agree with the oracle"]);
}

#[test]
fn sizes_are_the_specs_or_ones_own() {
    let bench = Bench::new();
    let good = bench.file("good.cu", "if (i < n) y[i] = x[i];");
    bench.run(&good, &["--all-sizes"]).shows(&["at n = 40", "at n = 64", "COMPLETED: at all 2 sizes"]);
    bench.run(&good, &["--size", "n=3"]).shows(&["y[3]", "at n = 3"]);
    let short = bench.file("short.cu", "if (i < 40) y[i] = x[i];");
    let ended = bench.run(&short, &["--all-sizes"]);
    assert!(
        ended.status == 1 && ended.stdout.trim_end().ends_with("FAILED: at 1 of 2 sizes (n = 64)"),
        "{}",
        ended.stdout
    );
    bench.run(&good, &["--size", "m=3"]).fails(2, &["no size variable `m`", "n"]);
    bench.run(&good, &["--size", "n=many"]).fails(2, &["not a whole number"]);
    bench.run(&good, &["--time-limit", "0"]).fails(2, &["time limit"]);
    let endless = bench.file("endless.cu", "while (x[i % n] != 1e30f) { y[0] = i; }");
    assert_eq!(bench.run(&endless, &["--time-limit", "0.5"]).status, 1);
}

/// A file as `numpy.save` writes it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    header += &" ".repeat((10 + header.len() + 1).next_multiple_of(64) - (10 + header.len() + 1));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

#[test]
fn arrays_come_from_files_and_go_to_files() {
    let bench = Bench::new();
    let data: Vec<u8> = [1.5f64, -2.0, 4.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let x = format!("x={}", bench.machine.file("x.npy", npy("<f8", "(3,)", &data)));
    let y = format!("y={}", bench.machine.path("y.npy").display());
    let twice = bench.file("twice.cu", "if (i < n) y[i] = 2.0f * x[i];");
    // The size is the array's.
    bench.run(&twice, &["--input", &x, "--output", &y]).shows(&["y[3] = 3, -4, 8", "at n = 3"]);
    let written = std::fs::read(bench.machine.path("y.npy")).unwrap();
    let numbers: Vec<u8> = [3.0f32, -4.0, 8.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert!(written.len() % 64 == 12 && written.ends_with(&numbers), "{written:?}");
    bench
        .run(&twice, &["--input", &x, "--size", "n=4"])
        .fails(1, &["`x` has 4 elements at this size, and 3 were given"]);
    bench.run(&twice, &["--input", "x=none.npy"]).fails(2, &["cannot be read"]);
    let text = format!("x={}", bench.machine.file("x.txt", "1 2 3"));
    bench.run(&twice, &["--input", &text]).fails(2, &["not a .npy file"]);
    bench.run(&twice, &["--output", "x=y.npy"]).fails(2, &["no output `x`"]);
}

#[test]
fn a_kernel_without_a_spec_runs_by_its_parameters() {
    let machine = Machine::new();
    let file = machine.file(
        "own.cu",
        "namespace math {\ntemplate <typename T, int N>\n__global__ void scale(const T* x, T* y, size_t n, bool twice)\n{\n    \
         size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i] * N * (twice ? 2 : 1);\n}\n}\n",
    );
    machine.run(&["run", &file]).fails(2, &["typename T, int N", "--entry 'math::scale<…>'"]);
    let ended = machine.run(&["run", &file, "--entry", "math::scale<double, 3>", "--size", "n=5"]);
    ended.shows(&["guessed", "COMPLETED", "y[5]"]);
    let spec = machine.path("own.toml").display().to_string();
    machine.run(&["run", &file, "--entry", "math::scale<float, 3>", "--write-spec", &spec]).shows(&["wrote"]);
    machine.run(&["run", &file, "--spec", &spec]).shows(&["COMPLETED", "y[1 000]"]);
    machine
        .run(&["run", &file, "--entry", "math::scale<float, 3>", "--write-spec", &spec])
        .fails(2, &["cannot be written"]);
    let plain = machine.file("plain.cu", "__global__ void fill(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = i; }\n");
    machine.run(&["run", &plain]).shows(&["`y` has n elements of f32 and is written", "COMPLETED"]);
    machine.run(&["run", &machine.file("none.cu", "int x;\n")]).fails(2, &["no kernel"]);
}

#[test]
fn constants_can_be_set_and_are_missed() {
    let bench = Bench::new();
    let text = kernel("if (i < n) y[i] = taps[0] * x[i] + taps[1];");
    let file = bench.machine.file("c.cu", format!("__constant__ float taps[2];\n{text}"));
    let ended = bench.run(&file, &[]);
    assert!(
        ended.status == 1 && ended.stdout.contains("`taps` is `__constant__` and nothing sets it"),
        "{}",
        ended.stdout
    );
    let x = format!("x={}", bench.machine.file("x.npy", npy("<f4", "(2,)", &[0; 8])));
    bench.run(&file, &["--set", "taps=0.5,2.25", "--input", &x]).shows(&["COMPLETED", "y[2] = 2.25, 2.25"]);
    bench.run(&file, &["--set", "tops=1"]).fails(2, &["no `__constant__` variable `tops`", "taps"]);
    bench.run(&file, &["--set", "taps=system(0)"]).fails(2, &["is not a number"]);
}

/// A kernel of the exercise with these parameters and this body.
fn vector_add(parameters: &str, before: &str) -> String {
    format!(
        "{before}extern \"C\" __global__ void vector_add({parameters})\n{{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
         if (i < n) c[i] = a[i] + b[i];\n}}\n"
    )
}

#[test]
fn parameters_that_differ_are_said_first() {
    let machine = Machine::new();
    for (parameters, said) in [
        (
            "float* c, const float* a, const float* b, int n",
            "the exercise passes (a, b, c, n), and `vector_add` takes (c, a, b, n)",
        ),
        ("const double* a, const double* b, double* c, int n", "`a` is `const double*` in your kernel"),
    ] {
        let file = machine.file("mine.cu", vector_add(parameters, ""));
        let ended = machine.run(&["check", "week1/day4", "--kernel", &file]);
        let verdict = ended.stdout.lines().find(|line| line.starts_with("FAILED")).unwrap_or_default();
        assert!(
            ended.status == 1 && verdict.starts_with(&format!("FAILED: {said}")),
            "{}{}",
            ended.stdout,
            ended.stderr
        );
        assert!(
            ended.stdout.contains("diagnosis: wrong_signature") && ended.stdout.contains("hint: "),
            "{}",
            ended.stdout
        );
    }
    // Other names alone are nobody's business.
    let file = machine.file("mine.cu", vector_add("const float* a, const float* b, float* c, int n", ""));
    machine.run(&["check", "week1/day4", "--kernel", &file]).shows(&["PASSED"]);
}

#[test]
fn an_access_of_several_elements_is_named() {
    let machine = Machine::new();
    let file = machine.file(
        "wide.cu",
        "extern \"C\" __global__ void vector_add(const float* a, const float* b, float* c, int n)\n{\n    \
         int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);\n    if (i < n) {\n        float4 x = ((const float4*)a)[i];\n        \
         c[i] = x.x + x.y + x.z + x.w + b[i];\n    }\n}\n",
    );
    let ended = machine.run(&["check", "week1/day4", "--kernel", &file]);
    assert!(
        ended.status == 1 && ended.stdout.contains("`a` has 1 element and no whole group of 4"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("diagnosis: wide_access"), "{}", ended.stdout);
}

#[test]
fn a_launch_that_cannot_be_is_a_verdict_with_its_hint() {
    let machine = Machine::new();
    let parameters = "const float* a, const float* b, float* c, int n";
    let file = machine.file("big.cu", vector_add(parameters, "// lockstep: block = 2048\n"));
    let ended = machine.run(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
    for said in ["FAILED: this launch cannot be", "2048", "diagnosis: bad_launch", "hint: ", "--hint 2"] {
        assert!(ended.stdout.contains(said), "`{said}` is missing in: {}", ended.stdout);
    }
    let all = machine.run(&["check", "week1/day4", "--kernel", &file, "--hint", "9"]);
    assert!(all.stdout.contains("hint 1: ") && all.stdout.contains("hint 3: "), "{}", all.stdout);
    let (json, status) = machine.json(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!((status, json["verdict"]["hints"][0].as_str()), (1, Some("bad_launch")));
}

#[test]
fn nothing_that_a_kernel_prints_reaches_the_terminal_as_a_command() {
    let bench = Bench::new();
    let file = bench.file("esc.cu", "/* \u{1b}]0;source\u{7} */ if (i == 0) printf(\"\\033[2J\\033[1;31mFAILED\\r\"); if (i < n) y[i] = x[i]; int \u{202e}z;");
    // `end` asserts that no escape is in what a pipe gets.
    let ended = bench.run(&file, &[]);
    assert!(ended.status == 1 && ended.stdout.contains("\\u{1b}]0;source"), "{}", ended.stdout);
    let file = bench.file("print.cu", "if (i == 0) printf(\"\\033[2J\\033[1;31mFAILED\\r\"); if (i < n) y[i] = x[i];");
    bench.run(&file, &[]).shows(&["\\u{1b}[2J\\u{1b}[1;31mFAILED\\r", "COMPLETED"]);
}

#[test]
fn the_sandbox_is_told_every_time() {
    let machine = Machine::new();
    for _ in 0..2 {
        let (doctor, _) = machine.json(&["doctor"]);
        let sandbox = doctor["items"].as_array().unwrap().iter().find(|item| item["id"] == "sandbox").unwrap();
        assert!(sandbox["found"] != "not known", "{sandbox}");
        let fine = sandbox["state"] == "fine";
        assert_eq!(fine, gpu_core::worker::has_jail(), "{sandbox}");
    }
}

#[test]
fn arrays_are_named_with_their_indices() {
    let bench = Bench::new();
    let shared =
        "__shared__ float s[8][8]; s[i / 8][i % 8] = i; __syncthreads(); if (i < n) y[i] = s[i % 8][i % 8 + 1];";
    bench.fails(shared, &[], "out_of_bounds", &["`s`[8][0]", "the shape [8][8]"]);
    let local =
        "float best[4]; for (int j = 0; j < 4; j++) best[j] = x[j]; int at = n / 10; if (i < n) y[i] = best[at];";
    bench.fails(local, &[], "out_of_bounds", &["best"]);
}

#[test]
fn structs_and_wide_whole_numbers_are_passed_by_value() {
    let machine = Machine::new();
    let file = machine.file(
        "s.cu",
        "struct Params { float scale; int count; double shift; bool twice; };\n\
         __global__ void apply(float* y, bool on, Params p, unsigned long long big)\n{\n    int i = threadIdx.x;\n    \
         if (i < p.count) y[i] = on ? p.scale * (p.twice ? 2 : 1) + p.shift + (big >> 33) : -1.0f;\n}\n",
    );
    let spec = machine.file(
        "s.toml",
        "title = \"t\"\nentry = \"apply\"\n[[param]]\nname = \"y\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"out\"\n\
         [[param]]\nname = \"on\"\ndtype = \"bool\"\nvalue = \"1\"\n\
         [[param]]\nname = \"p\"\nfields = [\"f32 = 1.5\", \"i32 = n\", \"f64 = 0.25\", \"bool = 1\"]\n\
         [[param]]\nname = \"big\"\ndtype = \"u64\"\nvalue = \"1 << 34\"\n\
         [launch]\ngrid = [1]\nblock = [32]\n[sizes]\ncheck = [{ n = 4 }]\n",
    );
    machine.run(&["run", &file, "--spec", &spec]).shows(&["COMPLETED", "y[4] = 5.25, 5.25"]);
    let wrong = std::fs::read_to_string(machine.path("s.toml")).unwrap().replace("\"f64 = 0.25\", ", "");
    let wrong = machine.file("w.toml", wrong);
    machine
        .run(&["run", &file, "--spec", &wrong])
        .fails(1, &["parameter 3, `p`, has 24 bytes", "make 12 (float at 0, int at 4, bool at 8)"]);
}
