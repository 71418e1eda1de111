// What pasted kernels expect of the C and C++ standard headers, as far as it makes sense in a kernel. Lockstep gives this text
// for <cstdint>, <cmath>, <climits>, <type_traits> and their kin: NVRTC has no standard library. Limits are written token for
// token as <cuda/std/cfloat> and <cuda/std/climits> write them, so that all can be included together.
#ifndef LOCKSTEP_STANDARD
#define LOCKSTEP_STANDARD

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF __int_as_float(0x7f800000)
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
#ifndef DBL_MIN
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#endif
#ifndef DBL_EPSILON
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#endif
#ifndef CHAR_BIT
#define CHAR_BIT 8
#endif
#ifndef SCHAR_MIN
#define SCHAR_MIN (-128)
#endif
#ifndef SCHAR_MAX
#define SCHAR_MAX 127
#endif
#ifndef UCHAR_MAX
#define UCHAR_MAX 255
#endif
#ifndef SHRT_MAX
#define SHRT_MAX 0x7fff
#endif
#ifndef SHRT_MIN
#define SHRT_MIN (-SHRT_MAX - 1)
#endif
#ifndef USHRT_MAX
#define USHRT_MAX 0xffff
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
#ifndef LLONG_MAX
#define LLONG_MAX 0x7fffffffffffffffLL
#endif
#ifndef LLONG_MIN
#define LLONG_MIN (-LLONG_MAX - 1)
#endif
#ifndef ULLONG_MAX
#define ULLONG_MAX 0xffffffffffffffffUL
#endif
#ifndef INT8_MAX
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 0x7fffffffffffffffLL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 0xffffffffffffffffULL
#endif
#ifndef SIZE_MAX
#define SIZE_MAX 0xffffffffffffffffULL
#endif

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef M_PI_2
#define M_PI_2 1.57079632679489661923
#endif
#ifndef M_E
#define M_E 2.7182818284590452354
#endif
#ifndef M_LN2
#define M_LN2 0.69314718055994530942
#endif
#ifndef M_LOG2E
#define M_LOG2E 1.4426950408889634074
#endif
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef M_SQRT1_2
#define M_SQRT1_2 0.70710678118654752440
#endif

namespace std {

using ::ptrdiff_t;
using ::size_t;
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uintptr_t;

using ::abs;
using ::acos;
using ::asin;
using ::atan;
using ::atan2;
using ::cbrt;
using ::ceil;
using ::cos;
using ::cosh;
using ::erf;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::hypot;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::pow;
using ::rint;
using ::round;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::trunc;

template <typename T>
__host__ __device__ constexpr const T& min(const T& a, const T& b)
{
    return b < a ? b : a;
}

template <typename T>
__host__ __device__ constexpr const T& max(const T& a, const T& b)
{
    return a < b ? b : a;
}

template <typename T>
__host__ __device__ constexpr const T& clamp(const T& value, const T& low, const T& high)
{
    return value < low ? low : high < value ? high : value;
}

template <typename T>
__host__ __device__ constexpr void swap(T& a, T& b)
{
    T kept = a;
    a = b;
    b = kept;
}

template <typename T, T Value>
struct integral_constant {
    static constexpr T value = Value;
    typedef T value_type;
    typedef integral_constant type;
    __host__ __device__ constexpr operator T() const { return Value; }
};
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;

template <bool Condition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
    typedef T type;
};
template <bool Condition, typename T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <bool Condition, typename A, typename B>
struct conditional {
    typedef A type;
};
template <typename A, typename B>
struct conditional<false, A, B> {
    typedef B type;
};
template <bool Condition, typename A, typename B>
using conditional_t = typename conditional<Condition, A, B>::type;

template <typename A, typename B>
struct is_same : false_type {};
template <typename A>
struct is_same<A, A> : true_type {};
template <typename A, typename B>
inline constexpr bool is_same_v = is_same<A, B>::value;

template <typename T>
struct remove_const {
    typedef T type;
};
template <typename T>
struct remove_const<const T> {
    typedef T type;
};
template <typename T>
struct remove_volatile {
    typedef T type;
};
template <typename T>
struct remove_volatile<volatile T> {
    typedef T type;
};
template <typename T>
struct remove_cv {
    typedef typename remove_const<typename remove_volatile<T>::type>::type type;
};
template <typename T>
struct remove_reference {
    typedef T type;
};
template <typename T>
struct remove_reference<T&> {
    typedef T type;
};
template <typename T>
struct remove_reference<T&&> {
    typedef T type;
};
template <typename T>
struct remove_pointer {
    typedef T type;
};
template <typename T>
struct remove_pointer<T*> {
    typedef T type;
};
template <typename T>
using remove_const_t = typename remove_const<T>::type;
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
using remove_pointer_t = typename remove_pointer<T>::type;

