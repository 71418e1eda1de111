//! A value on its way.

/// A value that is computed elsewhere. The last one stays visible while the next is on its way.
#[derive(Clone, Debug, Default)]
pub enum Loadable<T> {
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

impl<T> Loadable<T> {
    /// The newest value there is, which may be of the run before.
    pub fn value(&self) -> Option<&T> {
        match self {
            Loadable::Empty => None,
            Loadable::Pending { previous } | Loadable::Failed { previous, .. } => previous.as_ref(),
            Loadable::Ready(value) => Some(value),
        }
    }

    pub fn is_pending(&self) -> bool {
        matches!(self, Loadable::Pending { .. })
    }

    fn take(&mut self) -> Option<T> {
        match std::mem::take(self) {
            Loadable::Empty => None,
            Loadable::Pending { previous } | Loadable::Failed { previous, .. } => previous,
            Loadable::Ready(value) => Some(value),
        }
    }

    /// A new computation began.
    pub fn begin(&mut self) {
        *self = Loadable::Pending { previous: self.take() };
    }

    /// It failed; the old value stays.
    pub fn fail(&mut self, message: impl Into<String>) {
        *self = Loadable::Failed { message: message.into(), previous: self.take() };
    }

    /// It ended without a value.
    pub fn end(&mut self) {
        if self.is_pending() {
            *self = self.take().map_or(Loadable::Empty, Loadable::Ready);
        }
    }
}
