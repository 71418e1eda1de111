//! Which words a kernel of one's own meets: a mistake has its own, and a right or another kernel has not.

use crate::cli_support::{Ended, Machine};

/// A spec of `k(const T* x, T* y, int n)` in one block of 64, in steps of the sizes given.
fn spec(dtype: &str, sizes: &str) -> String {
    format!(
        "title = \"t\"\nentry = \"k\"\n\
         [[param]]\nname = \"x\"\ndtype = \"{dtype}\"\nshape = [\"n\"]\n\
         [[param]]\nname = \"y\"\ndtype = \"{dtype}\"\nshape = [\"n\"]\nrole = \"out\"\n\
         [[param]]\nname = \"n\"\ndtype = \"i32\"\nvalue = \"n\"\n\
         [launch]\ngrid = [\"ceil_div(n, 64)\"]\nblock = [64]\n[sizes]\ncheck = [{sizes}]\n"
    )
}

const HEAD: &str = "extern \"C\" __global__ void k(const float* x, float* y, int n)\n{\n    int t = threadIdx.x, i = blockIdx.x * 64 + t;\n";

/// A kernel of that signature; its body begins in line 4.
fn kernel(body: &str) -> String {
    format!("{HEAD}{body}\n}}\n")
}

struct Desk {
    machine: Machine,
    spec: String,
}

impl Desk {
    fn new() -> Self {
        let machine = Machine::new();
        let spec = machine.file("k.toml", spec("f32", "{ n = 64 }"));
        Desk { machine, spec }
    }

    fn run(&self, text: &str, more: &[&str]) -> Ended {
        let file = self.machine.file("k.cu", text);
        self.machine.run(&[&["run", &file, "--spec", &self.spec], more].concat())
    }
}

/// The last line that says how it went.
#[track_caller]
fn last(ended: &Ended) -> &str {
    let is = |line: &&str| line.starts_with("FAILED") || line.starts_with("COMPLETED");
    ended.stdout.lines().rfind(is).unwrap_or_else(|| panic!("{}{}", ended.stdout, ended.stderr))
}

#[track_caller]
fn fails(ended: &Ended, said: &[&str], not: &[&str]) {
    assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
    let line = last(ended);
    for words in said {
        assert!(line.contains(words), "`{words}` is missing in: {line}");
    }
    for words in not {
        assert!(!line.contains(words), "`{words}` is in: {line}");
    }
}

#[test]
fn a_compilation_may_be_given_more_time_and_less() {
    let desk = Desk::new();
    // A template that takes far longer than a moment.
    let slow = format!(
        "template <int N> struct F {{ static constexpr int value = F<N - 1>::value + F<N - 2>::value % 7 + N; }};\n\
         template <> struct F<0> {{ static constexpr int value = 1; }};\ntemplate <> struct F<1> {{ static constexpr int value = 1; }};\n\
         constexpr int loops() {{ int s = 0; for (int i = 0; i < 30000000; i++) s = (s + i) & 1023; return s; }}\n{}",
        kernel("    constexpr int s = loops(); if (i < n) y[i] = x[i] + F<200>::value + s;")
    );
    let ended = desk.run(&slow, &["--compile-time-limit", "0.1"]);
    if ended.status == 2 {
        assert!(ended.stderr.contains("--compile-time-limit SECONDS"), "{}", ended.stderr);
        assert!(
            last(&ended).starts_with("FAILED: it was not run: compiling it was ended by a limit"),
            "{}",
            ended.stdout
        );
    } else {
        // The compiler has limits of its own and may give up first, in words of its own.
        assert!(ended.stdout.contains("FAILED: it does not compile"), "{}{}", ended.stdout, ended.stderr);
    }
    desk.run(&kernel("    if (i < n) y[i] = x[i];"), &["--compile-time-limit", "60"]).shows(&["COMPLETED"]);
    desk.run(&kernel(""), &["--compile-time-limit", "0"]).fails(2, &["0.1 to 86400 seconds"]);
}

