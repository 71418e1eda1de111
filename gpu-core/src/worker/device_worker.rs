//! The device worker's own side: opens one device, keeps it warm, does one task after the other.

use super::jail;
use super::judging;
use super::messages::{FromDevice, ToDevice};
use super::stdio;
use super::wire::{Reader, WireError, Writer};
use crate::device::{DeviceChoice, RunError};
use crate::job::Event;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Written to the captured output after a task; when it comes out at the other end, all that the kernel printed has.
const END_OF_OUTPUT: &[u8] = b"\0lockstep:end\0";

/// Serves until standard input ends.
pub fn serve() -> Result<(), WireError> {
    jail::die_with_parent();
    jail::no_core_dumps();
    let (frames, printed) = stdio::take_output_and_capture()?;
    let sender = Arc::new(Sender { writer: Mutex::new(Writer::start(frames)?), console: Mutex::default() });
    let mut from = Reader::start(std::io::stdin())?;

    let stop = Arc::new(AtomicBool::new(false));
    let (incoming, messages) = channel();
    let stop_flag = stop.clone();
    std::thread::spawn(move || {
        let why = loop {
            let message = match from.receive::<ToDevice>() {
                Ok(message) => message,
                Err(why) => break why,
            };
            match message {
                // Taken at once: the main thread is busy with the task that shall stop.
                ToDevice::Stop => stop_flag.store(true, Ordering::Relaxed),
                other => {
                    // Here and not when the task begins: a stop that follows it at once must not get lost.
                    if matches!(other, ToDevice::Task { .. }) {
                        stop_flag.store(false, Ordering::Relaxed);
                    }
                    if incoming.send(other).is_err() {
                        break WireError::Closed;
                    }
                }
            }
        };
        // The lab is gone. A kernel may be running for ever on the main thread: leave without it.
        super::leave(&why);
    });
    let (drains, drained) = channel();
    let forwarder = sender.clone();
    std::thread::spawn(move || forward_printed(printed, &forwarder, &drains));

    let mut device = None;
    while let Ok(message) = messages.recv() {
        match message {
            ToDevice::List => sender.send(&FromDevice::Devices(judging::list()))?,
            ToDevice::Open { choice, memory_bytes } => {
                if choice == DeviceChoice::Emulator {
                    jail::confine_emulator(memory_bytes);
                }
                let opened = judging::Opened::open(&choice);
                sender.send(&FromDevice::Opened(opened.as_ref().map(judging::Opened::info).map_err(Clone::clone)))?;
                device = opened.ok();
            }
            ToDevice::Task { task, console_bytes } => {
                sender.open_console(console_bytes);
                let result = match &mut device {
                    Some(device) => device.perform(*task, &mut |event| sender.emit(event), &stop),
                    None => Err(RunError::Environment("no device is open in this worker".to_owned())),
                };
                drain(&drained);
                sender.close_console();
                let kind = device.as_ref().map(|device| device.info().kind);
                let sticky = kind.is_some_and(|kind| result.as_ref().is_err_and(|error| error.loses(kind)));
                sender.send(&FromDevice::Done(result))?;
                if sticky {
                    // The context is lost; destructors would only meet more errors.
                    std::process::exit(0);
                }
            }
            ToDevice::Stop => {}
        }
    }
    Ok(())
}

/// The frames' writer, shared by the task and the thread that forwards printed text.
struct Sender<W> {
    writer: Mutex<Writer<W>>,
    console: Mutex<Console>,
}

/// How much printed text may still go out.
#[derive(Default)]
struct Console {
    open: bool,
    left: u64,
    limit: u64,
    dropped_bytes: u64,
    dropped_lines: u64,
}

impl Console {
    /// The part of `text` that may go out.
    fn admit<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        if !self.open {
            return None;
        }
        let end = text.floor_char_boundary(usize::try_from(self.left).unwrap_or(usize::MAX).min(text.len()));
        let (kept, dropped) = text.split_at(end);
        self.left -= kept.len() as u64;
        if !dropped.is_empty() {
            // Nothing after a gap.
            self.left = 0;
            self.dropped_bytes += dropped.len() as u64;
            self.dropped_lines += dropped.matches('\n').count() as u64;
        }
        (!kept.is_empty()).then_some(kept)
    }
}

