// Single floats with cp.async.ca, 16 x 16 tiles, and a modulo of the stage kept by hand.
#include "lab.cuh"
// lockstep: block = 16, 16
// lockstep: grid = ceil_div(n, 16), ceil_div(m, 16)
#define S 4
__device__ void cp4(float* to, const float* from, bool inside)
{
    unsigned s = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(s), "l"(from), "r"(inside ? 4 : 0) : "memory");
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float as[S][16][16], bs[S][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    int steps = (k + 15) / 16, put = 0, get = 0;
    float sum = 0;
    for (int s = -(S - 1); s < steps; s++) {
        if (s >= 0) {
            asm volatile("cp.async.wait_group %0;" ::"n"(S - 2) : "memory");
            __syncthreads();
        }
        int next = s + S - 1;
        if (next < steps) {
            bool ia = row < m && next * 16 + x < k, ib = next * 16 + y < k && col < n;
            cp4(&as[put][y][x], ia ? a + row * k + next * 16 + x : a, ia);
            cp4(&bs[put][y][x], ib ? b + (next * 16 + y) * n + col : b, ib);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        put = put == S - 1 ? 0 : put + 1;
        if (s >= 0) {
            for (int d = 0; d < 16; d++) sum += as[get][y][d] * bs[get][d][x];
            get = get == S - 1 ? 0 : get + 1;
        }
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