template <typename T>
inline constexpr bool is_floating_point_v = is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>;
template <typename T>
struct is_floating_point : integral_constant<bool, is_floating_point_v<T>> {};

template <typename T>
struct lockstep_whole : false_type {};
template <> struct lockstep_whole<bool> : true_type {};
template <> struct lockstep_whole<char> : true_type {};
template <> struct lockstep_whole<signed char> : true_type {};
template <> struct lockstep_whole<unsigned char> : true_type {};
template <> struct lockstep_whole<short> : true_type {};
template <> struct lockstep_whole<unsigned short> : true_type {};
template <> struct lockstep_whole<int> : true_type {};
template <> struct lockstep_whole<unsigned int> : true_type {};
template <> struct lockstep_whole<long> : true_type {};
template <> struct lockstep_whole<unsigned long> : true_type {};
template <> struct lockstep_whole<long long> : true_type {};
template <> struct lockstep_whole<unsigned long long> : true_type {};
template <typename T>
struct is_integral : integral_constant<bool, lockstep_whole<remove_cv_t<T>>::value> {};
template <typename T>
inline constexpr bool is_integral_v = is_integral<T>::value;
template <typename T>
struct is_arithmetic : integral_constant<bool, is_integral_v<T> || is_floating_point_v<T>> {};
template <typename T>
inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T>
struct is_unsigned : integral_constant<bool, is_integral_v<T> && (remove_cv_t<T>(-1) > remove_cv_t<T>(0))> {};
template <typename T>
struct is_signed : integral_constant<bool, is_arithmetic_v<T> && !is_unsigned<T>::value> {};
template <typename T>
struct is_pointer : false_type {};
template <typename T>
struct is_pointer<T*> : true_type {};

template <typename T>
struct numeric_limits {
    static constexpr bool is_specialized = false;
};
#define LOCKSTEP_LIMITS(T, LEAST, LOWEST, MOST)                                  \
    template <>                                                                 \
    struct numeric_limits<T> {                                                  \
        static constexpr bool is_specialized = true;                            \
        __host__ __device__ static constexpr T min() { return LEAST; }          \
        __host__ __device__ static constexpr T lowest() { return LOWEST; }      \
        __host__ __device__ static constexpr T max() { return MOST; }           \
        __host__ __device__ static T infinity() { return T(INFINITY); }         \
        __host__ __device__ static T quiet_NaN() { return T(NAN); }             \
        __host__ __device__ static constexpr T epsilon() { return sizeof(T) == 4 ? T(FLT_EPSILON) : T(DBL_EPSILON); } \
    }
LOCKSTEP_LIMITS(float, FLT_MIN, -FLT_MAX, FLT_MAX);
LOCKSTEP_LIMITS(double, DBL_MIN, -DBL_MAX, DBL_MAX);
#undef LOCKSTEP_LIMITS
#define LOCKSTEP_LIMITS(T, LEAST, MOST)                                         \
    template <>                                                                 \
    struct numeric_limits<T> {                                                  \
        static constexpr bool is_specialized = true;                            \
        __host__ __device__ static constexpr T min() { return LEAST; }          \
        __host__ __device__ static constexpr T lowest() { return LEAST; }       \
        __host__ __device__ static constexpr T max() { return MOST; }           \
    }
LOCKSTEP_LIMITS(signed char, -128, 127);
LOCKSTEP_LIMITS(unsigned char, 0, 255);
LOCKSTEP_LIMITS(short, -32767 - 1, 32767);
LOCKSTEP_LIMITS(unsigned short, 0, 65535);
LOCKSTEP_LIMITS(int, -2147483647 - 1, 2147483647);
LOCKSTEP_LIMITS(unsigned int, 0, 4294967295u);
LOCKSTEP_LIMITS(long long, -0x7fffffffffffffffLL - 1, 0x7fffffffffffffffLL);
LOCKSTEP_LIMITS(unsigned long long, 0, 0xffffffffffffffffULL);
#undef LOCKSTEP_LIMITS

}  // namespace std
#endif