#[test]
fn constants_are_set_with_as_many_values_as_they_have() {
    let desk = Desk::new();
    let text = format!(
        "#define R 1\n__constant__ float taps[2 * R + 1];\n{}",
        kernel("    if (i < n) y[i] = x[i] * taps[2];")
    );
    desk.run(&text, &["--set", "taps=0.25,0.5"])
        .fails(2, &["`taps` (line 2) has 3 elements, and 2 elements are given"]);
    desk.run(&text, &["--set", "taps=1,2,3,4"]).fails(2, &["has 3 elements"]);
    desk.run(&text, &["--set", "taps=0.25,0.5,0.25"]).shows(&["COMPLETED"]);
}

#[test]
fn a_structure_and_its_spec_are_compared_by_size_and_members() {
    let desk = Desk::new();
    let spec = |fields: &str| {
        spec("f32", "{ n = 64 }").replace("dtype = \"i32\"\nvalue = \"n\"", &format!("fields = [{fields}]"))
    };
    let text = |members: &str| {
        format!(
            "struct Params {{ {members} }};\n{}",
            kernel("    if (i < n.count) y[i] = x[i] * n.scale;").replace("int n)", "Params n)")
        )
    };
    let with = |members: &str, fields: &str| {
        let desk = Desk { machine: Machine::new(), spec: String::new() };
        let spec = desk.machine.file("s.toml", spec(fields));
        Desk { spec, ..desk }.run(&text(members), &[])
    };
    let larger = with("double scale; int count;", "\"f32 = 1.5\", \"i32 = n\"");
    larger.fails(
        1,
        &[
            "parameter 3, `n`, has 16 bytes in the kernel",
            "make 8 (float at 0, int at 4)",
            "struct N { float m0; int m1; };",
        ],
    );
    assert!(!larger.stderr.contains("exercise") && !larger.stderr.contains("struct of"), "{}", larger.stderr);
    fails(&larger, &["its name or its parameters are not those of the spec"], &[]);
    let other = with("int count; float scale;", "\"f32 = 1.5\", \"i32 = n\"");
    other.fails(
        1,
        &["is a `Params` with the members int count, float scale in the kernel, and the spec passes float, int"],
    );
    with("float scale; unsigned count;", "\"f32 = 1.5\", \"i32 = n\"").shows(&["COMPLETED"]);
    drop(desk);
}

#[test]
fn what_was_not_run_is_told_at_the_end() {
    let machine = Machine::new();
    let two = machine.file("two.toml", spec("f32", "{ n = 64 }, { n = 100 }"));
    let file = machine.file("k.cu", kernel("    if (i < n) y[i] = x[i];"));
    let ended = machine.run(&["run", &file, "--spec", &two]);
    ended.shows(&["COMPLETED"]);
    assert!(last(&ended).contains("The spec has 1 more size: --all-sizes runs them too"), "{}", ended.stdout);
    let (json, _) = machine.json(&["run", &file, "--spec", &two]);
    assert!(json["run"]["summary"].as_str().unwrap().contains("1 more size"), "{json}");
    let all = machine.run(&["run", &file, "--spec", &two, "--all-sizes"]);
    assert!(!all.stdout.contains("more size"), "{}", all.stdout);
    let one = machine.file("one.toml", spec("f32", "{ n = 64 }"));
    assert!(!machine.run(&["run", &file, "--spec", &one]).stdout.contains("more size"));
}

