// Template on the operation, pointers that walk, and double for the sum.
#include "lab.cuh"
// lockstep: block = 96
// lockstep: grid = min(rows, 5)
struct Max { __device__ static double f(double a, double b) { return a > b ? a : b; } };
struct Sum { __device__ static double f(double a, double b) { return a + b; } };
template <typename Op> __device__ double all(double v) {
    __shared__ double room[96];
    __syncthreads();
    room[threadIdx.x] = v;
    __syncthreads();
    double r = room[0];
    for (int i = 1; i < 96; ++i) r = Op::f(r, room[i]);
    return r;
}
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* const first = x + (ptrdiff_t)row * columns; const float* const last = first + columns;
        double m = -1e300;
        for (const float* p = first + threadIdx.x; p < last; p += blockDim.x) m = Max::f(m, *p);
        m = all<Max>(m);
        double s = 0;
        for (const float* p = first + threadIdx.x; p < last; p += blockDim.x) s += (double)expf(float(*p - m));
        s = all<Sum>(s);
        for (const float* p = first + threadIdx.x; p < last; p += blockDim.x) y[p - x] = float(expf(float(*p - m)) / s);
        if (threadIdx.x == blockDim.x - 1) lse[row] = float(m + log(s));
    }
}
