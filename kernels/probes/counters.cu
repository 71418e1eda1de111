// Kernels whose memory traffic is awkward on purpose: strides, offsets, vectors, partial warps, broadcasts and
// swizzles. The emulator's sectors, requests, wavefronts and bank conflicts are compared with the hardware's on
// every one of them. Each takes the same arguments, so that one table can launch them all:
//   out  32-bit words, at least 1 Mi of them     in  32-bit words, at least 1 Mi, small values
//   k    a run-time value (a stride or an offset), so that the compiler cannot fold the index
// Every load feeds a store: nothing can be dropped.

#define KERNEL extern "C" __global__ void
#define ARGS float* __restrict__ out, const float* __restrict__ in, int k
#define LANE (threadIdx.x & 31)
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

// --- global memory: strides and offsets -------------------------------------------------------------------
KERNEL g_stride(ARGS) { out[ID] = in[ID * k]; }
KERNEL g_store_stride(ARGS) { out[ID * k] = in[ID]; }
KERNEL g_offset(ARGS) { out[ID] = in[ID + k]; }
KERNEL g_store_offset(ARGS) { out[ID + k] = in[ID]; }
KERNEL g_reversed(ARGS) { out[ID] = in[(ID & ~31) + 31 - LANE + k]; }
KERNEL g_permuted(ARGS) { out[ID] = in[(ID & ~127) + ((ID * 37 + k) & 127)]; }
KERNEL g_gather(ARGS) { out[ID] = in[(ID * 2654435761u >> 14) + k]; }

// --- global memory: widths ---------------------------------------------------------------------------------
KERNEL g_float2(ARGS) { ((float2*)out)[ID] = ((const float2*)in)[ID + k]; }
KERNEL g_float4(ARGS) { ((float4*)out)[ID] = ((const float4*)in)[ID + k]; }
KERNEL g_float4_stride(ARGS) { ((float4*)out)[ID] = ((const float4*)in)[ID * k]; }
KERNEL g_double(ARGS) { ((double*)out)[ID] = ((const double*)in)[ID * k]; }
KERNEL g_byte(ARGS) { ((unsigned char*)out)[ID] = ((const unsigned char*)in)[ID + k]; }
KERNEL g_byte_stride(ARGS) { ((unsigned char*)out)[ID] = ((const unsigned char*)in)[ID * k]; }
KERNEL g_short(ARGS) { ((unsigned short*)out)[ID] = ((const unsigned short*)in)[ID * k]; }

// --- global memory: partial warps and broadcasts -----------------------------------------------------------
KERNEL g_partial(ARGS) { if (LANE < k) out[ID] = in[ID]; }
KERNEL g_odd_lanes(ARGS) { if (LANE & 1) out[ID] = in[ID + k]; }
KERNEL g_broadcast(ARGS) { out[ID] = in[blockIdx.x * k]; }
KERNEL g_two_addresses(ARGS) { out[ID] = in[(LANE & 1) * k]; }
KERNEL g_float4_partial(ARGS) { if (LANE % 5 == 0) ((float4*)out)[ID] = ((const float4*)in)[ID + k]; }

// --- shared memory -----------------------------------------------------------------------------------------
// Each fills a tile without conflicts, then reads (or writes) it in the way under test.
#define TILE(words) __shared__ float tile[words]; for (int i = threadIdx.x; i < (words); i += blockDim.x) tile[i] = in[i]; __syncthreads()

KERNEL s_stride(ARGS) { TILE(4096); out[ID] = tile[(LANE * k) & 4095]; }
KERNEL s_store_stride(ARGS)
{
    TILE(4096);
    float v = in[LANE + k];
    __syncthreads();
    if (threadIdx.x < 32) tile[(LANE * k) & 4095] = v;
    __syncthreads();
    out[ID] = tile[threadIdx.x];
}
KERNEL s_broadcast(ARGS) { TILE(1024); out[ID] = tile[k]; }
KERNEL s_pairs(ARGS) { TILE(1024); out[ID] = tile[(LANE >> 1) * k]; }
KERNEL s_partial(ARGS) { TILE(1024); if (LANE < 13) out[ID] = tile[(LANE * k) & 1023]; }
KERNEL s_float2(ARGS) { TILE(4096); ((float2*)out)[ID] = ((float2*)tile)[(LANE * k) & 2047]; }
KERNEL s_float4(ARGS) { TILE(4096); ((float4*)out)[ID] = ((float4*)tile)[(LANE * k) & 1023]; }
KERNEL s_float4_swizzle(ARGS) { TILE(4096); ((float4*)out)[ID] = ((float4*)tile)[(LANE * 8 + ((LANE ^ k) & 7)) & 1023]; }
KERNEL s_float4_partial(ARGS) { TILE(4096); if (LANE % 3 == 0) ((float4*)out)[ID] = ((float4*)tile)[(LANE * k) & 1023]; }
KERNEL s_byte(ARGS) { TILE(1024); ((unsigned char*)out)[ID] = ((unsigned char*)tile)[(LANE * k) & 4095]; }
KERNEL s_transpose(ARGS)
{
    __shared__ float tile[32][32];
    for (int r = threadIdx.x >> 5; r < 32; r += blockDim.x >> 5) tile[r][LANE] = in[r * 32 + LANE + k];
    __syncthreads();
    for (int r = threadIdx.x >> 5; r < 32; r += blockDim.x >> 5) out[blockIdx.x * 1024 + r * 32 + LANE] = tile[LANE][r];
}
KERNEL s_transpose_padded(ARGS)
{
    __shared__ float tile[32][33];
    for (int r = threadIdx.x >> 5; r < 32; r += blockDim.x >> 5) tile[r][LANE] = in[r * 32 + LANE + k];
    __syncthreads();
    for (int r = threadIdx.x >> 5; r < 32; r += blockDim.x >> 5) out[blockIdx.x * 1024 + r * 32 + LANE] = tile[LANE][r];
}
KERNEL s_transpose_swizzled(ARGS)
{
    __shared__ float tile[32][32];
    for (int r = threadIdx.x >> 5; r < 32; r += blockDim.x >> 5) tile[r][LANE ^ r] = in[r * 32 + LANE + k];
    __syncthreads();
    for (int r = threadIdx.x >> 5; r < 32; r += blockDim.x >> 5) out[blockIdx.x * 1024 + r * 32 + LANE] = tile[LANE][r ^ LANE];
}

// --- atomics -----------------------------------------------------------------------------------------------
KERNEL a_distinct(ARGS) { out[ID + (1 << 19)] = atomicAdd((int*)out + ID * k, 1); }
KERNEL a_same(ARGS) { out[ID + (1 << 19)] = atomicAdd((int*)out + k, (int)ID); }
KERNEL a_reduce(ARGS) { atomicAdd(out + ID * k, in[ID]); }
