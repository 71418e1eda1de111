//! A value on its way.

/// A value that is computed elsewhere. The last one stays visible while the next is on its way.
#[derive(Clone, Debug, Default)]
pub enum Slot<T> {
    #[default]
    Empty,
    Pending {
        previous: Option<T>,
    },
    Ready(T),
    Failed {
        message: String,
        previous: Option<T>,
    },
}

impl<T> Slot<T> {
    /// The newest value there is, which may be of the run before.
    pub fn value(&self) -> Option<&T> {
        match self {
            Slot::Empty => None,
            Slot::Pending { previous } | Slot::Failed { previous, .. } => previous.as_ref(),
            Slot::Ready(value) => Some(value),
        }
    }

    pub fn is_pending(&self) -> bool {
        matches!(self, Slot::Pending { .. })
    }

    fn take(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Slot::Empty => None,
            Slot::Pending { previous } | Slot::Failed { previous, .. } => previous,
            Slot::Ready(value) => Some(value),
        }
    }

    /// A new computation began.
    pub fn begin(&mut self) {
        *self = Slot::Pending { previous: self.take() };
    }

    /// It failed; the old value stays.
    pub fn fail(&mut self, message: impl Into<String>) {
        *self = Slot::Failed { message: message.into(), previous: self.take() };
    }

    /// It ended without a value.
    pub fn end(&mut self) {
        if self.is_pending() {
            *self = self.take().map_or(Slot::Empty, Slot::Ready);
        }
    }
}
