//! Functions of a warp.

use super::{Family, Kind};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        kind: Kind::Function,
        section: "Warp Vote Functions",
        header: "",
        rows: &[
            (
                "__all_sync",
                "int __all_sync(unsigned mask, int predicate)",
                "Nonzero when the predicate holds in every lane of the mask.",
            ),
            (
                "__any_sync",
                "int __any_sync(unsigned mask, int predicate)",
                "Nonzero when the predicate holds in any lane of the mask.",
            ),
            (
                "__ballot_sync",
                "unsigned __ballot_sync(unsigned mask, int predicate)",
                "One bit for each lane of the mask in which the predicate holds.",
            ),
            (
                "__activemask",
                "unsigned __activemask()",
                "Lanes that run this instruction together just now: no promise about the next one, so no source of masks.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Warp Match Functions",
        header: "",
        rows: &[
            (
                "__match_any_sync",
                "unsigned __match_any_sync(unsigned mask, T value)",
                "Lanes of the mask that hold the same value as this one.",
            ),
            (
                "__match_all_sync",
                "unsigned __match_all_sync(unsigned mask, T value, int* pred)",
                "The mask when all its lanes hold the same value, else 0; pred says which.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Warp Reduce Functions",
        header: "",
        rows: &[
            (
                "__reduce_add_sync",
                "unsigned __reduce_add_sync(unsigned mask, unsigned value)",
                "Sum over the lanes of the mask, in one instruction from sm_80 on; integers only.",
            ),
            (
                "__reduce_min_sync",
                "unsigned __reduce_min_sync(unsigned mask, unsigned value)",
                "Least value over the lanes of the mask.",
            ),
            (
                "__reduce_max_sync",
                "unsigned __reduce_max_sync(unsigned mask, unsigned value)",
                "Greatest value over the lanes of the mask.",
            ),
            (
                "__reduce_and_sync",
                "unsigned __reduce_and_sync(unsigned mask, unsigned value)",
                "Bitwise and over the lanes of the mask.",
            ),
            (
                "__reduce_or_sync",
                "unsigned __reduce_or_sync(unsigned mask, unsigned value)",
                "Bitwise or over the lanes of the mask.",
            ),
            (
                "__reduce_xor_sync",
                "unsigned __reduce_xor_sync(unsigned mask, unsigned value)",
                "Bitwise exclusive or over the lanes of the mask.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Warp Shuffle Functions",
        header: "",
        rows: &[
            (
                "__shfl_sync",
                "T __shfl_sync(unsigned mask, T var, int srcLane, int width = warpSize)",
                "The value that lane srcLane holds; that lane must be in the mask and take part.",
            ),
            (
                "__shfl_up_sync",
                "T __shfl_up_sync(unsigned mask, T var, unsigned delta, int width = warpSize)",
                "The value of the lane delta below; the lowest lanes keep their own: for scans.",
            ),
            (
                "__shfl_down_sync",
                "T __shfl_down_sync(unsigned mask, T var, unsigned delta, int width = warpSize)",
                "The value of the lane delta above; the highest lanes keep their own: for reductions into lane 0.",
            ),
            (
                "__shfl_xor_sync",
                "T __shfl_xor_sync(unsigned mask, T var, int laneMask, int width = warpSize)",
                "The value of the lane whose number differs in the bits of laneMask: reductions that every lane learns.",
            ),
        ],
    },
];
