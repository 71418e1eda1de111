use ptx_emulator::inside::isa::printf::format;

fn run(text: &str, arguments: &[u8]) -> String {
    let read = |offset: u64, out: &mut [u8]| {
        let from = arguments.get(offset as usize..offset as usize + out.len())?;
        out.copy_from_slice(from);
        Some(())
    };
    String::from_utf8(format(text.as_bytes(), read, |_| b"text".to_vec()).0).expect("ascii")
}

fn double(text: &str, value: f64) -> String {
    run(text, &value.to_le_bytes())
}

#[test]
fn as_c_does() {
    assert_eq!(run("%d|%5d|", &[1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff]), "1|   -2|");
    assert_eq!(run("%-5u|%05x|", &[7, 0, 0, 0, 255, 0, 0, 0]), "7    |000ff|");
    assert_eq!(run("%lld", &(-3i64).to_le_bytes()), "-3");
    assert_eq!(run("%s %c%%", &[0, 0, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0]), "text A%");
    assert_eq!(double("%f", 1.5), "1.500000");
    assert_eq!(double("%5.2f|", -1.005), "-1.00|");
    assert_eq!(double("%e", 12345.678), "1.234568e+04");
    assert_eq!(double("%g", 0.0001), "0.0001");
    assert_eq!(double("%g", 1e-5), "1e-05");
    assert_eq!(double("%g", 1234567.0), "1.23457e+06");
    assert_eq!(double("%08.3f", -1.5), "-001.500");
    assert_eq!(double("%a", 1.0), "0x1p+0");
    assert_eq!(double("%f", f64::NAN.copysign(1.0)), "nan");
    assert_eq!(run("%q", &[]), "%q");
    assert_eq!(run("%.3d", &[7, 0, 0, 0]), "007");
}
