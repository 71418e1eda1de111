#include "lab.cuh"

// One block for a place, for all sequences: a position is loaded once.
// lockstep: block = 128
// lockstep: grid = length

//@ place
// Column c, counted in pieces of type Piece, of one place in all sequences.
template <typename Piece, typename Add>
__device__ void embed_place(const float* table, const int* ids, const float* positions, float* x, int sequences,
                            int length, int columns, Add add)
{
    const int place = blockIdx.x;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        const Piece position = reinterpret_cast<const Piece*>(positions)[(long long)place * columns + c];
#pragma unroll 4
        for (int s = 0; s < sequences; s++) {
            const int token = s * length + place;
            const Piece word = reinterpret_cast<const Piece*>(table)[(long long)ids[token] * columns + c];
            reinterpret_cast<Piece*>(x)[(long long)token * columns + c] = add(word, position);
        }
    }
}
//@ end

extern "C" __global__ void embed(
    const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    if (d % 4 == 0) {
        embed_place<float4>(table, ids, positions, x, sequences, length, d / 4, [](float4 a, float4 b) {
            return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        });
    } else {
        embed_place<float>(table, ids, positions, x, sequences, length, d, [](float a, float b) { return a + b; });
    }
}
