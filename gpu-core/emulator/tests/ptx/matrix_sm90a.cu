// Matrix instructions of sm_90a: wgmma with swizzled shared memory, and stmatrix.

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Byte offset of element (row, k) in rows of 128 bytes whose 16-byte chunks are XORed with the row.
__device__ __forceinline__ unsigned swizzle128(unsigned row, unsigned k) {
    return row * 128 + ((k / 8) ^ (row % 8)) * 16 + k % 8 * 2;
}

__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
    // Leading offset unused, 1024 bytes between groups of eight rows, 128-byte swizzle.
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

// D (64 x 32) = A (64 x 64, row by row) x B (64 x 32, column by column), bf16, both operands K-major in shared memory.
extern "C" __global__ void wgmma_bf16(const unsigned short* a, const unsigned short* b, float* d) {
    __shared__ __align__(1024) unsigned char tile_a[64 * 128];
    __shared__ __align__(1024) unsigned char tile_b[32 * 128];
    const unsigned thread = threadIdx.x;
    for (unsigned i = thread; i < 64 * 64; i += 128) *(unsigned short*)(tile_a + swizzle128(i / 64, i % 64)) = a[i];
    for (unsigned i = thread; i < 32 * 64; i += 128) *(unsigned short*)(tile_b + swizzle128(i / 64, i % 64)) = b[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float c[16];
    for (int i = 0; i < 16; ++i) c[i] = 0;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k) {
        unsigned long long da = descriptor(shared_address(tile_a) + 32 * k), db = descriptor(shared_address(tile_b) + 32 * k);
        asm volatile("{.reg .pred p; setp.ne.b32 p, %18, 0; "
                     "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
                     "%16, %17, p, 1, 1, 0, 0;}"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]),
                       "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15])
                     : "l"(da), "l"(db), "r"((int)(k > 0)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const unsigned warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
    for (int i = 0; i < 16; ++i) {
        unsigned row = 16 * warp + g + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * t + i % 2;
        d[row * 32 + column] = c[i];
    }
}

// Stores a 16 x 16 f16 accumulator fragment as rows with stmatrix.
extern "C" __global__ void stmatrix_rows(unsigned short* out) {
    __shared__ __align__(16) unsigned short tile[16 * 16];
    const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4;
    unsigned r[4];
    for (int i = 0; i < 4; ++i) {
        unsigned row = g + 8 * (i % 2), column = 8 * (i / 2) + 2 * t;
        r[i] = (row * 16 + column) | (row * 16 + column + 1) << 16;
    }
    unsigned address = shared_address(&tile[(lane % 16) * 16 + lane / 16 * 8]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(r[0]), "r"(r[1]),
                 "r"(r[2]), "r"(r[3]) : "memory");
    __syncthreads();
    for (unsigned i = lane; i < 256; i += 32) out[i] = tile[i];
}