#[test]
fn another_signature_ends_with_a_line_that_says_so() {
    let desk = Desk::new();
    let ended = desk.run(&kernel("    y[i] = x[i];").replace("int n)", "double n)"), &[]);
    ended.fails(1, &["the spec passes int n"]);
    fails(&ended, &["its name or its parameters are not those of the spec"], &[]);
    let file = desk
        .machine
        .file("add.cu", "extern \"C\" __global__ void vector_add(const float* a, float* c) { c[0] = a[0]; }\n");
    let ended = desk.machine.run(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!(ended.status, 1);
    fails(&ended, &["its name or its parameters are not those of the exercise"], &[]);
    let (json, status) = desk.machine.json(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!((status, json["outcome"].as_str()), (1, Some("bad_request")));
}

#[test]
fn kernels_that_return_or_store_nothing_are_told_so_without_a_spec() {
    let machine = Machine::new();
    let run = |text: &str| machine.run(&["run", &machine.file("k.cu", text), "--size", "n=100"]);
    run("__global__ int square(const int* x, int n) { return x[threadIdx.x]; }\n")
        .fails(2, &["line 1", "returns nothing"]);
    run("__global__ void square(const int* x, int n) { }\n").fails(2, &["`square` can store nothing"]);
    let whole =
        "__global__ void bits(const float* x, int* y, int n) { int i = threadIdx.x; if (i < n) y[i] = 1077640099; }\n";
    let ended = run(whole);
    ended.shows(&["y[100] = 1077640099, 1077640099"]);
    let large = run(
        "// lockstep: block = 2000\n__global__ void k(int* y, int n) { int i = threadIdx.x; if (i < n) y[i] = i; }\n",
    );
    fails(&large, &["2000 is not between 1 and 1024", "line 1 asks for it"], &[]);
    assert!(
        large.stdout.contains("the block is that of line 1") && !large.stdout.contains("has 256 threads"),
        "{}",
        large.stdout
    );
}

#[test]
fn warnings_are_in_the_last_line_too() {
    let desk = Desk::new();
    let local = format!(
        "__device__ float* three(float a) {{ float v[3] = {{a, a, a}}; return v; }}\n{}",
        kernel("    if (i < n) y[i] = three(x[i])[0] * 0 + 1;")
    );
    let ended = desk.run(&local, &["--allow-nan"]);
    assert!(ended.stdout.contains("`v` ends with this function"), "{}", ended.stdout);
    if ended.status == 0 {
        assert!(last(&ended).contains("The compiler warns of line 1"), "{}", ended.stdout);
    }
    let plain = desk.run(&kernel("    if (i < n) y[i] = x[i];"), &[]);
    assert!(!plain.stdout.contains("warn"), "{}", plain.stdout);
}

#[test]
fn what_was_stored_without_a_value_is_undefined_and_not_unwritten() {
    let desk = Desk::new();
    let stored = desk.run(
        &kernel(
            "    __shared__ float s[64]; if (t < 8) s[t] = x[i];\n    __syncthreads(); if (i < n) y[i] = s[t] + 1;",
        ),
        &[],
    );
    fails(&stored, &["which nobody wrote"], &[]);
    assert!(stored.stdout.contains("(56 undefined)") && !stored.stdout.contains("never written"), "{}", stored.stdout);
    assert!(
        !stored.stdout.lines().any(|line| line.starts_with("diagnosis") && line.contains("never_written")),
        "{}",
        stored.stdout
    );
    let missing = desk.run(&kernel("    if (t < 8) y[i] = x[i];"), &[]);
    assert!(
        missing.stdout.contains("(56 never written)") && !missing.stdout.contains("undefined"),
        "{}",
        missing.stdout
    );
}

#[test]
fn a_variable_without_a_value_is_named() {
    let desk = Desk::new();
    let text = |sum: &str| {
        kernel(&format!(
            "    float {sum};\n    for (int j = 0; j < n; j++)\n        for (int a = 0; a < 4; a++) sum[a] += x[(j + a) % n];\n    y[i] = sum[0] + \
             sum[1] + sum[2] + sum[3];"
        ))
    };
    fails(&desk.run(&text("sum[4]"), &[]), &["uses `sum` (line 4), which was never given a value"], &[]);
    desk.run(&text("sum[4] = {}"), &[]).shows(&["COMPLETED"]);
}

#[test]
fn an_index_that_went_below_zero_names_its_product() {
    let machine = Machine::new();
    let text = |index: &str| {
        format!(
            "__global__ void k(const float* x, float* y, int n)\n{{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
             if (i < n) y[{index}] = x[i];\n}}\n"
        )
    };
    let run = |index: &str| machine.run(&["run", &machine.file("k.cu", text(index)), "--size", "n=70000"]);
    let square = run("i * i % n");
    fails(&square, &["the product of line 4, ", " does not fit an `int`", "`long long`"], &[]);
    let below = run("i - 5");
    fails(&below, &["before its start"], &["the product"]);
}

