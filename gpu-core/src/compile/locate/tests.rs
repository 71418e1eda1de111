//! Each test lays out a machine in a scratch folder and asks where NVRTC is.

use super::*;
use std::fs;

struct Machine {
    root: tempfile::TempDir,
    surroundings: Surroundings,
}

impl Machine {
    fn new(os: Os, machine: &'static str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let surroundings =
            Surroundings { os, machine, root: root.path().to_owned(), variables: BTreeMap::new(), ask_python: false };
        Machine { root, surroundings }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    fn set(&mut self, variable: &str, relative: &str) {
        let value = self.path(relative).into_os_string();
        self.surroundings.variables.insert(variable.into(), value);
    }

    fn library(&self, relative: &str, machine: &str) -> PathBuf {
        let mut head = match self.surroundings.os {
            Os::Elf => b"\x7fELF".to_vec(),
            Os::Windows => b"MZ\x90\x00".to_vec(),
        };
        head.resize(64, 0);
        head[18] = if machine == "aarch64" { 183 } else { 62 };
        self.file(relative, &head)
    }

    fn file(&self, relative: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn locate(&self) -> Result<Toolchain, NotFound> {
        self.surroundings.locate(None, &self.path("data"))
    }
}

#[test]
fn nothing_installed_says_what_to_do_and_where_it_looked() {
    let mut machine = Machine::new(Os::Elf, "x86_64");
    fs::create_dir_all(machine.path("usr/local/cuda/lib64")).unwrap();
    machine.set("HOME", "home");
    let error = machine.locate().unwrap_err();
    assert!(error.to_string().contains("lockstep setup"), "{error}");
    assert!(error.searched.iter().any(|place| place.contains("usr/local/cuda")), "{:?}", error.searched);
}

#[test]
fn order_is_setting_then_data_folder_then_toolkit_then_python() {
    let mut machine = Machine::new(Os::Elf, "x86_64");
    machine.set("VIRTUAL_ENV", "venv");
    let python = machine.library("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "x86_64");
    assert_eq!(machine.locate().unwrap().nvrtc, python);
    assert_eq!(machine.locate().unwrap().origin, "Python packages");

    let toolkit = machine.library("usr/local/cuda-13.1/lib64/libnvrtc.so.13", "x86_64");
    assert_eq!(machine.locate().unwrap().nvrtc, toolkit);

    let own = machine.library("data/toolchain/nvidia-cuda-nvrtc-13.5.37/nvidia/cu13/lib/libnvrtc.so.13", "x86_64");
    assert_eq!(machine.locate().unwrap().nvrtc, own);

    let named = machine.library("elsewhere/libnvrtc.so.13", "x86_64");
    machine.set(NVRTC_VARIABLE, "elsewhere");
    assert_eq!(machine.locate().unwrap().nvrtc, named);
    machine.set(NVRTC_VARIABLE, "elsewhere/libnvrtc.so.13");
    assert_eq!(machine.locate().unwrap().nvrtc, named);

    let setting = machine.surroundings.locate(Some(&machine.path("usr/local/cuda-13.1")), &machine.path("data"));
    assert_eq!(setting.unwrap().nvrtc, toolkit, "a toolkit's root is accepted as the setting");
}

#[test]
fn a_wrong_setting_is_reported_and_not_skipped() {
    let mut machine = Machine::new(Os::Elf, "x86_64");
    machine.library("usr/local/cuda/lib64/libnvrtc.so.13", "x86_64");
    machine.set(NVRTC_VARIABLE, "nowhere");
    let error = machine.locate().unwrap_err().to_string();
    assert!(error.contains(NVRTC_VARIABLE) && error.ends_with("nowhere"), "{error}");
}

#[test]
fn newest_toolkit_and_newest_library_win() {
    let machine = Machine::new(Os::Elf, "x86_64");
    machine.library("usr/local/cuda-12.8/lib64/libnvrtc.so.12", "x86_64");
    machine.library("usr/local/cuda-13.10/lib64/libnvrtc.so.13", "x86_64");
    machine.library("usr/local/cuda-13.9/lib64/libnvrtc.so.13", "x86_64");
    assert!(machine.locate().unwrap().nvrtc.ends_with("cuda-13.10/lib64/libnvrtc.so.13"));
    machine.library("usr/local/cuda/lib64/libnvrtc.so", "x86_64");
    machine.library("usr/local/cuda/lib64/libnvrtc.so.13", "x86_64");
    machine.library("usr/local/cuda/lib64/libnvrtc.so.13.0.88", "x86_64");
    machine.library("usr/local/cuda/lib64/libnvrtc.alt.so.13", "x86_64");
    machine.library("usr/local/cuda/lib64/libnvrtc_static.a", "x86_64");
    assert!(machine.locate().unwrap().nvrtc.ends_with("cuda/lib64/libnvrtc.so.13.0.88"));
}

#[test]
fn a_library_of_another_processor_is_passed_over() {
    let machine = Machine::new(Os::Elf, "aarch64");
    machine.library("usr/local/cuda/lib64/libnvrtc.so.13", "x86_64");
    assert!(machine.locate().is_err());
    let right = machine.library("usr/local/cuda/targets/sbsa-linux/lib/libnvrtc.so.13", "aarch64");
    assert_eq!(machine.locate().unwrap().nvrtc, right);
}

#[test]
fn broken_files_and_half_installs_are_passed_over() {
    let machine = Machine::new(Os::Elf, "x86_64");
    machine.file("usr/local/cuda/lib64/libnvrtc.so.13", b"");
    machine.file("opt/cuda/lib64/libnvrtc.so.13", b"<html>not found</html>");
    machine.library("data/toolchain/.partial-1/nvidia/cu13/lib/libnvrtc.so.13", "x86_64");
    fs::create_dir_all(machine.path("usr/lib64/libnvrtc.so.13")).unwrap();
    assert!(machine.locate().is_err());
}

#[test]
fn companions_are_found_beside_the_library_and_in_fetched_packages() {
    let machine = Machine::new(Os::Elf, "x86_64");
    machine.library("usr/local/cuda/lib64/libnvrtc.so.13", "x86_64");
    let builtins = machine.library("usr/local/cuda/lib64/libnvrtc-builtins.so.13.0", "x86_64");
    let found = machine.locate().unwrap();
    assert_eq!(found.builtins, Some(builtins));
    assert!(found.include_dirs.is_empty());
    machine.file("data/toolchain/nvidia-cuda-runtime-13.5.37/nvidia/cu13/include/cuda_fp16.h", b"//");
    machine.file("data/toolchain/nvidia-cuda-crt-13.5.37/nvidia/cu13/include/crt/mma.h", b"//");
    let tool = machine.file("data/toolchain/nvidia-cuda-nvdisasm-13.5.37/nvidia/cu13/bin/nvdisasm", b"#!");
    let found = machine.locate().unwrap();
    assert_eq!(found.include_dirs.len(), 2, "{:?}", found.include_dirs);
    assert_eq!(found.nvdisasm, Some(tool));
    let own = machine.file("usr/local/cuda/include/cuda_fp16.h", b"//");
    assert_eq!(machine.locate().unwrap().include_dirs[0], own.parent().unwrap(), "the library's own headers first");
    let target = machine.file("usr/local/cuda/include/cccl/nv/target", b"//");
    let cccl = target.parent().and_then(|nv| nv.parent()).unwrap();
    assert_eq!(machine.locate().unwrap().include_dirs.last().unwrap(), cccl, "where CUDA 13 keeps cuda::std and CUB");
}

#[test]
fn a_shared_data_folder_is_a_setting_with_all_its_packages() {
    let mut machine = Machine::new(Os::Elf, "x86_64");
    let package = |name: &str| format!("shared/toolchain/nvidia-cuda-{name}-13.5.37/nvidia/cu13");
    let nvrtc = machine.library(&format!("{}/lib/libnvrtc.so.13", package("nvrtc")), "x86_64");
    machine.file(&format!("{}/include/cuda_fp16.h", package("runtime")), b"//");
    let tool = machine.file(&format!("{}/bin/nvdisasm", package("nvdisasm")), b"#!");
    let inside = format!("{}/lib", package("nvrtc"));
    for setting in ["shared", inside.as_str()] {
        machine.set(NVRTC_VARIABLE, setting);
        let found = machine.locate().unwrap();
        assert_eq!((found.nvrtc, found.nvdisasm), (nvrtc.clone(), Some(tool.clone())), "{setting}");
        assert_eq!(found.include_dirs.len(), 1, "{setting}");
    }
}

#[test]
fn the_systems_include_folder_is_never_used() {
    let machine = Machine::new(Os::Elf, "x86_64");
    machine.library("usr/lib/x86_64-linux-gnu/libnvrtc.so.12", "x86_64");
    machine.file("usr/include/cuda_fp16.h", b"//");
    assert!(machine.locate().unwrap().include_dirs.is_empty());
}

#[test]
fn windows_names_are_understood() {
    let machine = Machine::new(Os::Windows, "x86_64");
    let folder = "data/toolchain/nvidia-cuda-nvrtc-13.5.37/nvidia/cu13/bin/x86_64";
    let nvrtc = machine.library(&format!("{folder}/nvrtc64_130_0.dll"), "x86_64");
    machine.library(&format!("{folder}/nvrtc64_130_0.alt.dll"), "x86_64");
    let builtins = machine.library(&format!("{folder}/nvrtc-builtins64_135.dll"), "x86_64");
    let tool = machine.file("data/toolchain/nvidia-cuda-nvdisasm-13.5.37/nvidia/cu13/bin/nvdisasm.exe", b"MZ");
    let found = machine.locate().unwrap();
    assert_eq!((found.nvrtc, found.builtins, found.nvdisasm), (nvrtc, Some(builtins), Some(tool)));

    let machine = Machine::new(Os::Windows, "x86_64");
    let base = "Program Files/NVIDIA GPU Computing Toolkit/CUDA";
    machine.library(&format!("{base}/v12.9/bin/nvrtc64_120_0.dll"), "x86_64");
    let newest = machine.library(&format!("{base}/v13.0/bin/x64/nvrtc64_130_0.dll"), "x86_64");
    assert_eq!(machine.locate().unwrap().nvrtc, newest);
}

#[test]
fn the_layout_of_cuda_12_wheels_is_understood() {
    let mut machine = Machine::new(Os::Elf, "x86_64");
    machine.set("HOME", "home");
    let site = "home/.local/lib/python3.10/site-packages/nvidia";
    let nvrtc = machine.library(&format!("{site}/cuda_nvrtc/lib/libnvrtc.so.12"), "x86_64");
    let headers = machine.file(&format!("{site}/cuda_runtime/include/cuda_fp16.h"), b"//");
    let found = machine.locate().unwrap();
    assert_eq!(found.nvrtc, nvrtc);
    assert_eq!(found.include_dirs, [headers.parent().unwrap()]);
}
