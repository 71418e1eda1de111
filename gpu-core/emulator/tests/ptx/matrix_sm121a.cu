// Matrix instructions of sm_121a: NVFP4 with block scales and FP8.

// D (16 x 8) = A (16 x 64) x B (64 x 8, column by column), e2m1 packed two to a byte, a ue4m3 scale for each 16 of k.
extern "C" __global__ void nvfp4(const unsigned* a, const unsigned* b, const unsigned* scale_a, const unsigned* scale_b, float* d) {
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    unsigned fa[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + 4 + t], a[(g + 8) * 8 + 4 + t]};
    unsigned fb[2] = {b[g * 8 + t], b[g * 8 + 4 + t]};
    // Scales of row g + 8 (t % 2) for A, of column g for B: one word holds the four of k = 64.
    unsigned sa = scale_a[g + 8 * (t % 2)], sb = scale_b[g];
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "r"(sa), "r"(sb));
    d[g * 8 + 2 * t] = c[0];
    d[g * 8 + 2 * t + 1] = c[1];
    d[(g + 8) * 8 + 2 * t] = c[2];
    d[(g + 8) * 8 + 2 * t + 1] = c[3];
}

// D (16 x 8) = A (16 x 32) x B (32 x 8), e4m3; B lies row by row and is transposed by ldmatrix.
extern "C" __global__ void fp8_ldmatrix(const unsigned char* a, const unsigned char* b, float* d) {
    __shared__ __align__(16) unsigned char tile_a[16 * 32];
    __shared__ __align__(16) unsigned char tile_b[32 * 16];
    const int lane = threadIdx.x;
    for (int i = lane; i < 16 * 32; i += 32) tile_a[i] = a[i];
    for (int i = lane; i < 32 * 16; i += 32) tile_b[i] = b[i];
    __syncthreads();
    unsigned fa[4], fb[4];
    unsigned row_a = (unsigned)__cvta_generic_to_shared(&tile_a[(lane % 16) * 32 + lane / 16 * 16]);
    unsigned row_b = (unsigned)__cvta_generic_to_shared(&tile_b[lane * 16]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(row_a));
    // Registers 0 and 2 are columns 0 to 7 for the two halves of k.
    asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]) : "r"(row_b));
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[2]));
    const int g = lane / 4, t = lane % 4;
    d[g * 8 + 2 * t] = c[0];
    d[g * 8 + 2 * t + 1] = c[1];
    d[(g + 8) * 8 + 2 * t] = c[2];
    d[(g + 8) * 8 + 2 * t + 1] = c[3];
}