#[test]
fn a_lock_without_fences_is_told_so() {
    let machine = Machine::new();
    let text = |fence: &str| {
        format!(
            "__device__ int lock = 0;\n__global__ void count(int* total, int n)\n{{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
             if (i < n) {{\n        while (atomicCAS(&lock, 0, 1) != 0) ;\n        {fence}\n        total[0] = total[0] + 1;\n        {fence}\n        \
             atomicExch(&lock, 0);\n    }}\n}}\n"
        )
    };
    let run = |fence: &str| machine.run(&["run", &machine.file("k.cu", text(fence)), "--size", "n=40"]);
    fails(&run(""), &["the atomics of line 6 and line 10 make a lock", "__threadfence()"], &[]);
    let fenced = run("__threadfence();");
    assert!(!fenced.stdout.contains("make a lock"), "{}", fenced.stdout);
}

#[test]
fn a_barrier_is_advised_where_every_thread_comes() {
    let desk = Desk::new();
    let tail = desk.run(
        &kernel(
            "    __shared__ float s[64]; s[t] = x[i];\n    __syncthreads();\n    if (t < 32) {\n        s[t] += s[t + 32];\n        s[t] += s[t + \
             16];\n        s[t] += s[t + 8];\n    }\n    __syncthreads(); y[i] = s[t];",
        ),
        &[],
    );
    fails(&tail, &["__syncwarp()"], &["put __syncthreads()"]);
    let scan = desk.run(
        &kernel(
            "    __shared__ float s[64]; s[t] = x[i];\n    __syncthreads();\n    for (int d = 1; d < 64; d *= 2) {\n        if (t >= d) s[t] \
             += s[t - d];\n        __syncthreads();\n    }\n    y[i] = s[t];",
        ),
        &[],
    );
    fails(&scan, &["line 7 reads and writes in one statement", "outside of the condition"], &[]);
    let plain = desk.run(&kernel("    __shared__ float s[64]; s[t] = x[i];\n    y[i] = s[t ^ 1];"), &[]);
    fails(&plain, &["put __syncthreads() between the two accesses"], &["in one statement", "outside of"]);
}

#[test]
fn an_asynchronous_copy_is_told_by_element_and_call() {
    let desk = Desk::new();
    let text = |wait: &str| {
        format!(
            "#include <cuda_pipeline.h>\n{}",
            kernel(&format!(
                "    __shared__ float s[64]; if (i < n) __pipeline_memcpy_async(&s[t], &x[i], 4);\n    __pipeline_commit(); {wait}\n    \
                 __syncthreads(); if (i < n) y[i] = s[63 - t];"
            ))
        )
    };
    let wrong = desk.run(&text(""), &[]);
    fails(&wrong, &["reads `s`[", "`__pipeline_wait_prior(0)`", "a barrier alone waits for no copy"], &["byte "]);
    desk.run(&text("__pipeline_wait_prior(0);"), &[]).shows(&["COMPLETED"]);
}

#[test]
fn parts_of_vectors_in_shared_memory_are_named() {
    let desk = Desk::new();
    let text = |barrier: &str| {
        kernel(&format!(
            "    __shared__ float3 s[64]; s[t] = make_float3(x[i], 1, 2);\n    {barrier} if (i < n) y[i] = (&s[0].x)[(t + 4) % 64];"
        ))
    };
    let wrong = desk.run(&text(""), &[]);
    let named = last(&wrong)
        .split("`s`[")
        .nth(1)
        .and_then(|rest| rest.split_once(']'))
        .map(|(_, rest)| rest.chars().take(2).collect());
    let named: String = named.unwrap_or_default();
    assert!([".x", ".y", ".z"].contains(&named.as_str()), "{}", last(&wrong));
    desk.run(&text("__syncthreads();"), &[]).shows(&["COMPLETED"]);
}

#[test]
fn every_element_of_a_wide_store_has_its_writer() {
    let desk = Desk::new();
    let text = |factor: &str| {
        kernel(&format!(
            "    if (2 * i < n) ((float2*)y)[i] = make_float2({factor} * x[2 * i], {factor} * x[2 * i + 1]);"
        ))
    };
    let right = desk.machine.file("right.cu", text("2"));
    let ended = desk.run(&text("3"), &["--against", &right]);
    assert_eq!(ended.status, 1);
    let rows: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("  y[")).skip(1).collect();
    assert!(rows.len() == 10 && rows.iter().all(|row| row.contains("by block (0,0,0), thread (")), "{}", ended.stdout);
}

