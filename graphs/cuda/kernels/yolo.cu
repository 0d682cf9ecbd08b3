// Boxes of YOLO v3 (Redmon and Farhadi, 2018) from the last layer of a network: of each of
// the anchors the attributes, as planes of side×side cells. A box is a row of attributes:
// its place and its size in pixels of an image, each cell of which has so many along a side,
// and probabilities. Rows go by cells, and in a cell by anchors.
extern "C" __global__ void boxes(const REAL *in, const double *anchors, Int number, Int attributes, Int side, Int pixels, REAL *out)
{
    EACH(k, number * attributes * side * side)
    {
        Int attribute = k % attributes, anchor = k / attributes % number, cell = k / attributes / number;
        REAL v = in[(anchor * attributes + attribute) * side * side + cell];
        if (attribute == 2 || attribute == 3) {
            v = EXP(v) * ((REAL)anchors[2 * anchor + attribute - 2] / (REAL)pixels) * (REAL)pixels;
        } else {
            v = 1 / (1 + EXP(-v));
            if (attribute == 0) v = (v + (REAL)(cell % side)) * (REAL)pixels;
            if (attribute == 1) v = (v + (REAL)(cell / side)) * (REAL)pixels;
        }
        out[k] = v;
    }
}
