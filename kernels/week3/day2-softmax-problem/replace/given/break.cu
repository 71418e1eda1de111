#include "lab.cuh"

// Writes NaN and infinities over the zeros of `clean`, in turn.
extern "C" __global__ void break_some(const float* clean, float* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float bad[3] = {NAN, INFINITY, -INFINITY};
        x[i] = clean[i] == 0.0f ? bad[i % 3] : clean[i];
    }
}
