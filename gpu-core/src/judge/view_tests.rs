//! Views and metrics through the judge's comparison, without a kernel: what was stored is made by hand.

use super::compare::{self, Comparison};
use super::explain::mismatch_sentence;
use super::inputs;
use super::tensors::{oracle_inputs, outputs};
use crate::device::Argument;
use crate::oracle;
use crate::spec::{Resolved, Spec};

/// A quantizer of `2 x n` numbers with this view and rule.
fn spec(format: &str, extra: &str, rule: &str) -> Spec {
    let (codes, scales) = match format {
        "nvfp4" => ("[\"2\", \"n / 2\"]", "dtype = \"u8\"\nshape = [\"2\", \"n / 16\"]"),
        "int4" => ("[\"2\", \"n / 2\"]", "dtype = \"f32\"\nshape = [\"2\"]"),
        _ => ("[\"2\", \"n\"]", "dtype = \"f32\"\nshape = [\"2\"]"),
    };
    let group = if format == "nvfp4" { "" } else { "group = \"n\"\n" };
    let text = format!(
        "title = \"t\"\nentry = \"k\"\noracle = \"quantize\"\n\
         [[param]]\nname = \"x\"\ndtype = \"f32\"\nshape = [\"2\", \"n\"]\n\
         [[param]]\nname = \"codes\"\ndtype = \"u8\"\nshape = {codes}\nrole = \"out\"\n\
         [[param]]\nname = \"scales\"\n{scales}\nrole = \"out\"\n\
         [[view]]\nname = \"y\"\ncodes = \"codes\"\nformat = \"{format}\"\nshape = [\"2\", \"n\"]\nscales = \"scales\"\n{group}{extra}\n\
         [[output]]\nof = \"y\"\n{rule}\nreason = \"Because.\"\n\
         [launch]\ngrid = [2]\nblock = [32]\n[sizes]\ncheck = [{{ n = 64 }}]\n"
    );
    Spec::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

const ROUNDED: &str = "metric = \"elementwise\"\nabsolute = 0.0\nrelative = 0.5001";

/// A case with what the reference quantizer stores, changed by `change`; what the judge says of it.
fn judged(spec: &Spec, change: impl FnOnce(&Resolved, &mut [Argument])) -> Comparison {
    let case = spec.resolve(&spec.check[0]).expect("resolves");
    let mut arguments = inputs::arguments(&case, 5);
    let oracle = oracle::find("quantize").expect("an oracle");
    let expected = oracle.compute(&case.signature(), &oracle_inputs(&case, &arguments)).expect("fits");
    let stored = expected[0].stored.clone().expect("bits");
    for argument in &mut arguments {
        let Argument::Buffer(buffer) = argument else { continue };
        match buffer.name.as_str() {
            "codes" => buffer.bytes.clone_from(&stored.codes),
            "scales" => buffer.bytes.clone_from(&stored.scales),
            _ => {}
        }
    }
    change(&case, &mut arguments);
    compare::compare(&case, &arguments, &expected, spec, None, None)
}

fn bytes<'a>(arguments: &'a mut [Argument], name: &str) -> &'a mut Vec<u8> {
    arguments
        .iter_mut()
        .find_map(|argument| match argument {
            Argument::Buffer(buffer) if buffer.name == name => Some(&mut buffer.bytes),
            _ => None,
        })
        .expect("a buffer")
}

#[test]
fn what_the_reference_stores_passes_by_value_and_by_bits() {
    for format in ["int8", "int4", "e4m3"] {
        let result = judged(&spec(format, "", ROUNDED), |_, _| {});
        assert_eq!(result.mismatch_count, 0, "{format}: {:?}", mismatch_sentence(&result));
        assert!(result.worst_error_ratio > 0.9, "somewhere nearly half a step is rounded off: {format}");
    }
    for format in ["int8", "int4", "e4m3", "nvfp4"] {
        let result = judged(&spec(format, "compare = \"bits\"", "metric = \"exact\""), |_, _| {});
        assert_eq!((result.mismatch_count, result.outputs[0].passed), (0, true), "{format}");
    }
}

