use ptx_emulator::num::mma::form::Form;

#[test]
fn every_form_is_written_so_that_it_reads_back() {
    for wmma in [false, true] {
        let all = Form::all(wmma);
        assert!(all.len() > 100, "{}", all.len());
        for form in all {
            assert_eq!(Form::parse(&form.opcode()), Ok(form), "{}", form.opcode());
        }
    }
}
