//! Frames between processes: a handshake, then length-prefixed postcard.
//!
//! ```text
//! any text (ssh banners, module systems)  MAGIC  protocol: u32  fingerprint: u64   then frames: length: u32, payload
//! ```
//! Integers are little endian. Both sides send their half of the handshake at once and skip what comes before the
//! magic of the other.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufReader, Read, Write};

/// Starts a conversation. Begins with a byte that is not valid UTF-8, so that no banner contains it.
pub const MAGIC: [u8; 12] = *b"\xf7LOCKSTEP\r\n\x1a";

/// Raise it when the meaning of messages changes while their definition does not.
const PROTOCOL: u32 = 1;

/// Largest frame. The largest honest one is a trace or a cubin.
pub const MAX_FRAME_BYTES: usize = 256 << 20;

/// Text that may come before the handshake, in bytes.
const MAX_BANNER_BYTES: usize = 256 << 10;

/// Files with their text, so that a test can name them.
macro_rules! files {
    ($($path:literal),* $(,)?) => { [$(($path, include_bytes!($path) as &[u8])),*] };
}

/// The files that define what crosses the pipe. postcard does not describe itself, so two builds understand each other
/// only when these are the same. A test follows every type from the messages on and wants its file here.
const MESSAGES: [(&str, &[u8]); 24] = files![
    "../bench_report.rs",
    "../compile/arrays.rs",
    "../compile/build.rs",
    "../compile/calls.rs",
    "../compile/conditions.rs",
    "../compile/declared.rs",
    "../compile/mod.rs",
    "../compile/structs.rs",
    "../compile/unset.rs",
    "../device.rs",
    "../formats/dtype.rs",
    "../formats/layout.rs",
    "../job.rs",
    "../measured.rs",
    "../spec.rs",
    "../spec/directives.rs",
    "../spec/fill.rs",
    "../spec/output.rs",
    "../spec/step.rs",
    "../spec/tensor_map.rs",
    "../spec/view.rs",
    "../verdict.rs",
    "../../emulator/src/report.rs",
    "messages.rs",
];

const FINGERPRINT: u64 = fingerprint(&MESSAGES);

/// FNV-1a over all files, carriage returns left out (a checkout on Windows may add them).
const fn fingerprint(files: &[(&str, &[u8])]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut file = 0;
    while file < files.len() {
        let mut at = 0;
        let bytes = files[file].1;
        while at < bytes.len() {
            if bytes[at] != b'\r' {
                hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
            }
            at += 1;
        }
        file += 1;
    }
    hash
}

/// What can go wrong on a connection.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The other side went away between frames.
    #[error("the connection ended")]
    Closed,
    #[error("no Lockstep worker answered; instead came: {0}")]
    NoHandshake(String),
    #[error(
        "the other side runs a different version of Lockstep (protocol {theirs}, this side has {ours}); install the \
         same version on both"
    )]
    Version { theirs: String, ours: String },
    #[error("a message of {0} bytes is longer than the {MAX_FRAME_BYTES} allowed")]
    TooLong(usize),
    #[error("a message cannot be read: {0}; install the same version of Lockstep on both sides")]
    Garbage(String),
    /// Of all that is sent only the path of a file can fail to be encoded.
    #[error(
        "a path is not UTF-8 text, and workers cannot be told of it: keep the data folder (LOCKSTEP_DATA) and the compiler \
         (LOCKSTEP_NVRTC) where all names are"
    )]
    Path,
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
}

/// Sends messages. Not buffered: every message is flushed, the receiver waits for it.
pub struct Writer<W> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Sends our half of the handshake.
    pub fn start(mut to: W) -> Result<Self, WireError> {
        let mut hello = MAGIC.to_vec();
        hello.extend(PROTOCOL.to_le_bytes());
        hello.extend(FINGERPRINT.to_le_bytes());
        to.write_all(&hello)?;
        to.flush()?;
        Ok(Writer { to })
    }

    pub fn send<T: Serialize>(&mut self, message: &T) -> Result<(), WireError> {
        self.send_encoded(&encode(message)?)
    }

    /// Sends what [`encode`] made.
    pub fn send_encoded(&mut self, frame: &[u8]) -> Result<(), WireError> {
        self.to.write_all(frame)?;
        self.to.flush()?;
        Ok(())
    }
}

/// A message as a frame.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, WireError> {
    let mut frame = postcard::to_extend(message, vec![0_u8; 4]).map_err(|_| WireError::Path)?;
    let bytes = frame.len() - 4;
    if bytes > MAX_FRAME_BYTES {
        return Err(WireError::TooLong(bytes));
    }
    frame[..4].copy_from_slice(&(bytes as u32).to_le_bytes());
    Ok(frame)
}

/// Receives messages.
pub struct Reader<R> {
    from: BufReader<R>,
}

