// Sets the grid for one head and forgets the loop.
// rejected for: wrong_output
// leads to: Every head needs its turn
// lockstep: rotate.grid = ceil_div(tokens * d / 2, 128)
extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * (d / 2)) return;
    int pair = i % (d / 2), token = i / (d / 2);
    float c = cosine[i], s = sine[i];
    for (int head = 0; head < 1; head++) {
        long long first = ((long long)token * heads + head) * d + pair, second = first + d / 2;
        float u = x[first], v = x[second];
        rotated[first] = u * c - v * s;
        rotated[second] = v * c + u * s;
    }
}
