// Uses the first row of the tables for all tokens.
// rejected for: wrong_output
// leads to: token 1 wrong
extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * (d / 2)) return;
    int pair = i % (d / 2), head = i / (d / 2) % heads, token = i / (d / 2) / heads;
    long long first = (long long)(token * heads + head) * d + pair, second = first + d / 2;
    float c = cosine[pair], s = sine[pair];
    float u = x[first], v = x[second];
    rotated[first] = u * c - v * s;
    rotated[second] = v * c + u * s;
}
