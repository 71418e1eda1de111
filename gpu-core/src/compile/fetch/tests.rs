//! Installations from a folder of tiny wheels that the test makes: the real pip, no network.

use super::*;
use std::time::Instant;

/// A data folder and an index folder with one wheel of `nvidia-cuda-crt`.
struct Scene {
    root: tempfile::TempDir,
    sha256: String,
}

const MAKE_WHEEL: &str = r#"
import sys, zipfile, hashlib
folder, version, tag = sys.argv[1:]
name = f"{folder}/nvidia_cuda_crt-{version}-py3-none-{tag}.whl"
info = f"nvidia_cuda_crt-{version}.dist-info"
with zipfile.ZipFile(name, "w") as z:
    z.writestr("nvidia/cu13/include/crt/mma.h", "// tiny\n")
    z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: nvidia-cuda-crt\nVersion: {version}\n")
    z.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-{tag}\n")
    z.writestr(f"{info}/RECORD", "")
print(hashlib.sha256(open(name, "rb").read()).hexdigest())
"#;

impl Scene {
    fn new() -> Self {
        Scene::with_wheel_for("any")
    }

    fn with_wheel_for(tag: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("index")).unwrap();
        let made = Command::new("python3")
            .args(["-c", MAKE_WHEEL])
            .arg(root.path().join("index"))
            .args([VERSION, tag])
            .output()
            .expect("this test needs python3 with pip");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let sha256 = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        Scene { root, sha256 }
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data folder")
    }

    /// As a user's pip configuration would: an index that is a folder.
    fn installer(&self, sha256: &str) -> Installer {
        let row = Wheel {
            package: Package::CrtHeaders,
            platform: Platform::LinuxX86_64,
            download_bytes: 100,
            sha256: Box::leak(sha256.to_owned().into_boxed_str()),
        };
        Installer {
            table: Box::leak(Box::new([row])),
            platform: Platform::LinuxX86_64,
            python: None,
            environment: vec![("PIP_NO_INDEX", "1".into()), ("PIP_FIND_LINKS", self.root.path().join("index").into())],
        }
    }

    fn install(&self, installer: &Installer) -> Result<Vec<Progress>, FetchError> {
        let mut seen = Vec::new();
        let what = [Package::CrtHeaders];
        installer.install(&self.data(), &what, &mut |p| seen.push(p), &AtomicBool::new(false))?;
        Ok(seen)
    }

    /// Everything in the toolchain folder but the lock.
    fn left(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.data().join(TOOLCHAIN_FOLDER))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name != ".lock")
            .collect();
        names.sort();
        names
    }
}

#[test]
fn installs_from_the_users_own_index_and_only_once() {
    let scene = Scene::new();
    let installer = scene.installer(&scene.sha256);
    let seen = scene.install(&installer).unwrap();
    assert!(seen.iter().any(|p| p.what.contains("nvidia-cuda-crt") && p.total_bytes == 100), "{seen:?}");
    assert!(seen.iter().all(|p| p.done_bytes <= p.total_bytes), "{seen:?}");
    let folder = package_folder(&scene.data(), Package::CrtHeaders);
    assert_eq!(fs::read_to_string(folder.join("nvidia/cu13/include/crt/mma.h")).unwrap(), "// tiny\n");
    assert_eq!(scene.left(), [format!("nvidia-cuda-crt-{VERSION}")]);
    assert!(scene.install(&installer).unwrap().is_empty(), "nothing to do the second time");
}

/// Python's own platform is one of these at most.
#[test]
fn the_wheel_is_for_the_programs_platform_and_not_for_pythons() {
    for platform in [Platform::LinuxX86_64, Platform::LinuxAarch64, Platform::WindowsX86_64] {
        let scene = Scene::with_wheel_for(platform.tag());
        let row = Wheel { platform, ..scene.installer(&scene.sha256).table[0] };
        let table = Box::leak(Box::new([row]));
        scene.install(&Installer { table, platform, ..scene.installer(&scene.sha256) }).unwrap();
        assert_eq!(scene.left(), [format!("nvidia-cuda-crt-{VERSION}")], "{platform:?}");
    }
}

