// A thread has one pair of a token and does it for all heads, so cosine and sine are loaded once.
// lockstep: rotate.grid = ceil_div(tokens * d / 2, 128)
extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * (d / 2)) return;
    int pair = i % (d / 2), token = i / (d / 2);
    float c = cosine[i], s = sine[i];
    for (int head = 0; head < heads; head++) {
        long long first = ((long long)token * heads + head) * d + pair, second = first + d / 2;
        float u = x[first], v = x[second];
        rotated[first] = u * c - v * s;
        rotated[second] = v * c + u * s;
    }
}
