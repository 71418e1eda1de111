//! The pinned wheels of the CUDA compiler: name, platform, size and SHA-256. The only place to change for a new release;
//! `CONTRIBUTING.md`, "A new NVRTC", tells how the numbers are made.

/// Version of every wheel below, and with it of the compiler that the course is tested with.
pub const VERSION: &str = "13.5.37";

/// A package of the Python index that holds a part of the CUDA toolkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Package {
    /// libnvrtc and its builtins.
    Nvrtc,
    /// `cuda_fp16.h`, `cuda_bf16.h`, `cuda_fp8.h`, `cuda_fp4.h`, `mma.h`.
    RuntimeHeaders,
    /// The `crt` folder that `mma.h` includes.
    CrtHeaders,
    /// The SASS disassembler.
    Nvdisasm,
}

impl Package {
    pub const ALL: [Package; 4] = [Package::Nvrtc, Package::RuntimeHeaders, Package::CrtHeaders, Package::Nvdisasm];

    /// Name in the Python index.
    pub fn name(self) -> &'static str {
        match self {
            Package::Nvrtc => "nvidia-cuda-nvrtc",
            Package::RuntimeHeaders => "nvidia-cuda-runtime",
            Package::CrtHeaders => "nvidia-cuda-crt",
            Package::Nvdisasm => "nvidia-cuda-nvdisasm",
        }
    }
}

/// A platform that the wheels exist for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    LinuxX86_64,
    LinuxAarch64,
    WindowsX86_64,
}

impl Platform {
    /// This machine's, or None where NVIDIA publishes no compiler (macOS, 32-bit, RISC-V).
    pub fn of_this_machine() -> Option<Platform> {
        match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => Some(Platform::LinuxX86_64),
            ("linux", "aarch64") => Some(Platform::LinuxAarch64),
            ("windows", "x86_64") => Some(Platform::WindowsX86_64),
            _ => None,
        }
    }

    /// What pip calls it.
    pub fn tag(self) -> &'static str {
        match self {
            Platform::LinuxX86_64 => "manylinux2014_x86_64",
            Platform::LinuxAarch64 => "manylinux2014_aarch64",
            Platform::WindowsX86_64 => "win_amd64",
        }
    }
}

/// One file of the index.
#[derive(Clone, Copy, Debug)]
pub struct Wheel {
    pub package: Package,
    pub platform: Platform,
    pub download_bytes: u64,
    /// Lower-case hexadecimal.
    pub sha256: &'static str,
}

const fn wheel(package: Package, platform: Platform, download_bytes: u64, sha256: &'static str) -> Wheel {
    Wheel { package, platform, download_bytes, sha256 }
}

#[rustfmt::skip]
pub const WHEELS: &[Wheel] = &[
    wheel(Package::Nvrtc, Platform::LinuxX86_64, 58_185_930, "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc"),
    wheel(Package::Nvrtc, Platform::LinuxAarch64, 56_419_462, "36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096"),
    wheel(Package::Nvrtc, Platform::WindowsX86_64, 49_248_991, "e8e6c10b251385707ae3abd7b4ee118de6736fd7678d0f0f4eab4d759f679c21"),
    wheel(Package::RuntimeHeaders, Platform::LinuxX86_64, 2_504_024, "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d"),
    wheel(Package::RuntimeHeaders, Platform::LinuxAarch64, 2_520_010, "de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d"),
    wheel(Package::RuntimeHeaders, Platform::WindowsX86_64, 2_780_254, "f225d3fa5ea6bfbb58fc4979ef72375cbe661d9107f0d8a4ff22cc151525e4a9"),
    wheel(Package::CrtHeaders, Platform::LinuxX86_64, 166_163, "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29"),
    wheel(Package::CrtHeaders, Platform::LinuxAarch64, 166_163, "9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0"),
    wheel(Package::CrtHeaders, Platform::WindowsX86_64, 167_183, "30cded98a895e80586b4e233afd4e09e511205c767f1921a28710900a2399818"),
    wheel(Package::Nvdisasm, Platform::LinuxX86_64, 5_170_654, "d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca"),
    wheel(Package::Nvdisasm, Platform::LinuxAarch64, 5_156_579, "a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605"),
    wheel(Package::Nvdisasm, Platform::WindowsX86_64, 5_481_227, "aa42a3ecda8c58ff6ff2f9cbe1fc905d7f797a1ca4071941349fda114bf2a628"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_one_plausible_wheel_per_platform() {
        for package in Package::ALL {
            for platform in [Platform::LinuxX86_64, Platform::LinuxAarch64, Platform::WindowsX86_64] {
                let rows: Vec<_> = WHEELS.iter().filter(|w| w.package == package && w.platform == platform).collect();
                assert_eq!(rows.len(), 1, "{package:?} {platform:?}");
                let hash = rows[0].sha256;
                assert!(hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
                assert!(WHEELS.iter().filter(|w| w.sha256 == hash).count() == 1, "{hash} is listed twice");
            }
        }
    }
}
