//! Half precision, bfloat16 and FP8.

use super::{Family, Kind};

const HALF: &str = "cuda_fp16.h";
const BF16: &str = "cuda_bf16.h";
const FP8: &str = "cuda_fp8.h";

pub(super) const FAMILIES: &[Family] = &[
    Family {
        kind: Kind::Type,
        section: "CUDA Math API, Half Precision Intrinsics",
        header: HALF,
        rows: &[
            ("half", "struct half", "IEEE binary16: 11 bits of precision, at most 65504."),
            ("half2", "struct half2 { half x, y; }", "Two halves in 32 bits: one instruction works on both."),
            ("__half", "struct __half", "The same as half."),
            ("__half2", "struct __half2 { __half x, y; }", "The same as half2."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "CUDA Math API, Half Precision Conversion and Data Movement",
        header: HALF,
        rows: &[
            ("__float2half", "__half __float2half(float a)", "Nearest half, ties to even."),
            ("__float2half_rn", "__half __float2half_rn(float a)", "The same as __float2half."),
            ("__float2half_rz", "__half __float2half_rz(float a)", "Half rounded towards 0."),
            ("__half2float", "float __half2float(__half a)", "The same number as a float."),
            ("__float2half2_rn", "__half2 __float2half2_rn(float a)", "The same number in both places."),
            (
                "__floats2half2_rn",
                "__half2 __floats2half2_rn(float a, float b)",
                "Two floats rounded into one half2, in one instruction.",
            ),
            ("__float22half2_rn", "__half2 __float22half2_rn(float2 a)", "A float2 rounded into a half2."),
            ("__half22float2", "float2 __half22float2(__half2 a)", "A half2 as a float2."),
            ("__half2half2", "__half2 __half2half2(__half a)", "One half in both places."),
            (
                "__halves2half2",
                "__half2 __halves2half2(__half a, __half b)",
                "Two halves as one half2, a in the low place.",
            ),
            ("__low2half", "__half __low2half(__half2 a)", "The half in the low place."),
            ("__high2half", "__half __high2half(__half2 a)", "The half in the high place."),
            ("__low2float", "float __low2float(__half2 a)", "The low half as a float."),
            ("__high2float", "float __high2float(__half2 a)", "The high half as a float."),
            ("__lowhigh2highlow", "__half2 __lowhigh2highlow(__half2 a)", "Both halves exchanged."),
            ("__int2half_rn", "__half __int2half_rn(int i)", "Nearest half; infinity beyond 65504."),
            ("__half2int_rn", "int __half2int_rn(__half h)", "Nearest int, ties to even."),
            ("__half_as_ushort", "unsigned short __half_as_ushort(__half h)", "The bits of a half."),
            ("__ushort_as_half", "__half __ushort_as_half(unsigned short i)", "16 bits as a half."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "CUDA Math API, Half Arithmetic Functions",
        header: HALF,
        rows: &[
            ("__hadd2", "__half2 __hadd2(__half2 a, __half2 b)", "Two additions of halves in one instruction."),
            ("__hsub", "__half __hsub(__half a, __half b)", "Subtraction of halves."),
            ("__hsub2", "__half2 __hsub2(__half2 a, __half2 b)", "Two subtractions of halves in one instruction."),
            ("__hmul", "__half __hmul(__half a, __half b)", "Multiplication of halves."),
            ("__hmul2", "__half2 __hmul2(__half2 a, __half2 b)", "Two multiplications of halves in one instruction."),
            ("__hfma", "__half __hfma(__half a, __half b, __half c)", "a * b + c of halves, rounded once."),
            (
                "__hfma2",
                "__half2 __hfma2(__half2 a, __half2 b, __half2 c)",
                "Two multiply-adds of halves in one instruction; the sum is kept in half, so long sums lose bits.",
            ),
            (
                "__hfma2_relu",
                "__half2 __hfma2_relu(__half2 a, __half2 b, __half2 c)",
                "As __hfma2, with negative results made 0.",
            ),
            ("__hdiv", "__half __hdiv(__half a, __half b)", "Division of halves."),
            ("__hneg", "__half __hneg(__half a)", "The number with its sign changed."),
            ("__habs", "__half __habs(__half a)", "Absolute value."),
            ("__habs2", "__half2 __habs2(__half2 a)", "Absolute values of both."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "CUDA Math API, Half Comparison Functions",
        header: HALF,
        rows: &[
            ("__hmax", "__half __hmax(__half a, __half b)", "The greater; of a NaN and a number, the number."),
            ("__hmin", "__half __hmin(__half a, __half b)", "The lesser; of a NaN and a number, the number."),
            ("__hmax2", "__half2 __hmax2(__half2 a, __half2 b)", "The greater of each pair."),
            ("__hmin2", "__half2 __hmin2(__half2 a, __half2 b)", "The lesser of each pair."),
            ("__hgt", "bool __hgt(__half a, __half b)", "a > b."),
            ("__hlt", "bool __hlt(__half a, __half b)", "a < b."),
            ("__heq", "bool __heq(__half a, __half b)", "a == b; false with a NaN."),
            ("__hisnan", "bool __hisnan(__half a)", "True for a NaN."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "CUDA Math API, Half Math Functions",
        header: HALF,
        rows: &[
            ("hexp", "__half hexp(__half a)", "e to the a."),
            ("h2exp", "__half2 h2exp(__half2 a)", "e to each of both."),
            ("hexp2", "__half hexp2(__half a)", "2 to the a."),
            ("hlog", "__half hlog(__half a)", "Natural logarithm."),
            ("hsqrt", "__half hsqrt(__half a)", "Square root."),
            ("hrsqrt", "__half hrsqrt(__half a)", "1 / sqrt(a)."),
            ("h2rsqrt", "__half2 h2rsqrt(__half2 a)", "1 / sqrt of each of both."),
            ("hrcp", "__half hrcp(__half a)", "1 / a."),
        ],
    },
    Family {
        kind: Kind::Type,
        section: "CUDA Math API, Bfloat16 Precision Intrinsics",
        header: BF16,
        rows: &[
            ("__nv_bfloat16", "struct __nv_bfloat16", "The upper half of a float: its range, 8 bits of precision."),
            ("__nv_bfloat162", "struct __nv_bfloat162 { __nv_bfloat16 x, y; }", "Two bfloat16 in 32 bits."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "CUDA Math API, Bfloat16 Precision Conversion and Data Movement",
        header: BF16,
        rows: &[
            ("__float2bfloat16", "__nv_bfloat16 __float2bfloat16(float a)", "Nearest bfloat16, ties to even."),
            ("__bfloat162float", "float __bfloat162float(__nv_bfloat16 a)", "The same number as a float: a shift."),
            (
                "__floats2bfloat162_rn",
                "__nv_bfloat162 __floats2bfloat162_rn(float a, float b)",
                "Two floats rounded into one pair, in one instruction.",
            ),
            ("__bfloat1622float2", "float2 __bfloat1622float2(__nv_bfloat162 a)", "A pair as a float2."),
            (
                "__halves2bfloat162",
                "__nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)",
                "Two bfloat16 as one pair, a in the low place.",
            ),
            ("__bfloat16_as_ushort", "unsigned short __bfloat16_as_ushort(__nv_bfloat16 h)", "The bits of a bfloat16."),
        ],
    },
    Family {
        kind: Kind::Type,
        section: "CUDA Math API, FP8 Intrinsics",
        header: FP8,
        rows: &[
            (
                "__nv_fp8_e4m3",
                "struct __nv_fp8_e4m3",
                "8 bits, 4 of exponent and 3 of fraction: at most 448, no infinity.",
            ),
            (
                "__nv_fp8_e5m2",
                "struct __nv_fp8_e5m2",
                "8 bits, 5 of exponent and 2 of fraction: at most 57344, with infinities.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "CUDA Math API, FP8 Conversion and Data Movement",
        header: FP8,
        rows: &[
            (
                "__nv_cvt_float_to_fp8",
                "__nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t fp8_interpretation)",
                "Nearest FP8 number; __NV_SATFINITE or __NV_NOSAT, __NV_E4M3 or __NV_E5M2.",
            ),
            (
                "__nv_cvt_float2_to_fp8x2",
                "__nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t fp8_interpretation)",
                "Two floats to two FP8 numbers in one instruction.",
            ),
            (
                "__nv_cvt_fp8_to_halfraw",
                "__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t fp8_interpretation)",
                "An FP8 number as a half: exact.",
            ),
        ],
    },
];
