// What convolution nets are made of. Images are batch×channels×height×width; a plane
// is one channel of one image. Windows of h×w elements stand stride apart and begin
// pad before the image.

// Strides in a length along one side, which is below 2^31.
#define PARTS(length, stride) ((Int)((unsigned)(length) / (unsigned)(stride)))

// The elements of each window beside each other: batch×outHeight×outWidth×(channels·h·w).
#define COLUMNS Int batch, Int channels, Int height, Int width, Int outheight, Int outwidth, Int h, Int w, Int padh, Int padw, Int strideh, Int stridew, Int dilationh, Int dilationw

extern "C" __global__ void image_columns(const REAL *in, REAL *out, COLUMNS)
{
    EACH_PLACE(5, k, batch * outheight * outwidth * channels * h * w, w, h, channels, outwidth, outheight)
    {
        Int q = k.index[0], p = k.index[1], ch = k.index[2], x = k.index[3], y = k.index[4], b = k.index[5];
        Int row = y * strideh + p * dilationh - padh, col = x * stridew + q * dilationw - padw;
        bool inside = row >= 0 && row < height && col >= 0 && col < width;
        out[k.at] = inside ? in[((b * channels + ch) * height + row) * width + col] : 0;
    }
}

// The derivative of image_columns: each element of the image adds up where it went.
extern "C" __global__ void columns_image(const REAL *in, REAL *out, COLUMNS)
{
    EACH_PLACE(3, k, batch * channels * height * width, width, height, channels)
    {
        Int col = k.index[0], row = k.index[1], ch = k.index[2], b = k.index[3];
        double s = 0;
        for (Int p = 0; p < h; p++) {
            Int y = row + padh - p * dilationh;
            if (y < 0 || PARTS(y, strideh) * strideh != y || PARTS(y, strideh) >= outheight) continue;
            for (Int q = 0; q < w; q++) {
                Int x = col + padw - q * dilationw;
                if (x < 0 || PARTS(x, stridew) * stridew != x || PARTS(x, stridew) >= outwidth) continue;
                Int at = (b * outheight + PARTS(y, strideh)) * outwidth + PARTS(x, stridew);
                s += in[((at * channels + ch) * h + p) * w + q];
            }
        }
        out[k.at] = (REAL)s;
    }
}

#define POOL Int planes, Int height, Int width, Int outheight, Int outwidth, Int h, Int w, Int padh, Int padw, Int strideh, Int stridew

// The largest element of each window, and its index in the plane: the first of
// equals, −1 where none is larger than the smallest number.
extern "C" __global__ void max_pool(const REAL *in, REAL *out, double *index, POOL)
{
    EACH_TRIPLE(k, o, y, x, planes * outheight * outwidth, outheight, outwidth)
    {
        const REAL *plane = in + o * height * width;
        Int top = y * strideh - padh, left = x * stridew - padw;
        Int bottom = top + h < height ? top + h : height, right = left + w < width ? left + w : width;
        REAL m = SINGLE ? (REAL)-3.40282346638528859811704183484516925440e+38 : (REAL)-1.79769313486231570814527423731704356798070e+308;
        Int found = -1;
        for (Int row = top < 0 ? 0 : top; row < bottom; row++)
            for (Int col = left < 0 ? 0 : left; col < right; col++)
                if (plane[row * width + col] > m) {
                    m = plane[row * width + col];
                    found = row * width + col;
                }
        out[k] = m;
        index[k] = (double)found;
    }
}

// The windows whose largest element an element is give it their derivatives.
extern "C" __global__ void max_pool_gradient(const double *index, const REAL *g, REAL *out, POOL)
{
    EACH_TRIPLE(k, plane, row, col, planes * height * width, height, width)
    {
        Int here = row * width + col;
        Int y0 = row + padh - h < 0 ? 0 : PARTS(row + padh - h, strideh) + 1, y1 = PARTS(row + padh, strideh);
        Int x0 = col + padw - w < 0 ? 0 : PARTS(col + padw - w, stridew) + 1, x1 = PARTS(col + padw, stridew);
        double s = 0;
        for (Int y = y0; y <= y1 && y < outheight; y++)
            for (Int x = x0; x <= x1 && x < outwidth; x++) {
                Int at = (plane * outheight + y) * outwidth + x;
                if (index[at] == (double)here) s += g[at];
            }
        out[k] = (REAL)s;
    }
}

// gorgonia's average pool: the sum of each window divided by the width of the image.
extern "C" __global__ void average_pool(const REAL *in, REAL *out, POOL)
{
    EACH_TRIPLE(k, o, y, x, planes * outheight * outwidth, outheight, outwidth)
    {
        const REAL *plane = in + o * height * width;
        Int top = y * strideh - padh, left = x * stridew - padw;
        Int bottom = top + h < height ? top + h : height, right = left + w < width ? left + w : width;
        double s = 0;
        for (Int row = top < 0 ? 0 : top; row < bottom; row++)
            for (Int col = left < 0 ? 0 : left; col < right; col++) s += plane[row * width + col];
        out[k] = (REAL)(s / width);
    }
}

// gorgonia's derivative of it, which is a recurrence over the plane: the derivatives
// go to the last elements of the windows, and then each element in turn becomes the
// average of a window of what is there. One thread a plane.
extern "C" __global__ void average_pool_gradient(const REAL *g, REAL *out, POOL)
{
    EACH(k, planes)
    {
        REAL *plane = out + k * height * width;
        for (Int i = 0; i < height * width; i++) plane[i] = 0;
        for (Int y = 0; y < outheight; y++)
            for (Int x = 0; x < outwidth; x++) {
                Int bottom = y * strideh - padh + h, right = x * stridew - padw + w;
                if (bottom > height) bottom = height;
                if (right > width) right = width;
                if (bottom > 0 && right > 0) plane[(bottom - 1) * width + right - 1] += g[(k * outheight + y) * outwidth + x];
            }
        for (Int y = 0; y < height; y++)
            for (Int x = 0; x < width; x++) {
                Int top = y * strideh - padh, left = x * stridew - padw;
                Int bottom = top + h < height ? top + h : height, right = left + w < width ? left + w : width;
                double s = 0;
                for (Int row = top < 0 ? 0 : top; row < bottom; row++)
                    for (Int col = left < 0 ? 0 : left; col < right; col++) s += plane[row * width + col];
                plane[y * width + x] = (REAL)(s / width);
            }
    }
}
