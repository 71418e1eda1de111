//! Theme tokens: the only place with colours.
