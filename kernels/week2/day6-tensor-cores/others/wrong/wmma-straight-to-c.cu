// wmma on the matrices themselves, whatever their size.
// rejected for: out_of_bounds
// leads to: Outside is a zero
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
// lockstep: block = 32
// lockstep: grid = (n + 15) / 16, (m + 15) / 16
extern "C" __global__ void mma_tile(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int x = 0; x < k; x += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * k + x, k);
        wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * k + x, k);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, acc, n, wmma::mem_row_major);
}
