//! Host threads that help with one launch after the other.
//!
//! A helper that the system starts only when the work is done is not waited for: where other programs keep the cores
//! busy that takes milliseconds, more than many launches do. Helpers stay for a while after their work, because making a
//! thread takes longer than a small launch does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long a helper waits for the next launch.
const KEEP: Duration = Duration::from_secs(5);
/// How long it is ready at once: waking up takes longer, launches often follow each other, and between two of them the
/// results of one are summed up and the next is made ready.
const READY: Duration = Duration::from_micros(60);
/// How long a launch waits for its last helper before it sleeps.
const AWAKE: Duration = Duration::from_micros(20);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Looks at something for a short while; false when it does not come true.
fn within(time: Duration, come: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        for _ in 0..32 {
            if come() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.elapsed() > time {
            return false;
        }
    }
}

/// Lets helpers in while the work goes on.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    left: Condvar,
    /// Nobody is inside.
    empty: AtomicBool,
}

#[derive(Default)]
struct State {
    closed: bool,
    inside: usize,
    panicked: bool,
    /// Who closed it sleeps until all are out.
    awaited: bool,
}

impl Gate {
    /// False when the work is over.
    fn enter(&self) -> bool {
        let mut state = lock(&self.state);
        state.inside += usize::from(!state.closed);
        self.empty.store(state.inside == 0, Ordering::Release);
        !state.closed
    }

    fn leave(&self, panicked: bool) {
        let mut state = lock(&self.state);
        state.inside -= 1;
        state.panicked |= panicked;
        let (empty, awaited) = (state.inside == 0, state.awaited);
        // First: who sees that all are out asks for the state, and would have to sleep for it.
        drop(state);
        if empty {
            self.empty.store(true, Ordering::Release);
        }
        if awaited {
            self.left.notify_all();
        }
    }

    /// Lets nobody in any more and waits until all are out. True when one of them panicked.
    fn close(&self) -> bool {
        let mut state = lock(&self.state);
        state.closed = true;
        if state.inside > 0 {
            drop(state);
            within(AWAKE, || self.empty.load(Ordering::Acquire));
            state = lock(&self.state);
        }
        while state.inside > 0 {
            state.awaited = true;
            state = self.left.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.panicked
    }
}

/// Work that a helper may do while the gate is open.
struct Task(*const (dyn Fn() + Sync));

// SAFETY: what it points to may be shared between threads.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    /// Only inside the gate.
    unsafe fn run(&self) {
        // SAFETY: as the caller says: `work_together` keeps the work alive until the gate is closed.
        unsafe { (*self.0)() }
    }
}

/// What a helper is to do.
struct Order {
    task: Task,
    gate: Arc<Gate>,
}

/// What is in a seat.
#[derive(Default)]
struct Call {
    order: Option<Order>,
    /// The helper sleeps. Ringing costs as much as all else of a call, also where nobody hears it.
    asleep: bool,
}

/// Where a helper waits for orders.
#[derive(Default)]
struct Seat {
    call: Mutex<Call>,
    /// There is an order.
    called: AtomicBool,
    bell: Condvar,
}

/// Seats of helpers that have nothing to do. Whoever takes one out gives it an order.
static IDLE: Mutex<Vec<Arc<Seat>>> = Mutex::new(Vec::new());

impl Seat {
    fn give(&self, order: Order) {
        let mut call = lock(&self.call);
        call.order = Some(order);
        let asleep = call.asleep;
        drop(call);
        self.called.store(true, Ordering::Release);
        if asleep {
            self.bell.notify_one();
        }
    }

    /// The next order; None when none came for long.
    fn next(self: &Arc<Seat>) -> Option<Order> {
        within(READY, || self.called.load(Ordering::Acquire));
        let until = Instant::now() + KEEP;
        let mut staying = true;
        let mut call = lock(&self.call);
        loop {
            if let Some(order) = call.order.take() {
                self.called.store(false, Ordering::Relaxed);
                return Some(order);
            }
            let left = until.saturating_duration_since(Instant::now());
            if staying && left.is_zero() {
                drop(call);
                let mut idle = lock(&IDLE);
                if let Some(own) = idle.iter().position(|seat| Arc::ptr_eq(seat, self)) {
                    idle.swap_remove(own);
                    return None;
                }
                // Somebody has the seat already, so an order will come.
                drop(idle);
                staying = false;
                call = lock(&self.call);
                continue;
            }
            let wait = if staying { left } else { KEEP };
            call.asleep = true;
            call = self.bell.wait_timeout(call, wait).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            call.asleep = false;
        }
    }

    /// A helper's life.
    fn serve(self: Arc<Seat>, first: Order) {
        let mut next = Some(first);
        while let Some(Order { task, gate }) = next {
            let entered = gate.enter();
            // SAFETY: inside the gate.
            let done = !entered || catch_unwind(AssertUnwindSafe(|| unsafe { task.run() })).is_ok();
            // Before the launch goes on, for the next one may come at once.
            lock(&IDLE).push(Arc::clone(&self));
            if entered {
                gate.leave(!done);
            }
            drop(gate);
            next = self.next();
        }
    }
}

/// Does `work` on this thread and on up to `helpers` others at the same time; calls `missing` for each that the system
/// refuses. False when one of them panicked.
pub fn work_together(helpers: usize, work: &(dyn Fn() + Sync), missing: impl Fn()) -> bool {
    let gate = Arc::new(Gate::default());
    for _ in 0..helpers {
        // SAFETY: only the lifetime changes; the pointer is used inside the gate only, and this function does not return
        // before the gate is closed.
        let task =
            Task(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync)>(work) });
        let order = Order { task, gate: Arc::clone(&gate) };
        let waiting = lock(&IDLE).pop();
        if let Some(seat) = waiting {
            seat.give(order);
            continue;
        }
        let seat = Arc::new(Seat::default());
        let helper = std::thread::Builder::new().name("emulator".to_owned()).spawn(move || seat.serve(order));
        if helper.is_err() {
            missing();
        }
    }
    let own = catch_unwind(AssertUnwindSafe(work));
    !gate.close() && own.is_ok()
}
