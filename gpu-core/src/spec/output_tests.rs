//! Rules, views, fills and empty sizes: a whole example reads, and every wrong use is named.

use super::{Fill, Metric, Spec};
use crate::formats::{Axis, Format, Packing};

const QUANTIZER: &str = r#"
title = "Quantize rows"
entry = "quantize"
oracle = "quantize"

[[param]]
name = "x"
dtype = "f32"
shape = ["m", "n"]

[[param]]
name = "y_codes"
dtype = "u8"
shape = ["m", "n"]
role = "out"

[[param]]
name = "y_scales"
dtype = "f32"
shape = ["m"]
role = "out"

[[param]]
name = "seed"
dtype = "u32"
value = "seed"

[[view]]
name = "y"
codes = "y_codes"
format = "int8"
shape = ["m", "n"]
scales = "y_scales"
group = "n"

[[output]]
of = "y"
metric = "sqnr_db"
limit = 30.0
reason = "Eight bits."

[launch]
grid = ["m"]
block = [32]

[sizes]
check = [{ m = 2, n = 8 }]
"#;

fn read(text: &str) -> Result<Spec, String> {
    Spec::parse(text, "exercise.toml").map_err(|error| error.to_string())
}

/// Replaces `from` by `to` and expects a problem that holds every one of `parts`, with a line.
#[track_caller]
fn rejects(from: &str, to: &str, parts: &[&str]) {
    assert!(QUANTIZER.contains(from), "the example no longer holds {from:?}");
    let error = read(&QUANTIZER.replacen(from, to, 1)).expect_err(to);
    assert!(error.starts_with("exercise.toml:"), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{to}` gives\n{error}\nwithout\n{part}");
    }
}

#[test]
fn a_view_with_a_rule_reads_and_resolves() {
    let spec = read(QUANTIZER).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(spec.rule("y").metric, Metric::SqnrDb { limit: 30.0 });
    let mut case = spec.resolve(&spec.check[0]).expect("resolves");
    let view = &case.views[0];
    assert_eq!((view.layout.format, view.layout.group, view.layout.axis), (Format::Int8, 8, Some(Axis::Last)));
    assert_eq!((view.layout.row_bytes, view.layout.packing), (8, Packing::LowFirst));
    let signature = case.signature();
    assert_eq!(signature.outputs.len(), 1, "codes and scales are one output");
    assert_eq!((signature.outputs[0].name.as_str(), signature.outputs[0].shape.as_slice()), ("y", &[2, 8][..]));
    assert_eq!(case.place_of("y", &[1, 3]), Some(("y_codes", 11, 1)));
    assert_eq!(signature.scalars, [("seed".to_owned(), 1.0)]);
    case.reseed(&spec, 77).expect("a seed fits u32");
    assert_eq!(case.signature().scalars, [("seed".to_owned(), 77.0)]);
}

#[test]
fn wrong_rules_are_named() {
    rejects("of = \"y\"", "of = \"z\"", &["output[0].of", "(y)", "\"z\""]);
    rejects("of = \"y\"", "of = \"y_codes\"", &["a view of one (y)"]);
    rejects("\"sqnr_db\"", "\"snr\"", &["a metric (elementwise, relative_norm, sqnr_db", "\"snr\""]);
    rejects("limit = 30.0\n", "", &["a key `limit`"]);
    rejects("limit = 30.0", "limit = \"much\"", &["a finite number"]);
    rejects(
        "metric = \"sqnr_db\"\nlimit = 30.0",
        "metric = \"cosine\"\nlimit = 2.0",
        &["a cosine between -1 and 1", "found 2"],
    );
    rejects("metric = \"sqnr_db\"\nlimit = 30.0", "metric = \"ulp\"\nlimit = -1.0", &["at least 0"]);
    rejects("metric = \"sqnr_db\"\n", "", &["a key `absolute`", "a key `relative`", "`limit`"]);
    rejects("metric = \"sqnr_db\"", "metric = \"exact\"", &["`limit`", "of, metric, reason"]);
    rejects("metric = \"sqnr_db\"", "metric = \"statistical\"", &["a key `draws` with how many runs"]);
    rejects("\"sqnr_db\"\nlimit = 30.0", "\"statistical\"\nlimit = 6.0\ndraws = 2", &["16 to 65536 runs", "found 2"]);
    rejects("reason = \"Eight bits.\"", "reason = \" \"", &["why this much error is right"]);
    rejects("reason = \"Eight bits.\"", "", &["a key `reason`"]);
    rejects(
        "[launch]",
        "[[output]]\nof = \"y\"\nmetric = \"exact\"\nreason = \"x\"\n[launch]",
        &["one rule for each output", "`y` again"],
    );
    rejects("group = \"n\"", "group = \"n\"\ncompare = \"bits\"", &["metric = \"exact\"", "\"sqnr_db\""]);
    rejects(
        "[[output]]\nof = \"y\"\nmetric = \"sqnr_db\"\nlimit = 30.0\nreason = \"Eight bits.\"",
        "",
        &["`tolerance`"],
    );
}

#[test]
fn wrong_views_are_named() {
    rejects("codes = \"y_codes\"", "codes = \"codes\"", &["view[0].codes", "x, y_codes, y_scales", "\"codes\""]);
    rejects("codes = \"y_codes\"\n", "", &["a key `codes`"]);
    rejects("\"int8\"", "\"int7\"", &["a format (e4m3, e5m2, int8", "\"int7\""]);
    rejects("\"int8\"", "\"nvfp4\"", &["view[0].scales", "e4m3 scales", "a buffer of f32"]);
    rejects("\"int8\"", "\"mxfp4\"", &["ue8m0 scales"]);
    rejects("codes = \"y_codes\"", "codes = \"x\"", &["codes of int8 in a buffer of", "`x` of f32"]);
    rejects("scales = \"y_scales\"", "", &["a group only where there are `scales`"]);
    // Without scales the buffer for them is an output of its own, for which there is no rule.
    rejects("scales = \"y_scales\"\ngroup = \"n\"", "", &["`tolerance`"]);
    rejects("group = \"n\"", "group = 3", &["view[0].scales", "6 are needed, `y_scales` has 2"]);
    rejects("group = \"n\"", "group = 0", &["a group of at least 1 is needed, not 0"]);
    rejects("group = \"n\"", "group = \"n\"\ngroup_axis = 2", &["0 for the first axis or 1 for the last", "found 2"]);
    rejects(
        "group = \"n\"",
        "group = \"n\"\npacking = \"low\"",
        &["which nibble holds the even column", "low_first, high_first"],
    );
    rejects("group = \"n\"", "group = \"n\"\ncompare = \"bit\"", &["what is compared (value, bits)"]);
    rejects("group = \"n\"", "group = \"n\"\nzero_points = \"x\"", &["view[0].zero_points"]);
    rejects("group = \"n\"", "group = \"n\"\ntensor_scale = \"x\"", &["view[0].tensor_scale", "one element is needed"]);
    rejects(
        "shape = [\"m\", \"n\"]\nscales",
        "shape = [\"m\", \"2 * n\"]\nscales",
        &["view[0].codes", "2 rows of 16 codes of 8 bits need 16 bytes a row"],
    );
    rejects("name = \"y\"\n", "name = \"x\"\n", &["view[0].name", "`x` again"]);
    rejects("group = \"n\"", "groups = \"n\"", &["did you mean `group`?"]);
    let twice = "[launch]".to_owned();
    let second = "[[view]]\nname = \"z\"\ncodes = \"y_codes\"\nformat = \"int8\"\nshape = [\"m\", \"n\"]\n[launch]";
    rejects(&twice, second, &["buffers that are in no other view", "`y_codes` again"]);
}

#[test]
fn fills_read_and_wrong_ones_are_named() {
    let with = |fill: &str| {
        QUANTIZER.replacen("shape = [\"m\", \"n\"]\n", &format!("shape = [\"m\", \"n\"]\nfill = {fill}\n"), 1)
    };
    for fill in [
        "\"permutation\"",
        "\"one_hot\"",
        "{ kind = \"outliers\", std = 1.0, channels = 2, factor = 30.0 }",
        "{ kind = \"student_t\", df = 4.0, scale = 1.0 }",
        "{ kind = \"special\", base = \"normal\", inf = 0.01, nan = 0.01 }",
        "{ kind = \"ties\", format = \"e4m3\" }",
        "{ kind = \"ties\", format = \"bf16\" }",
        "{ kind = \"mask\", density = 0.5 }",
        "{ kind = \"pages\", pages = \"m * n + 3\" }",
        "{ kind = \"lengths\", low = 1, high = \"n\" }",
        "{ kind = \"prefix_sums\", total = \"4 * n\" }",
    ] {
        read(&with(fill)).unwrap_or_else(|error| panic!("{fill}: {error}"));
    }
    let named = |fill: &str, part: &str| {
        let error = read(&with(fill)).expect_err(fill);
        assert!(error.contains(part), "`{fill}` gives\n{error}\nwithout\n{part}");
    };
    named("\"gaussian\"", "a fill by name (normal, uniform, index, permutation, one_hot)");
    named("{ kind = \"outliers\", std = 1.0, channels = 9, factor = 3.0 }", "9 outlier channels of 8 columns");
    named("{ kind = \"outliers\", std = -1.0, channels = 1, factor = 3.0 }", "a standard deviation of at least 0");
    named("{ kind = \"student_t\", df = 0.0, scale = 1.0 }", "degrees of freedom above 0");
    named("{ kind = \"special\", base = \"normal\", inf = 0.7, nan = 0.7 }", "together at most 1");
    named("{ kind = \"special\", base = \"student\", inf = 0.1, nan = 0.1 }", "normal, uniform");
    named("{ kind = \"ties\", format = \"e8m0\" }", "a format (f16, bf16, e4m3");
    named("{ kind = \"mask\", density = 1.5 }", "a density between 0 and 1");
    named("{ kind = \"pages\", pages = 3 }", "no page may be in it twice");
    named("{ kind = \"lengths\", low = 5, high = 1 }", "5 to 1 is not a range");
    named("{ kind = \"lengths\", low = 5 }", "a key `high` with the greatest length");
    named("{ kind = \"prefix_sums\" }", "a key `total`");
    named("{ kind = \"file\", path = \"../x.csv\" }", "a relative path to a .csv file");
    named("{ kind = \"file\" }", "a key `path`");
    let mut spec = read(&with("{ kind = \"file\", path = \"x.csv\" }")).expect("reads");
    let missing = spec.attach_files(|_| None).expect_err("no file");
    assert!(missing.1.contains("no such file"), "{missing:?}");
    spec.attach_files(|_| Some("1, 2\n3".to_owned())).expect("numbers");
    let has_values = spec.params.iter().any(|param| {
        matches!(param, super::Param::Buffer { fill: Some(Fill::File { values, .. }), .. } if *values == [1.0, 2.0, 3.0])
    });
    assert!(has_values);
}

#[test]
fn a_switch_may_be_zero() {
    let with = QUANTIZER.replace("m = 2, n = 8", "m = 2, n = 8, causal = 0");
    let spec = read(&with).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(spec.check[0].get("causal"), Some(&0));
    rejects("m = 2, n = 8", "m = 2, n = 8, causal = -1", &["found -1"]);
}

#[test]
fn sizes_may_be_zero_only_where_a_buffer_may_be_empty() {
    rejects("m = 2, n = 8", "m = 0, n = 8", &["a positive whole number", "found 0"]);
    let empty = QUANTIZER
        .replace("shape = [\"m\", \"n\"]\n", "shape = [\"m\", \"n\"]\nmay_be_empty = true\n")
        .replace("shape = [\"m\"]\n", "shape = [\"m\"]\nmay_be_empty = true\n")
        .replace("[\"m\"]\nblock", "[\"max(m, 1)\"]\nblock")
        .replace("shape = [\"m\", \"n\"]\nmay_be_empty = true\nscales", "shape = [\"m\", \"n\"]\nscales")
        .replace("m = 2, n = 8", "m = 0, n = 8");
    let spec = read(&empty).unwrap_or_else(|error| panic!("{error}"));
    let case = spec.resolve(&spec.check[0]).expect("resolves");
    assert_eq!(case.buffer_bytes(), 0);
    rejects("shape = [\"m\", \"n\"]\n", "shape = [\"m\", \"n\"]\nmay_be_empty = 1\n", &["true or false"]);
}
