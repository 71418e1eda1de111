// lab.cuh: the few names that every kernel of the course may rely on.
//
// NVRTC compiles device code with no standard library: INFINITY, FLT_MAX, uint32_t and std::max do not exist there,
// and pulling in real headers costs more than the kernel itself (a fp16 header doubles the 33 ms of a small
// compilation, <cuda/std/type_traits> takes a second). This file holds plain definitions only, no templates that are
// instantiated by being included, so that `#include "lab.cuh"` is free. It is also valid for nvcc.
#pragma once

#if defined(__CUDACC_RTC__)
// Fixed-width integers, with the widths of CUDA's LP64 and LLP64 models.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#else
#include <cstdint>
#include <cfloat>
#include <climits>
#include <cmath>
#endif

// Limits. Each is written token for token as CUDA's own <cuda/std/cfloat> and <cuda/std/climits> write it: the same macro
// twice is no redefinition, so both headers can be included, in either order. __int_as_float makes infinities and NaN
// without arithmetic.
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.40282346638528859811704183484516925e+38f
#endif
#ifndef FLT_MIN
#define FLT_MIN 1.17549435082228750796873653722224568e-38f
#endif
#ifndef FLT_EPSILON
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7f
#endif
#ifndef DBL_MAX
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#endif
#ifndef INT_MAX
#define INT_MAX 0x7fffffff
#endif
#ifndef INT_MIN
#define INT_MIN (-INT_MAX - 1)
#endif
#ifndef UINT_MAX
#define UINT_MAX 0xffffffff
#endif

// Threads in a warp, on every CUDA GPU so far.
constexpr int WARP_SIZE = 32;
// All 32 lanes: the member mask of __shfl_sync, __ballot_sync and __syncwarp when the whole warp takes part.
constexpr unsigned FULL_MASK = 0xffffffffu;

// How many blocks of `size` cover `count` elements: count / size, rounded up. Both positive.
template <typename T>
__host__ __device__ constexpr T ceil_div(T count, T size)
{
    return (count + size - 1) / size;
}

// The least multiple of `size` that is not below `count`. Both positive.
template <typename T>
__host__ __device__ constexpr T round_up(T count, T size)
{
    return ceil_div(count, size) * size;
}

// min and max exist in NVRTC for numbers; these work in constant expressions too.
template <typename T>
__host__ __device__ constexpr T least(T a, T b)
{
    return b < a ? b : a;
}

template <typename T>
__host__ __device__ constexpr T greatest(T a, T b)
{
    return a < b ? b : a;
}

#if defined(__CUDACC_RTC__) && !defined(LOCKSTEP_NO_TENSOR_MAP)
// The opaque descriptor of a tensor copy (CUtensorMap of cuda.h, which NVRTC does not ship): 128 bytes, aligned to 64.
// Filled on the host by cuTensorMapEncodeTiled, passed as `const __grid_constant__ CUtensorMap`.
// The names are those of cuda.h, which <cuda/barrier> declares too.
struct __align__(64) CUtensorMap_st
{
    unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
static_assert(sizeof(CUtensorMap) == 128, "the driver writes 128 bytes");
#endif
