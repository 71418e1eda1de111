// The course's part: tables of cosine and sine, and the way back.
// The text begins at position 5. Pair p turns by position * 10000^(-2p / d).
extern "C" __global__ void fill_tables(float* cosine, float* sine, int tokens, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * (d / 2)) return;
    int pair = i % (d / 2), token = i / (d / 2);
    float angle = (token + 5) * exp2f(-13.287712f * 2.0f * pair / d);
    cosine[i] = cosf(angle);
    sine[i] = sinf(angle);
}

extern "C" __global__ void turn_back(const float* rotated, const float* cosine, const float* sine, float* y, int tokens,
                                     int heads, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * heads * (d / 2)) return;
    int pair = i % (d / 2), token = i / (d / 2) / heads;
    long long first = (long long)(i / (d / 2)) * d + pair, second = first + d / 2;
    float c = cosine[token * (d / 2) + pair], s = sine[token * (d / 2) + pair];
    float u = rotated[first], v = rotated[second];
    y[first] = u * c + v * s;
    y[second] = v * c - u * s;
}
