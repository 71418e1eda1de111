#include "lab.cuh"
#include <cuda_fp16.h>

// y = the codes as fp16. One thread does one word: eight codes, with no conversion instruction.
extern "C" __global__ void unpack_half(const unsigned* w_codes, half* y, int words)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) {
        return;
    }
    const unsigned word = w_codes[i] ^ 0x88888888u;  // flips the sign bit of every code: now it is code + 8, 0 to 15

    const unsigned OFFSET = 0x64006400u;

    for (int pair = 0; pair < 4; pair++) {
        // Codes `pair` and `pair + 4`, each below an exponent that makes it 1024 + code + 8. NVRTC makes one lop3 of it.
        const unsigned biased = (word >> (4 * pair) & 0x000f000fu) | 0x64006400u;
        const half2 both = __hsub2(reinterpret_cast<const half2&>(biased), reinterpret_cast<const half2&>(OFFSET));
        y[8 * i + pair] = __low2half(both);
        y[8 * i + pair + 4] = __high2half(both);
    }
}
