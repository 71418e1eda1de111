// Warp-level matrix instructions of sm_80: one warp multiplies small matrices and writes the product.
// Every kernel takes A (m x k, row by row), B (k x n) and D (m x n, row by row).

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// D = A x B, 16 x 8 x 32, f16 with B column by column: ldmatrix fills the fragments, two mma chain over k.
extern "C" __global__ void mma_ldmatrix(const unsigned short* a, const unsigned short* b, float* d) {
    __shared__ __align__(16) unsigned short tile_a[16 * 32];
    __shared__ __align__(16) unsigned short tile_b[8 * 32];
    const int lane = threadIdx.x;
    for (int i = lane; i < 16 * 32; i += 32) tile_a[i] = a[i];
    for (int i = lane; i < 8 * 32; i += 32) tile_b[i] = b[i];
    __syncthreads();
    float c[4] = {0, 0, 0, 0};
    for (int k = 0; k < 32; k += 16) {
        unsigned fa[4], fb[2];
        unsigned row_a = shared_address(&tile_a[(lane % 16) * 32 + k + lane / 16 * 8]);
        unsigned row_b = shared_address(&tile_b[(lane % 8) * 32 + k + lane / 8 % 2 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(row_a));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(row_b));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    }
    const int g = lane / 4, t = lane % 4;
    d[g * 8 + 2 * t] = c[0];
    d[g * 8 + 2 * t + 1] = c[1];
    d[(g + 8) * 8 + 2 * t] = c[2];
    d[(g + 8) * 8 + 2 * t + 1] = c[3];
}

// D = A x B, 16 x 16 x 16, f16, B row by row, through wmma: A from shared memory, B from global memory.
extern "C" __global__ void wmma_f16(const unsigned short* a, const unsigned short* b, float* d) {
    __shared__ __align__(32) unsigned short tile[16 * 24];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * 24 + i % 16] = a[i];
    __syncthreads();
    unsigned fa[8], fb[8];
    float c[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]), "=r"(fa[4]), "=r"(fa[5]), "=r"(fa[6]), "=r"(fa[7])
                 : "r"(shared_address(tile)), "r"(24));
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]), "=r"(fb[4]), "=r"(fb[5]), "=r"(fb[6]), "=r"(fb[7])
                 : "l"(b), "r"(16));
    asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
                 "{%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fa[4]), "r"(fa[5]), "r"(fa[6]), "r"(fa[7]),
                   "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]), "r"(fb[4]), "r"(fb[5]), "r"(fb[6]), "r"(fb[7]));
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, %9;" ::"l"(d),
                 "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]), "r"(16)
                 : "memory");
}

// The same for m8n32k16 of u8 with col-major A and D.
extern "C" __global__ void wmma_u8(const unsigned char* a, const unsigned char* b, int* d) {
    unsigned fa, fb[4];
    int c[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    asm volatile("wmma.load.a.sync.aligned.col.m8n32k16.global.u8 {%0}, [%1], %2;" : "=r"(fa) : "l"(a), "r"(8));
    asm volatile("wmma.load.b.sync.aligned.row.m8n32k16.global.u8 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "l"(b), "r"(32));
    asm volatile("wmma.mma.sync.aligned.col.row.m8n32k16.s32.u8.u8.s32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8}, {%9,%10,%11,%12}, "
                 "{%0,%1,%2,%3,%4,%5,%6,%7};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7])
                 : "r"(fa), "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]));
    asm volatile("wmma.store.d.sync.aligned.col.m8n32k16.global.s32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, %9;" ::"l"(d),
                 "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]), "r"(8)
                 : "memory");
}

// D = A x B, 16 x 8 x 32, A stored 2:4 sparse (16 x 16) with one metadata word for each lane.
extern "C" __global__ void mma_sparse(const unsigned* a, const unsigned* b, const unsigned* metadata, float* d) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    // Two f16 in a word: A has 8 words a row, B (column by column) 16.
    unsigned fa[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + 4 + t], a[(g + 8) * 8 + 4 + t]};
    unsigned fb[4] = {b[g * 16 + t], b[g * 16 + 4 + t], b[g * 16 + 8 + t], b[g * 16 + 12 + t]};
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, "
                 "{%0,%1,%2,%3}, %12, 0x1;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]),
                   "r"(metadata[lane]));
    d[g * 8 + 2 * t] = c[0];
    d[g * 8 + 2 * t + 1] = c[1];
    d[(g + 8) * 8 + 2 * t] = c[2];
    d[(g + 8) * 8 + 2 * t + 1] = c[3];
}

// D = A x B in f64, 8 x 8 x 4, B row by row.
extern "C" __global__ void mma_f64(const double* a, const double* b, double* d) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    double c[2] = {0, 0};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c[0]), "+d"(c[1]) : "d"(a[g * 4 + t]), "d"(b[t * 8 + g]));
    d[g * 8 + 2 * t] = c[0];
    d[g * 8 + 2 * t + 1] = c[1];
}

// Transposes an 8 x 8 matrix of 16-bit elements in registers.
extern "C" __global__ void transpose(const unsigned* in, unsigned* out) {
    unsigned x = in[threadIdx.x], y;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    out[threadIdx.x] = y;
}

// Half a warp: what the matrix unit does then is undefined, and must be reported.
extern "C" __global__ void mma_divergent(const unsigned* a, float* d) {
    float c[4] = {0, 0, 0, 0};
    unsigned x = a[threadIdx.x];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(x));
    d[threadIdx.x] = c[0];
}
