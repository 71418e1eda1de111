// Takes x for heads first.
// rejected for: wrong_output
// leads to: x is [token, head, d]
extern "C" __global__ void rotate(const float* x, const float* cosine, const float* sine, float* rotated, int tokens, int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * (d / 2)) return;
    int pair = i % (d / 2), head = i / (d / 2) % heads, token = i / (d / 2) / heads;
    long long first = (long long)(head * tokens + token) * d + pair, second = first + d / 2;
    float c = cosine[token * (d / 2) + pair], s = sine[token * (d / 2) + pair];
    float u = x[first], v = x[second];
    rotated[first] = u * c - v * s;
    rotated[second] = v * c + u * s;
}
