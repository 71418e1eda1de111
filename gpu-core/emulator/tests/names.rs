//! What an assembler refuses before it looks at any instruction, each held against ptxas 13.5: names defined twice, texts
//! that do not end, versions and targets that there never were.

use ptx_emulator::Module;

/// `.version` and `.target` are added. Empty: it loads.
const MODULES: &[(&str, &str)] = &[
    (".entry k() { .reg .b32 a; .reg .b32 a; ret; }", "`a` is defined twice"),
    (".entry k() { .reg .b32 a, a; ret; }", "`a` is defined twice"),
    (".entry k() { .reg .b32 a; { .reg .b32 a; mov.u32 a, 1; } ret; }", ""),
    (".entry k() { .reg .b32 a<3>; .reg .b32 a1; mov.u32 a1, 1; ret; }", "`a1` is defined twice"),
    (".entry k() { .reg .b32 a1; .reg .b64 a<5>; mov.u32 a1, 1; ret; }", "`a` is defined twice"),
    (".entry k() { .reg .b32 a<3>; .reg .b32 a<5>; mov.u32 a1, 1; ret; }", "`a` is defined twice"),
    (".entry k() { .reg .b32 a<3>; .reg .b32 a3, a01; .reg .b64 b<3>; mov.u32 a3, 1; ret; }", ""),
    (".entry k() { L: ret; L: ret; }", "`L` is defined twice"),
    (".entry k() { L: { L: ret; } ret; }", ""),
    (".entry k() { { L: ret; } { L: ret; } }", ""),
    (".entry k() { .reg .b32 L; L: ret; }", "`L` is defined twice"),
    (".entry k() { k: ret; }", ""),
    (".global .b32 g; .global .b32 g; .entry k() { ret; }", "`g` is defined twice"),
    (".extern .global .b32 g; .extern .global .b32 g; .entry k() { ret; }", ""),
    (".global .b32 g; .entry k() { .reg .b32 g; mov.u32 g, 1; ret; }", ""),
    (".global .b32 k; .entry k() { ret; }", "`k` is defined twice"),
    (".entry k() { ret; } .entry k() { ret; }", "`k` is defined twice"),
    (".func f() { ret; } .func f() { ret; } .entry k() { ret; }", "`f` is defined twice"),
    (".func f(); .func f(); .func f() { ret; } .entry k() { ret; }", ""),
    (".entry k(.param .b32 p, .param .b32 p) { ret; }", "`p` is defined twice"),
    (".entry k(.param .b32 p) { .reg .b32 p; ret; }", "`p` is defined twice"),
    (".entry k(.param .b32 p) { ret; } .entry l(.param .b32 p) { ret; }", ""),
    (".func f(.param .b32 f) { ret; } .entry k() { ret; }", ""),
    (".entry k() { .shared .b32 s; .shared .b32 s; ret; }", "`s` is defined twice"),
    (".entry k() { .shared .b32 s; .reg .b32 s; ret; }", "`s` is defined twice"),
    (".extern .global .b32 g; .global .b32 g; .entry k() { ret; }", "`g` is said to be `.extern` in line 4"),
    (".extern .shared .b32 s[]; .shared .b32 s[4]; .entry k() { ret; }", "`s` is said to be `.extern`"),
    (".extern .global .b32 g; .visible .global .b32 g; .entry k() { ret; }", ""),
    (".extern .global .b32 g; .weak .global .b32 g; .entry k() { ret; }", ""),
    (".global .b32 g; .extern .global .b32 g; .entry k() { ret; }", ""),
    (".extern .func f(); .func f() { ret; } .entry k() { ret; }", "`f` is said to be `.extern`"),
    (".extern .func f(); .visible .func f() { ret; } .entry k() { ret; }", "`f` is said to be `.extern`"),
    (".visible .func f(); .func f() { ret; } .entry k() { ret; }", ""),
    (".entry k() { .reg .b32 a; add.u32 a, a, a - 4; ret; }", "expected"),
    (".entry k() { .reg .b32 a; add.u32 a, a, a + -4; ret; }", ""),
    (".entry k() { .reg .b64 a; .reg .b32 b; ld.global.u32 b, [a-4]; ret; }", "expected"),
    (".entry k() { .reg .b64 a; .reg .b32 b; ld.global.u32 b, [a+-4]; ret; }", ""),
    (".entry k() { .reg .b64 a; .reg .b32 b; ld.global.u32 b, [a + 4 - 8]; ret; }", ""),
    (".global .b32 g[4]; .global .b64 p = g - 4; .entry k() { ret; }", "expected"),
    (".global .b32 g[4]; .global .b64 p = generic(g) + 4; .entry k() { ret; }", ""),
    (".entry k() { ret; } /* end", "the comment that begins here does not end"),
    (".entry k() { /* ret; }\n\n", "the comment that begins here does not end"),
    (".entry k() { ret; } // end", ""),
    (".entry k() { ret; } /* end */", ""),
    (".file 1 \"a.cu\n.entry k() { ret; }", "the quoted text that begins here does not end"),
];

