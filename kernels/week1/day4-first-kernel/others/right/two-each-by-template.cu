// Two elements a thread with a templated helper, 64-bit indices and launch bounds.
#include <cstdint>
template <typename T> __device__ __forceinline__ void add_at(T* __restrict__ o, const T* __restrict__ x, const T* __restrict__ y, std::size_t at, std::size_t end)
{
    if (at < end) o[at] = x[at] + y[at];
}
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 2 * block_x)
extern "C" __global__ void __launch_bounds__(64) vector_add(const float* a, const float* b, float* c, int n)
{
    std::size_t base = static_cast<std::size_t>(blockIdx.x) * (2 * blockDim.x) + threadIdx.x;
    add_at(c, a, b, base, static_cast<std::size_t>(n));
    add_at(c, a, b, base + blockDim.x, static_cast<std::size_t>(n));
}
