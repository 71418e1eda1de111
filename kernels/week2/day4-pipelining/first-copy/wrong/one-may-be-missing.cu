#include "mma.cuh"

// c = a + b. Each thread adds four elements, and has them copied to shared memory asynchronously first.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * BLOCK)
#define BLOCK 128

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    __shared__ float4 from_a[BLOCK];
    __shared__ float4 from_b[BLOCK];
    const int t = threadIdx.x;
    const int first = 4 * (blockIdx.x * BLOCK + t);

    // Of this thread's 16 bytes, those that exist: 16, at the end of the array fewer. The others become zeros.
    const int bytes = max(0, min(16, 4 * (n - first)));
    copy_async(shared_address(&from_a[t]), bytes > 0 ? a + first : a, bytes);
    copy_async(shared_address(&from_b[t]), bytes > 0 ? b + first : b, bytes);
    copy_commit();
    copy_wait<1>();

    const float4 p = from_a[t], q = from_b[t];
    const float sum[4] = {p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w};
    for (int i = 0; i < 4; i++) {
        if (first + i < n) {
            c[first + i] = sum[i];
        }
    }
}
