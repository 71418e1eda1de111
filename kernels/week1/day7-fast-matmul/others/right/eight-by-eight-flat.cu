// A flat block of 64 threads, each 8 x 8 elements of a 64 x 64 tile, with pointers that move.
#include "lab.cuh"

#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 8
// lockstep: block = 64
// lockstep: grid = ceil_div(n, BN), ceil_div(m, BM)
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    __shared__ float As[BM * BK], Bs[BK * BN];
    const int tid = threadIdx.x;
    const int tr = tid / (BN / TN), tc = tid % (BN / TN);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM * TN] = {0.0f}, ra[TM], rb[TN];
    for (int bk = 0; bk < k; bk += BK) {
        for (int i = tid; i < BM * BK; i += blockDim.x) {
            int r = row0 + i / BK, q = bk + i % BK;
            As[i] = r < m && q < k ? __ldg(a + (size_t)r * k + q) : 0.f;
        }
        for (int i = tid; i < BK * BN; i += blockDim.x) {
            int q = bk + i / BN, col = col0 + i % BN;
            Bs[i] = q < k && col < n ? __ldg(b + (size_t)q * n + col) : 0.f;
        }
        __syncthreads();
        for (int d = 0; d < BK; ++d) {
            for (int i = 0; i < TM; ++i) ra[i] = As[(tr * TM + i) * BK + d];
            for (int j = 0; j < TN; ++j) rb[j] = Bs[d * BN + tc * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i * TN + j] = fmaf(ra[i], rb[j], acc[i * TN + j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
            if (row0 + tr * TM + i < m && col0 + tc * TN + j < n)
                c[(size_t)(row0 + tr * TM + i) * n + col0 + tc * TN + j] = acc[i * TN + j];
}