fn loaded(text: &str) -> String {
    match Module::load(text) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn names_mean_one_thing_in_a_scope() {
    for (text, wanted) in MODULES {
        let found = loaded(&format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}"));
        assert_eq!(found.is_empty(), wanted.is_empty(), "{text}: {found}");
        assert!(found.contains(wanted), "{text}: {found}");
        assert!(wanted.is_empty() || found.contains("line 4"), "{text}: {found}");
    }
}

#[test]
fn both_places_are_named() {
    let text = ".version 8.0\n.target sm_90\n.entry k() {\n.reg .b32 a;\nmov.u32 a, 1;\n.reg .b64 a;\nret; }";
    let found = loaded(text);
    assert!(found.contains("line 6") && found.contains("first in line 4"), "{found}");
}

#[test]
fn versions_and_targets_are_those_that_there_are() {
    let of =
        |version: &str, target: &str| loaded(&format!(".version {version}\n.target {target}\n.entry k() {{ ret; }}"));
    for version in ["4.1", "4.3", "6.5", "7.8", "8.0", "8.00", "8.8", "9.0", "9.5", "8.05", "8.10", "7.10", "08.0"] {
        assert_eq!(of(version, "sm_52"), "", "{version}");
    }
    for version in ["0.0", "1.6", "2.9", "4.4", "5.2", "6.6", "7.9", "8.9", "10.0", "8.80", "9.50", "8.0.0"] {
        let found = of(version, "sm_52");
        assert!(found.contains("does not exist") && found.contains("line 1"), "{version}: {found}");
    }
    let targets = [
        "sm_10",
        "sm_52",
        "sm_75",
        "sm_88",
        "sm_90a",
        "sm_100f",
        "sm_121a",
        "compute_90",
        "sm_90, texmode_unified",
        "sm_90A",
        "sm_80x",
        "sm_090",
    ];
    for target in targets {
        assert_eq!(of("9.0", target), "", "{target}");
    }
    for target in ["sm_71", "sm_85", "sm_99", "sm_130", "sm_900", "sm_", "abc", "sm_75a", "sm_80f", "sm_90f", "sm_90aa"]
    {
        let found = of("9.0", target);
        assert!(found.contains("does not exist") && found.contains("line 2"), "{target}: {found}");
    }
    // A capital is no suffix.
    let text = |target: &str| {
        format!(".version 9.0\n.target {target}\n.entry k() {{ setmaxnreg.inc.sync.aligned.u32 64; ret; }}")
    };
    assert_eq!(loaded(&text("sm_90a")), "");
    assert!(loaded(&text("sm_90A")).contains("setmaxnreg"));
    // A target by its other name has the same instructions.
    let text = |target: &str| {
        format!(".version 9.0\n.target {target}\n.entry k() {{ .reg .b32 a; redux.sync.add.s32 a, a, -1; ret; }}")
    };
    assert_eq!(loaded(&text("compute_90")), "");
    assert!(loaded(&text("compute_75")).contains("redux"));
}

#[test]
fn a_target_needs_a_version_that_has_it() {
    let first = [
        ("sm_13", "1.1", "1.2"),
        ("sm_20", "1.5", "2.0"),
        ("sm_30", "2.3", "3.0"),
        ("sm_32", "3.2", "4.0"),
        ("sm_35", "3.0", "3.1"),
        ("sm_37", "4.0", "4.1"),
        ("sm_53", "4.1", "4.2"),
        ("sm_60", "4.3", "5.0"),
        ("sm_70", "5.0", "5.1"),
        ("sm_72", "6.0", "6.1"),
        ("sm_75", "6.2", "6.3"),
        ("sm_80", "6.5", "7.0"),
        ("sm_86", "7.0", "7.1"),
        ("sm_87", "7.3", "7.4"),
        ("sm_88", "8.8", "9.0"),
        ("sm_89", "7.7", "7.8"),
        ("sm_90", "7.7", "7.8"),
        ("sm_90a", "7.8", "8.0"),
        ("sm_100", "8.5", "8.6"),
        ("sm_100a", "8.5", "8.6"),
        ("sm_100f", "8.7", "8.8"),
        ("sm_103a", "8.7", "8.8"),
        ("sm_107", "9.3", "9.4"),
        ("sm_110f", "8.8", "9.0"),
        ("sm_120a", "8.6", "8.7"),
        ("sm_120f", "8.7", "8.8"),
        ("sm_121", "8.7", "8.8"),
    ];
    for (target, before, since) in first {
        let of = |version: &str| loaded(&format!(".version {version}\n.target {target}\n.entry k() {{ ret; }}"));
        assert_eq!(of(since), "", "{target}");
        let found = of(before);
        assert!(found.contains(&format!("{since} does")) && found.contains("line 2"), "{target}: {found}");
    }
}