impl<R: Read> Reader<R> {
    /// Waits for the other half of the handshake, skipping what comes before it.
    pub fn start(from: R) -> Result<Self, WireError> {
        let mut from = BufReader::new(from);
        let mut banner = Vec::new();
        while !banner.ends_with(&MAGIC) {
            let mut byte = [0];
            let ended = from.read(&mut byte)? == 0;
            if ended && banner.is_empty() {
                return Err(WireError::Closed);
            }
            if ended || banner.len() >= MAX_BANNER_BYTES {
                return Err(WireError::NoHandshake(excerpt(&banner)));
            }
            banner.push(byte[0]);
        }
        let (mut protocol, mut fingerprint) = ([0; 4], [0; 8]);
        from.read_exact(&mut protocol)?;
        from.read_exact(&mut fingerprint)?;
        let theirs = (u32::from_le_bytes(protocol), u64::from_le_bytes(fingerprint));
        if theirs != (PROTOCOL, FINGERPRINT) {
            let show = |(protocol, fingerprint): (u32, u64)| format!("{protocol}-{:06x}", fingerprint & 0xff_ffff);
            return Err(WireError::Version { theirs: show(theirs), ours: show((PROTOCOL, FINGERPRINT)) });
        }
        Ok(Reader { from })
    }

    /// The next message. [`WireError::Closed`] when the other side ended between messages.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<T, WireError> {
        let mut length = [0; 4];
        if self.from.read(&mut length[..1])? == 0 {
            return Err(WireError::Closed);
        }
        self.from.read_exact(&mut length[1..])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_FRAME_BYTES {
            return Err(WireError::TooLong(length));
        }
        // Grow with what really arrives: a forged length must not allocate.
        let mut payload = Vec::new();
        (&mut self.from).take(length as u64).read_to_end(&mut payload)?;
        if payload.len() < length {
            return Err(WireError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        postcard::from_bytes(&payload).map_err(|error| WireError::Garbage(error.to_string()))
    }
}

/// The end of what came instead of a handshake, fit to be shown.
fn excerpt(banner: &[u8]) -> String {
    const SHOWN: usize = 300;
    let tail = &banner[banner.len().saturating_sub(SHOWN)..];
    let text: String = String::from_utf8_lossy(tail).chars().filter(|c| !c.is_control() || *c == '\n').collect();
    format!("`{}`", text.trim())
}

#[cfg(test)]
#[path = "wire/reach.rs"]
mod reach;

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(before: &[u8], messages: &[String]) -> Vec<u8> {
        let mut bytes = before.to_vec();
        let mut writer = Writer::start(&mut bytes).unwrap();
        messages.iter().for_each(|message| writer.send(message).unwrap());
        bytes
    }

    #[test]
    fn messages_survive_a_banner_before_the_handshake() {
        let bytes = conversation(b"Welcome to spark!\nLOCKSTEP\xf7LOCKSTE\n", &["a".into(), "b".repeat(100_000)]);
        let mut reader = Reader::start(&bytes[..]).unwrap();
        assert_eq!(reader.receive::<String>().unwrap(), "a");
        assert_eq!(reader.receive::<String>().unwrap().len(), 100_000);
        assert!(matches!(reader.receive::<String>(), Err(WireError::Closed)));
    }

    #[test]
    fn garbage_is_an_error_that_shows_it() {
        let error = Reader::start(&b"bash: lockstep: command not found\n"[..]).err().unwrap().to_string();
        assert!(error.contains("command not found"), "{error}");
        assert!(matches!(Reader::start(&[][..]), Err(WireError::Closed)));
        let endless = io::repeat(b'x');
        assert!(matches!(Reader::start(endless), Err(WireError::NoHandshake(_))));
    }

    #[test]
    fn another_version_is_told_apart() {
        let mut bytes = conversation(b"", &[]);
        bytes[MAGIC.len()] ^= 1;
        let error = Reader::start(&bytes[..]).err().unwrap();
        assert!(matches!(error, WireError::Version { .. }), "{error}");
        assert!(error.to_string().contains("same version"));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_no_message_can_hold_is_named() {
        use std::os::unix::ffi::OsStrExt;
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"/tmp/\xff")).to_owned();
        let told = encode(&path).unwrap_err().to_string();
        assert!(told.contains("not UTF-8") && told.contains("LOCKSTEP_DATA"), "{told}");
    }

    #[test]
    fn broken_frames_are_errors() {
        let start = conversation(b"", &[]);
        let receive = |frame: &[u8]| {
            let bytes = [&start[..], frame].concat();
            Reader::start(&bytes[..]).unwrap().receive::<String>()
        };
        assert!(matches!(receive(&[255; 4]), Err(WireError::TooLong(_))));
        assert!(matches!(receive(&[9, 0, 0, 0, 1]), Err(WireError::Io(_))));
        assert!(matches!(receive(&[2, 0]), Err(WireError::Io(_))));
        assert!(matches!(receive(&[2, 0, 0, 0, 200, 1]), Err(WireError::Garbage(_))));
        assert!(matches!(receive(&[2, 0, 0, 0, 1, 0xff]), Err(WireError::Garbage(_))), "not UTF-8");
    }
}
