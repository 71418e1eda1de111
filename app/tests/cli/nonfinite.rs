//! Where the first infinity or NaN came from, in the words of the source, from NVRTC's PTX to the terminal and `--json`.

use crate::cli_support::Machine;
use serde_json::Value;

const SPEC: &str = "title = \"t\"\nentry = \"k\"\n\
     [[param]]\nname = \"x\"\ndtype = \"f32\"\nshape = [\"n\"]\nfill = { kind = \"index\" }\n\
     [[param]]\nname = \"y\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"out\"\n\
     [[param]]\nname = \"n\"\ndtype = \"i32\"\nvalue = \"n\"\n\
     [launch]\ngrid = [1]\nblock = [128]\n[sizes]\ncheck = [{ n = 128 }]\n";

/// The run of a kernel over x = 0, 1, 2, …, 127 whose line 5 and on are `body`. All threads of the block have an element, so
/// that a barrier in it is no fault.
fn run(machine: &Machine, body: &str) -> (String, Value) {
    let spec = machine.file("k.toml", SPEC);
    let text = format!(
        "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(const float* x, float* y, int n)\n{{\n    int i = threadIdx.x; if (i >= n) return;\n{body}\n}}\n"
    );
    let file = machine.file("kernel.cu", text);
    let ended = machine.run(&["run", &file, "--spec", &spec]);
    let (json, _) = machine.json(&["run", &file, "--spec", &spec]);
    (ended.stdout, json["run"]["first_nonfinite"].clone())
}

fn first(found: &Value) -> (String, u64, u64) {
    let step = &found["first"];
    let expression = step["expression"].as_str().unwrap_or_default().to_owned();
    (expression, step["source"]["line"].as_u64().unwrap_or(0), step["thread"]["thread"][0].as_u64().unwrap_or(999))
}

#[test]
fn functions_are_told_as_they_were_called() {
    let machine = Machine::new();
    for (body, wanted) in [
        ("    y[i] = expf(x[i]) * 0.5f;", ("expf(89)", 5, 89)),
        ("    float e = expf(x[i] - 1.0f);\n    y[i] = e / e;", ("expf(89)", 5, 90)),
        ("    y[i] = __expf(3.0f * x[i]);", ("__expf(90)", 5, 30)),
        ("    y[i] = logf(x[i]);", ("logf(0)", 5, 0)),
        ("    y[i] = log2f(x[i]);", ("log2f(0)", 5, 0)),
        ("    y[i] = logf(x[i] - 1.0f);", ("logf(-1)", 5, 0)),
        ("    y[i] = sqrtf(3.0f - x[i]);", ("sqrtf(-1)", 5, 4)),
        ("    y[i] = 1.0f / (x[i] - 7.0f);", ("1 / 0", 5, 7)),
        ("    y[i] = x[i] * 1e37f;", ("35 * 1e37", 5, 35)),
        ("    y[i] = __half2float(__float2half(x[i] * 1000.0f));", ("half(66000)", 5, 66)),
    ] {
        let (text, found) = run(&machine, body);
        let (expression, line, thread) = first(&found);
        assert_eq!((expression.as_str(), line, thread), wanted, "{body}\n{text}\n{found:#}");
        let said = format!("{} = ", wanted.0);
        assert!(text.contains(&said) && text.contains("at line 5"), "{body}\n{text}");
    }
}

#[test]
fn a_nan_is_followed_back_through_shared_memory_to_the_infinity() {
    let machine = Machine::new();
    let body = "    __shared__ float s[128]; s[i] = expf(x[i]);\n    __syncthreads();\n    float sum = 0.0f;\n    for (int j = 0; j < n; j++) sum += s[j];\n    y[i] = s[i] / sum;";
    let (text, found) = run(&machine, body);
    // y[0] to y[88] are 0: something over infinity.
    assert_eq!(first(&found).0, "expf(89)", "{text}\n{found:#}");
    assert!(text.contains("expf(89) = inf at line 5"), "{text}");
    assert_eq!(found["then"]["expression"], "inf / inf", "{text}\n{found:#}");
    assert_eq!(found["then"]["source"]["line"], 9);
}

#[test]
fn finite_runs_say_nothing_of_it() {
    let machine = Machine::new();
    let (text, found) =
        run(&machine, "    float most = -INFINITY; most = fmaxf(most, x[i]); y[i] = expf(x[i] - most);");
    assert!(found.is_null(), "{text}\n{found:#}");
}
