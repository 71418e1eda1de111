//! Whether a window can be opened.

use super::Item;

const ID: &str = "display";
const TITLE: &str = "Display";

/// Which display the window would open on, in words; the error says what is missing.
pub fn display_connection() -> Result<String, String> {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return Ok("The system's desktop".into());
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match (set("WAYLAND_DISPLAY").or_else(|| set("WAYLAND_SOCKET")), set("DISPLAY")) {
        (Some(name), _) => Ok(format!("Wayland {name}")),
        (None, Some(name)) => Ok(format!("X11 {name}")),
        (None, None) => Err("No display (neither WAYLAND_DISPLAY nor DISPLAY is set)".into()),
    }
}

/// Libraries that the window opens at run time, with the Debian package of each.
const LIBRARIES: [(&str, &str); 8] = [
    ("libEGL.so.1", "libegl1"),
    ("libGL.so.1", "libgl1"),
    ("libX11.so.6", "libx11-6"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
    ("libXcursor.so.1", "libxcursor1"),
    ("libXi.so.6", "libxi6"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
];

/// The scale that the window was given, and the room it has: `points` is the screen's size in points, None where the
/// system does not tell.
pub fn scale(pixels_per_point: f32, points: Option<[f32; 2]>) -> Item {
    const ID: &str = "scale";
    const TITLE: &str = "Display scale";
    let mut found = format!("{pixels_per_point:.2} pixels per point");
    if let Some([width, height]) = points {
        found += &format!(", {width:.0} x {height:.0} points");
        if width < LEAST_POINTS[0] || height < LEAST_POINTS[1] {
            let fix = format!(
                "the window wants {:.0} x {:.0} points: lower the scale in Settings, or the system's",
                LEAST_POINTS[0], LEAST_POINTS[1]
            );
            return Item::limited(ID, TITLE, found, fix);
        }
    }
    Item::fine(ID, TITLE, found)
}

/// What the layout is made for.
const LEAST_POINTS: [f32; 2] = [1280.0, 720.0];

/// The scale that a window will get on X11, as winit finds it: a variable, else the resource `Xft.dpi` over 96.
fn x11_scale() -> Option<f32> {
    if let Some(scale) = std::env::var("WINIT_X11_SCALE_FACTOR").ok().and_then(|text| text.parse().ok()) {
        return Some(scale);
    }
    let output = std::process::Command::new("xrdb").arg("-query").stderr(std::process::Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let dpi: f32 = text.lines().find_map(|line| line.strip_prefix("Xft.dpi:")?.trim().parse().ok())?;
    Some(dpi / 96.0)
}

pub fn item() -> Item {
    let connection = match display_connection() {
        Ok(connection) => connection,
        Err(why) => {
            return Item::limited(
                ID,
                TITLE,
                why,
                "log in to a desktop, or use `ssh -X`; every terminal command works without one",
            );
        }
    };
    if let Some(fix) = missing_libraries() {
        return Item::limited(ID, TITLE, format!("{connection}, but the window's system libraries are missing"), fix);
    }
    match x11_scale() {
        Some(scale) if connection.starts_with("X11") => {
            Item::fine(ID, TITLE, format!("{connection}, scale {scale:.2}"))
        }
        _ => Item::fine(ID, TITLE, connection),
    }
}

/// How to get the libraries that the window would not find; None where all are there.
pub fn missing_libraries() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let missing: Vec<&str> =
        LIBRARIES.iter().filter(|(file, _)| !library_exists(file)).map(|(_, package)| *package).collect();
    (!missing.is_empty()).then(|| format!("Debian, Ubuntu: sudo apt-get install {}", missing.join(" ")))
}

/// True where the window would open on X11 and the library is missing that winit panics without.
pub fn keyboard_is_missing(connection: &str) -> bool {
    cfg!(target_os = "linux") && connection.starts_with("X11") && !library_exists("libxkbcommon-x11.so.0")
}

/// Looks where the dynamic loader looks, without opening anything.
fn library_exists(file: &str) -> bool {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let mut folders: Vec<std::path::PathBuf> =
        std::env::var_os("LD_LIBRARY_PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    for base in ["/usr/lib", "/lib", "/usr/local/lib", "/usr/lib64", "/lib64"] {
        folders.push(base.into());
        folders.push(std::path::Path::new(base).join(&triplet));
    }
    // NixOS and other systems without these folders are not judged.
    folders.iter().any(|folder| folder.join(file).exists()) || !std::path::Path::new("/usr/lib").is_dir()
}