impl<W: Write> Sender<W> {
    fn send(&self, message: &FromDevice) -> Result<(), WireError> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).send(message)
    }

    /// Sends an event; printed text only up to the limit. A broken pipe shows when the task is done.
    fn emit(&self, event: Event) {
        let event = match event {
            Event::Console(text) => {
                let mut console = self.console.lock().unwrap_or_else(PoisonError::into_inner);
                match console.admit(&text) {
                    Some(kept) => Event::Console(kept.to_owned()),
                    None => return,
                }
            }
            other => other,
        };
        let _ = self.send(&FromDevice::Event(event));
    }

    fn open_console(&self, bytes: u64) {
        *self.console.lock().unwrap_or_else(PoisonError::into_inner) =
            Console { open: true, left: bytes, limit: bytes, dropped_bytes: 0, dropped_lines: 0 };
    }

    fn close_console(&self) {
        let console = std::mem::take(&mut *self.console.lock().unwrap_or_else(PoisonError::into_inner));
        if console.dropped_bytes > 0 {
            let note = format!(
                "\n[output cut after {} kB; {} bytes in {} more lines were printed]\n",
                console.limit / 1024,
                console.dropped_bytes,
                console.dropped_lines
            );
            let _ = self.send(&FromDevice::Event(Event::Console(note)));
        }
    }
}

/// Turns what arrives at the captured output into console events.
fn forward_printed<W: Write>(mut printed: impl Read, sender: &Sender<W>, drained: &std::sync::mpsc::Sender<()>) {
    let mut pending = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while let Ok(bytes @ 1..) = printed.read(&mut buffer) {
        pending.extend_from_slice(&buffer[..bytes]);
        let end = pending.windows(END_OF_OUTPUT.len()).position(|window| window == END_OF_OUTPUT);
        // Up to the mark, or else whole lines, or else whatever is long enough not to wait for its end.
        let take = match end {
            Some(end) => end,
            None if pending.len() > buffer.len() => pending.len() - END_OF_OUTPUT.len(),
            None => pending.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1),
        };
        if take > 0 {
            sender.emit(Event::Console(String::from_utf8_lossy(&pending[..take]).into_owned()));
        }
        pending.drain(..take);
        if end.is_some() {
            pending.drain(..END_OF_OUTPUT.len());
            let _ = drained.send(());
        }
    }
}

/// Waits until all that was printed has been forwarded.
fn drain(drained: &Receiver<()>) {
    stdio::flush_c_output();
    while drained.try_recv().is_ok() {}
    let mut output = std::io::stdout();
    if output.write_all(END_OF_OUTPUT).and_then(|()| output.flush()).is_ok() {
        let _ = drained.recv_timeout(Duration::from_secs(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_text_is_cut_once_and_counted() {
        let mut console = Console { open: true, left: 5, limit: 5, ..Console::default() };
        assert_eq!(console.admit("abc"), Some("abc"));
        assert_eq!(console.admit("d\u{20ac}\n"), Some("d"), "never half a character");
        assert_eq!(console.admit("x\ny\n"), None);
        assert_eq!((console.dropped_bytes, console.dropped_lines), (8, 3));
    }

    #[test]
    fn printed_text_comes_before_the_end_mark() {
        let mut bytes = Vec::new();
        let writer = Writer::start(&mut bytes).unwrap();
        let sender = Sender { writer: Mutex::new(writer), console: Mutex::default() };
        sender.open_console(1000);
        let (drained, wait) = channel();
        let printed = [b"one\ntwo".as_slice(), END_OF_OUTPUT].concat();
        forward_printed(&printed[..], &sender, &drained);
        assert!(wait.try_recv().is_ok());
        let mut reader = Reader::start(&bytes[..]).unwrap();
        let FromDevice::Event(Event::Console(text)) = reader.receive().unwrap() else { panic!("no text") };
        assert_eq!(text, "one\ntwo");
    }
}
