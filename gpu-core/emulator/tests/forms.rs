//! One example of every instruction form of the PTX manual, section by section: what ptxas takes, the loader takes.
//!
//! `ptx/forms.tsv` has the oldest of five architectures whose ptxas (of CUDA 13.5) takes the form, and the form; large
//! families are sampled. A leading `!` marks what is refused, with a message that names it.

use std::collections::BTreeMap;
use std::fmt::Write;

use ptx_emulator::Module;

const FORMS: &str = include_str!("ptx/forms.tsv");

const VARIABLES: &str = ".global .align 128 .b8 g[256];\n.shared .align 128 .b8 s[1024];\n.const .align 16 .b8 c[64];\n\
    .func (.param .b32 rr) fn(.param .b32 aa) { .reg .b32 %x; ld.param.b32 %x, [aa]; st.param.b32 [rr], %x; ret; }\n";
const REGISTERS: &str = ".reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %h<24>; .reg .b32 %r<72>; .reg .b64 %l<40>; \
    .reg .b128 %q<8>; .reg .f32 %f<24>; .reg .f64 %d<24>; .reg .v4 .u32 %v0; .local .align 16 .b8 lo[64];";

/// A module with one kernel for each form; the form stands on a line of its own.
fn module(arch: &str, forms: &[&str]) -> (String, Vec<u32>) {
    let mut text = format!(".version 9.2\n.target {arch}\n.address_size 64\n{VARIABLES}");
    let mut lines = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        let _ = writeln!(text, ".visible .entry k{index}(.param .b64 kp) {{\n{REGISTERS}");
        lines.push(text.matches('\n').count() as u32 + 1);
        let _ = writeln!(text, "{form}\nret;\n}}");
    }
    (text, lines)
}

/// Each refused form with its message.
fn refused(arch: &str, forms: &[&str]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for forms in forms.chunks(100) {
        let (text, lines) = module(arch, forms);
        let Err(error) = Module::load(&text) else { continue };
        for problem in error.problems {
            let at = lines.partition_point(|line| *line <= problem.ptx_line);
            let form = at.checked_sub(1).map_or("(none)", |at| forms[at]);
            out.insert(form.to_owned(), problem.message);
        }
    }
    out
}

#[test]
fn every_form_that_the_assembler_takes_is_taken() {
    let mut by_arch: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for line in FORMS.lines() {
        let (arch, form) = line.split_once('\t').expect("architecture and form");
        match arch.strip_prefix('!') {
            Some(arch) => by_arch.entry(arch).or_default().1.push(form),
            None => by_arch.entry(arch).or_default().0.push(form),
        }
    }
    let (mut wrong, mut count) = (String::new(), 0);
    for (arch, (taken, not_taken)) in by_arch {
        count += taken.len();
        for (form, message) in refused(arch, &taken) {
            let _ = writeln!(wrong, "{arch} refuses {form}: {message}");
        }
        // One by one, lest one refusal hides another's absence.
        for form in not_taken {
            match refused(arch, &[form]).get(form) {
                None => drop(writeln!(wrong, "{arch} takes {form}: remove its `!`")),
                Some(message) if message.len() < 12 => drop(writeln!(wrong, "{form}: `{message}` says little")),
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 2_000, "{count}");
}

/// For comparing with an assembler: a line each, with the loader's message behind those that it refuses.
#[test]
#[ignore = "judges the forms of the file that LOCKSTEP_FORMS names, written like forms.tsv"]
fn forms_of_a_file() {
    let path = std::env::var("LOCKSTEP_FORMS").expect("LOCKSTEP_FORMS names a file");
    let text = std::fs::read_to_string(path).expect("readable");
    let mut by_arch: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (arch, form) in text.lines().filter_map(|line| line.split_once('\t')) {
        by_arch.entry(arch).or_default().push(form);
    }
    for (arch, forms) in by_arch {
        let refusals = refused(arch, &forms);
        for form in forms {
            println!("{arch}\t{form}\t{}", refusals.get(form).map_or("ok", |message| message));
        }
    }
}