#[test]
fn a_wrong_code_is_shown_with_its_value() {
    let result = judged(&spec("int8", "", ROUNDED), |_, arguments| bytes(arguments, "codes")[70] ^= 0x40);
    assert_eq!((result.mismatch_count, result.element_count), (1, 128));
    let first = &result.mismatches[0];
    assert_eq!((first.buffer.as_str(), first.index.as_slice()), ("y", &[1, 6][..]));
    let code = first.code.expect("a code");
    assert_eq!(code.got ^ code.expected.expect("known"), 0x40);
    let sentence = mismatch_sentence(&result).expect("wrong");
    assert!(sentence.contains("y[1][6] is ") && sentence.contains("(code 0x"), "{sentence}");
    let result = judged(&spec("int4", "compare = \"bits\"", "metric = \"exact\""), |_, arguments| {
        let codes = bytes(arguments, "codes");
        codes.iter_mut().for_each(|byte| *byte = byte.rotate_left(4));
    });
    assert!(result.mismatch_count > 64 && !result.outputs[0].passed, "the order of nibbles matters");
}

#[test]
fn a_wrong_scale_is_named_before_the_codes() {
    let exact = spec("int8", "compare = \"bits\"", "metric = \"exact\"");
    let result = judged(&exact, |_, arguments| {
        let scales = bytes(arguments, "scales");
        scales.swap(0, 4);
        scales.swap(1, 5);
        scales.swap(2, 6);
        scales.swap(3, 7);
    });
    assert_eq!(result.mismatches[0].buffer, "scales");
    assert_eq!(result.mismatches[0].index, [0]);
    let unwritten = judged(&spec("int8", "", ROUNDED), |_, arguments| {
        let poison = crate::spec::Dtype::F32.poison();
        bytes(arguments, "scales")[4..].copy_from_slice(poison);
    });
    let first = &unwritten.mismatches[0];
    assert!(first.never_written && first.buffer == "scales" && first.index == [1], "{first:?}");
    let nothing = judged(&spec("int8", "", ROUNDED), |_, arguments| bytes(arguments, "codes").fill(0xA5));
    assert!(nothing.never_written > 100, "{}", nothing.never_written);
}

#[test]
fn metrics_of_the_whole_pass_and_fail_with_their_value() {
    let snr = |limit: f64| format!("metric = \"sqnr_db\"\nlimit = {limit:?}");
    let right = judged(&spec("int8", "", &snr(30.0)), |_, _| {});
    assert!(right.mismatch_count == 0 && right.outputs[0].passed, "{:?}", right.outputs);
    let measured = right.outputs[0].measured;
    assert!((35.0..55.0).contains(&measured), "{measured} dB");
    let wrong = judged(&spec("int8", "", &snr(measured + 1.0)), |_, _| {});
    assert!(wrong.mismatch_count > 0 && !wrong.outputs[0].passed && wrong.worst_error_ratio > 1.0);
    let sentence = mismatch_sentence(&wrong).expect("wrong");
    assert!(sentence.starts_with("the signal-to-quantization-noise ratio of y is "), "{sentence}");
    for rule in ["metric = \"relative_norm\"\nlimit = 0.02", "metric = \"cosine\"\nlimit = 0.999"] {
        assert!(judged(&spec("int8", "", rule), |_, _| {}).outputs[0].passed, "{rule}");
        let zeros = judged(&spec("int8", "", rule), |_, arguments| bytes(arguments, "codes").fill(0));
        assert!(!zeros.outputs[0].passed && zeros.mismatch_count > 0, "{rule}");
    }
}

#[test]
fn outputs_are_decoded_and_found_again() {
    let spec = spec("nvfp4", "", "metric = \"sqnr_db\"\nlimit = 10.0");
    let result = judged(&spec, |case, arguments| {
        let all = outputs(case, arguments);
        assert_eq!((all.len(), all[0].name, all[0].elements()), (1, "y", 128));
        // Element [1, 5] is in the high half of byte 34.
        assert_eq!(case.place_of("y", &[1, 5]), Some(("codes", 34, 1)));
    });
    assert!(result.outputs[0].passed, "{:?}", result.outputs);
}
