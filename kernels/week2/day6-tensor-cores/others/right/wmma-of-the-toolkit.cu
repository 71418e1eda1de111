// The toolkit's wmma, from tiles that are padded with zeros.
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
// lockstep: block = 32
// lockstep: grid = (n + 15) / 16, (m + 15) / 16
extern "C" __global__ void mma_tile(const unsigned short* a, const unsigned short* b, float* c, int m, int n, int k)
{
    __shared__ __align__(32) __nv_bfloat16 ta[16][16], tb[16][16];
    __shared__ __align__(32) float tc[16][16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    const int r0 = blockIdx.y * 16, c0 = blockIdx.x * 16;
    for (int x = 0; x < k; x += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            int r = i / 16, q = i % 16;
            ta[r][q] = r0 + r < m && x + q < k ? __ushort_as_bfloat16(a[(r0 + r) * k + x + q]) : __float2bfloat16(0.0f);
            tb[r][q] = c0 + r < n && x + q < k ? __ushort_as_bfloat16(b[(c0 + r) * k + x + q]) : __float2bfloat16(0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, &ta[0][0], 16);
        wmma::load_matrix_sync(fb, &tb[0][0], 16);
        wmma::mma_sync(acc, fa, fb, acc);
        __syncwarp();
    }
    wmma::store_matrix_sync(&tc[0][0], acc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (r0 + i / 16 < m && c0 + i % 16 < n) c[(r0 + i / 16) * n + c0 + i % 16] = tc[i / 16][i % 16];
}