#[test]
fn a_wheel_with_another_hash_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    let error = scene.install(&scene.installer(&"0".repeat(64))).unwrap_err();
    assert!(matches!(error, FetchError::Hash(_)), "{error}");
    assert!(error.to_string().contains(&scene.sha256), "the message names the hash that came: {error}");
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn an_index_without_the_package_is_a_network_error() {
    let scene = Scene::new();
    let mut installer = scene.installer(&scene.sha256);
    installer.environment[1].1 = scene.root.path().join("nowhere").into();
    let error = scene.install(&installer).unwrap_err();
    assert!(matches!(error, FetchError::Network(_)), "{error}");
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn remains_of_a_killed_installation_are_cleared() {
    let scene = Scene::new();
    let partial = scene.data().join(TOOLCHAIN_FOLDER).join(".partial-dead");
    fs::create_dir_all(partial.join("nvidia")).unwrap();
    scene.install(&scene.installer(&scene.sha256)).unwrap();
    assert!(!partial.exists());
}

#[test]
fn no_python_says_how_to_get_it() {
    let scene = Scene::new();
    let mut installer = scene.installer(&scene.sha256);
    installer.python = Some("/nowhere/python3".into());
    let error = scene.install(&installer).unwrap_err();
    assert!(matches!(error, FetchError::NoPython { .. }), "{error}");
    assert!(error.to_string().contains("apt-get install"), "{error}");
}

#[test]
fn a_data_folder_that_cannot_be_made_is_named() {
    let scene = Scene::new();
    fs::write(scene.data(), "a file where the folder should be").unwrap();
    let error = scene.install(&scene.installer(&scene.sha256)).unwrap_err();
    assert!(matches!(&error, FetchError::Disk { .. }) && error.to_string().contains("data folder"), "{error}");
}

/// A stand-in for Python that passes the version and pip questions.
#[cfg(unix)]
fn script(scene: &Scene, install: &str) -> OsString {
    use std::os::unix::fs::PermissionsExt;
    let path = scene.root.path().join("python-stand-in");
    fs::write(&path, format!("#!/bin/sh\ncase \"$*\" in *install*) {install};; esac\nexit 0\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.into()
}

#[cfg(unix)]
#[test]
fn stopping_ends_a_hanging_download_at_once_and_leaves_nothing() {
    let scene = Scene::new();
    let mut installer = scene.installer(&scene.sha256);
    // Writes half a wheel where pip would, then hangs.
    installer.python = Some(script(&scene, "head -c 40 /dev/zero > \"$TMPDIR/half\"; exec sleep 60"));
    let stop = AtomicBool::new(false);
    let mut seen_half = None;
    let mut progress = |p: Progress| {
        if p.done_bytes == 40 && seen_half.is_none() {
            seen_half = Some(Instant::now());
            stop.store(true, Ordering::Relaxed);
        }
    };
    let error = installer.install(&scene.data(), &[Package::CrtHeaders], &mut progress, &stop).unwrap_err();
    assert!(matches!(error, FetchError::Stopped), "{error}");
    assert!(seen_half.unwrap().elapsed() < Duration::from_secs(2));
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn missing_pip_says_what_to_install() {
    let scene = Scene::new();
    let mut installer = scene.installer(&scene.sha256);
    installer.python = Some(script(&scene, "exit 0"));
    let path = scene.root.path().join("python-stand-in");
    fs::write(&path, "#!/bin/sh\ncase \"$*\" in *pip*|*venv*) exit 1;; esac\nexit 0\n").unwrap();
    let error = scene.install(&installer).unwrap_err();
    assert!(matches!(error, FetchError::NoPip { .. }) && error.to_string().contains("python3-pip"), "{error}");
    assert_eq!(scene.left(), Vec::<String>::new());
}

#[test]
fn pip_failures_are_explained() {
    let explained = |text: &str| explain(text, Path::new("scratch")).to_string();
    assert!(explained("OSError: [Errno 28] No space left on device").contains("free some space"));
    assert!(explained("ERROR: something odd happened\n").ends_with("ERROR: something odd happened"));
    assert!(!explained("").is_empty());
}
