//! Scripts that run to their end, fail, or do not end.

use super::*;

fn lines_of(source: &str) -> (Vec<Line>, Result<(), String>) {
    let mut lines = Vec::new();
    let arguments = ["7".to_owned()];
    let script = Script { file: "x.py", source, arguments: &arguments, reads: &[] };
    let ended = run(None, script, &AtomicBool::new(false), &mut |line| lines.push(line));
    (lines, ended)
}

fn script(source: &str) -> Script<'_> {
    Script { file: "x.py", source, arguments: &[], reads: &[] }
}

const FIGURE: &str = "import json, sys\nprint('hello')\nprint(json.dumps({'name': 'n = ' + sys.argv[1], 'rung': \
                      'numpy', 'device': 'cpu', 'median_ms': 0.5, 'samples': 9, 'ok': OK}))\n";

#[test]
fn figures_and_words_come_line_by_line() {
    let (lines, ended) = lines_of(&FIGURE.replace("OK", "True"));
    assert_eq!(ended, Ok(()));
    assert_eq!(lines[0], Line::Said("hello".into()));
    let Line::Figure(figure) = &lines[1] else { panic!("{lines:?}") };
    assert_eq!((figure.name.as_str(), figure.median_ms, figure.ok), ("n = 7", Some(0.5), true));
}

#[test]
fn what_goes_wrong_is_one_sentence() {
    let (_, ended) = lines_of(&(FIGURE.replace("OK", "False") + "sys.exit(1)\n"));
    assert_eq!(ended.unwrap_err(), "the result was wrong");
    let (_, ended) = lines_of("print('{\"rung\": \"x\", \"ok\": false, \"error\": \"numpy not found\"}')\nexit(2)\n");
    assert_eq!(ended.unwrap_err(), "numpy not found");
    let (_, ended) = lines_of("raise ValueError('no such thing')\n");
    assert_eq!(ended.unwrap_err(), "ValueError: no such thing");
    let mut none = |_| {};
    let nowhere = Some(Path::new("/nowhere/python"));
    let ended = run(nowhere, script(""), &AtomicBool::new(false), &mut none);
    assert!(ended.unwrap_err().contains("Python 3 was not found (/nowhere/python"));
}

#[test]
fn a_rung_that_never_ends_can_be_stopped() {
    let stop = AtomicBool::new(false);
    let mut said = |_| stop.store(true, Ordering::Relaxed);
    let ended = run(None, script("print('go')\nwhile True: pass\n"), &stop, &mut said);
    assert_eq!(ended.unwrap_err(), "stopped");
}
