// Products of many small matrices.

// C = op(A) op(B) for each of a batch of matrices: m×n with k products each. Blocks
// are 16×16 threads and make tiles of 16×16.
extern "C" __global__ void batched_product(const REAL *a, const REAL *b, Int batch, Int m, Int n, Int k, Int transa, Int transb, REAL *c)
{
    __shared__ REAL left[16][17], right[16][17];
    Int down = (m + 15) / 16, across = (n + 15) / 16;
    int x = threadIdx.x, y = threadIdx.y;
    for (Places<2> tile(blockIdx.x, gridDim.x, across, down); tile.at < batch * down * across; tile.next()) {
        Int which = tile.index[2], i0 = tile.index[1] * 16, j0 = tile.index[0] * 16;
        const REAL *p = a + which * m * k, *q = b + which * k * n;
        REAL s = 0;
        for (Int l0 = 0; l0 < k; l0 += 16) {
            // Threads that are neighbours along x read neighbours in memory.
            if (transa) {
                Int i = i0 + x, l = l0 + y;
                left[x][y] = i < m && l < k ? p[l * m + i] : 0;
            } else {
                Int i = i0 + y, l = l0 + x;
                left[y][x] = i < m && l < k ? p[i * k + l] : 0;
            }
            if (transb) {
                Int j = j0 + y, l = l0 + x;
                right[x][y] = j < n && l < k ? q[j * k + l] : 0;
            } else {
                Int j = j0 + x, l = l0 + y;
                right[y][x] = j < n && l < k ? q[l * n + j] : 0;
            }
            __syncthreads();
            int end = k - l0 < 16 ? (int)(k - l0) : 16;
            for (int l = 0; l < end; l++) s += left[y][l] * right[l][x];
            __syncthreads();
        }
        if (i0 + y < m && j0 + x < n) c[which * m * n + (i0 + y) * n + j0 + x] = s;
    }
}