#[test]
fn fragments_name_the_writers_of_all_their_elements() {
    let machine = Machine::new();
    let spec = machine.file(
        "w.toml",
        "title = \"t\"\nentry = \"k\"\n[[param]]\nname = \"x\"\ndtype = \"f16\"\nshape = [\"16\", \"16\"]\n[[param]]\nname = \"y\"\ndtype = \
         \"f32\"\nshape = [\"16\", \"16\"]\nrole = \"out\"\n[launch]\ngrid = [1]\nblock = [32]\n[sizes]\ncheck = [{ }]\n",
    );
    let text = |fill: &str, start: &str| {
        format!(
            "#include <mma.h>\nusing namespace nvcuda;\nextern \"C\" __global__ void k(const half* x, float* y)\n{{\n    \
             wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;\n    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, \
             wmma::row_major> b;\n    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;\n    {fill}\n    \
             wmma::load_matrix_sync(a, x, 16);\n    wmma::load_matrix_sync(b, x, 16);\n    wmma::mma_sync(c, a, b, c);\n    \
             wmma::store_matrix_sync(y{start}, c, 16, wmma::mem_row_major);\n}}\n"
        )
    };
    let fill = "wmma::fill_fragment(c, 0.0f);";
    let right = machine.file("right.cu", text(fill, ""));
    let wrong = machine.file("wrong.cu", text("wmma::fill_fragment(c, 1.0f);", ""));
    let ended = machine.run(&["run", &wrong, "--spec", &spec, "--against", &right]);
    let rows: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("  y[")).skip(1).collect();
    assert!(rows.len() == 10 && rows.iter().all(|row| row.contains("by block (0,0,0), thread (")), "{}", ended.stdout);
    let empty = machine.run(&["run", &machine.file("empty.cu", text("", "")), "--spec", &spec]);
    fails(
        &empty,
        &["uses `c` (line 7), which was never given a value", "wmma::fill_fragment(c, 0)"],
        &["never written"],
    );
    assert!(!empty.stdout.contains("never_written"), "{}", empty.stdout);
}

#[test]
fn beginners_compile_errors_have_words() {
    let desk = Desk::new();
    let whole = desk.run(&kernel("    int j = blockIdx * blockDim + threadIdx; y[j] = x[j];"), &[]);
    assert!(whole.stdout.contains("have three numbers each") && !whole.stdout.contains("promoted"), "{}", whole.stdout);
    let bounds = format!("__launch_bounds__(64)\n{}", kernel("    y[i] = x[i];"));
    let bounds = desk.run(&bounds, &[]);
    assert!(bounds.stdout.contains("between `void` and the kernel's name"), "{}", bounds.stdout);
    let call =
        format!("__device__ float f(float a, float b) {{ return a + b; }}\n{}", kernel("    y[i] = f(x, 1, 2);"));
    let call = desk.run(&call, &[]);
    assert!(call.stdout.contains("`f` takes 2 arguments, and this call gives 3"), "{}", call.stdout);
    assert_eq!(call.stdout.matches(": error:").count(), 1, "{}", call.stdout);
}

#[test]
fn a_tile_larger_than_its_block_is_told_so() {
    let machine = Machine::new();
    let text = |block: &str| {
        format!(
            "// lockstep: block = {block}\n__global__ void k(const float* x, float* y, int rows, int cols)\n{{\n    __shared__ float \
             s[32][32];\n    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;\n    s[threadIdx.y][threadIdx.x] = r < \
             rows && c < cols ? x[r * cols + c] : 0;\n    __syncthreads();\n    if (r < rows && c < cols) y[r * cols + c] = 2 * s[threadIdx.y][31 \
             - threadIdx.x];\n}}\n"
        )
    };
    let run = |block: &str| {
        machine.run(&["run", &machine.file("k.cu", text(block)), "--size", "rows=32,cols=32", "--allow-partial"])
    };
    fails(&run("16, 16"), &["which nobody wrote", "the block has 16 x 16 threads"], &[]);
    run("32, 32").shows(&["COMPLETED"]);
}
