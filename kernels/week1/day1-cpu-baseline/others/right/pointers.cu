// Pointers that walk, and no index in sight; double sums.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (const float* row = a; row != a + rows * inner; row += inner) {
        for (int j = 0; j != columns; ++j, ++c) {
            double sum = 0.0;
            const float* column = b + j;
            for (const float* x = row; x != row + inner; ++x, column += columns) sum += double(*x) * *column;
            *c = float(sum);
        }
    }
}
