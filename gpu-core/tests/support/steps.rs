//! Exercises of several launches, of a cooperative one and of one with clusters, for the kernels of `data/steps.cu`.

pub const SOURCE: &str = include_str!("../data/steps.cu");
pub const PTX: &str = include_str!("../data/steps.ptx");

pub const SUM: &str = r#"
title = "A sum of two kernels"
oracle = "sum"
param = [
    { name = "x", dtype = "f32", shape = ["n"] },
    { name = "partial", dtype = "f32", shape = ["parts"], role = "scratch", max_bytes = "4 * parts" },
    { name = "y", dtype = "f32", shape = [1], role = "out" },
    { name = "n", dtype = "i32", value = "n" },
    { name = "parts", dtype = "i32", value = "parts" },
]
tolerance = { absolute = 0.0, relative = 1e-5, reason = "A few roundings." }
sizes = { check = [{ n = 1000, parts = 4 }] }

[[step]]
name = "partial sums"
entry = "partial_sums"
args = ["x", "partial", "n"]
grid = ["parts"]
block = [256]
learner_may_change = true

[[step]]
entry = "combine"
args = ["partial", "y", "parts"]
grid = [1]
block = [32]
"#;

pub const ROWS: &str = r#"
title = "A row a turn"
oracle = "copy"
param = [
    { name = "x", dtype = "f32", shape = ["rows", "columns"] },
    { name = "cache", dtype = "f32", shape = ["rows", "columns"], role = "scratch" },
    { name = "y", dtype = "f32", shape = ["rows", "columns"], role = "out" },
    { name = "columns", dtype = "i32", value = "columns" },
    { name = "row", dtype = "i32", value = "turn" },
]
tolerance = { absolute = 0.0, relative = 0.0, reason = "A copy." }
sizes = { check = [{ rows = 5, columns = 40 }] }

[[step]]
name = "append"
entry = "append_row"
args = ["x", "cache", "columns", "row"]
grid = ["ceil_div(columns, block_x)"]
block = [32]
repeat = "rows"
group = "row"

[[step]]
name = "read"
entry = "read_row"
args = ["cache", "y", "columns", "row"]
grid = ["ceil_div(columns, block_x)"]
block = [32]
repeat = "rows"
group = "row"
"#;

pub const THROUGH_SCRATCH: &str = r#"
title = "Through the whole grid"
entry = "through_scratch"
oracle = "copy"
param = [
    { name = "x", dtype = "f32", shape = ["n"] },
    { name = "scratch", dtype = "f32", shape = ["n"], role = "scratch" },
    { name = "y", dtype = "f32", shape = ["n"], role = "out" },
    { name = "n", dtype = "i32", value = "n" },
]
launch = { grid = ["ceil_div(n, block_x)"], block = [64], cooperative = true }
tolerance = { absolute = 0.0, relative = 0.0, reason = "A copy." }
sizes = { check = [{ n = 1000 }] }
"#;

pub const SWAP_IN_CLUSTER: &str = r#"
title = "What the other block of a cluster read"
entry = "swap_in_cluster"
oracle = "copy"
requires = "sm_90"
param = [
    { name = "x", dtype = "f32", shape = ["n"] },
    { name = "y", dtype = "f32", shape = ["n"], role = "out" },
]
launch = { grid = ["n / 64"], block = [64], cluster = [2] }
tolerance = { absolute = 0.0, relative = 0.0, reason = "A copy." }
sizes = { check = [{ n = 1024 }] }
"#;
