// cuSOLVER's eigen-decompositions of batches, which older versions of CUDA 12 lack.
#include <cstddef>
#include <cstdint>

struct Handle;
struct Params {
  const void *self;
};

namespace {

enum { OK = 0, NOT_INITIALIZED = 1, BAD_VALUE = 3 };
const int REAL64 = 1;
const size_t HOST_BYTES = 64;

bool valid(const Params *p) { return p && p->self == p; }
size_t work_doubles(int64_t n) { return size_t(2 * n * n + 6 * n + 1); }

} // namespace

extern "C" {

int cusolverDnDsyevd(Handle *h, int job, int uplo, int n, double *a, int lda, double *w, double *work, int lwork, int *info);

int cusolverDnCreateParams(Params **p) {
  if (!p) return BAD_VALUE;
  *p = new Params;
  (*p)->self = *p;
  return OK;
}

int cusolverDnDestroyParams(Params *p) {
  if (!valid(p)) return BAD_VALUE;
  p->self = nullptr;
  delete p;
  return OK;
}

int cusolverDnXsyevBatched_bufferSize(Handle *h, Params *p, int job, int uplo, int64_t n, int type_a, const void *, int64_t lda, int type_w,
                                      const void *, int type, size_t *device, size_t *host, int64_t batch) {
  if (!h) return NOT_INITIALIZED;
  if (!valid(p) || job < 0 || job > 1 || uplo < 0 || uplo > 1 || n < 1 || lda < n || batch < 1 || type_a != REAL64 || type_w != REAL64 ||
      type != REAL64 || !device || !host)
    return BAD_VALUE;
  *device = size_t(batch) * work_doubles(n) * sizeof(double);
  *host = HOST_BYTES;
  return OK;
}

int cusolverDnXsyevBatched(Handle *h, Params *p, int job, int uplo, int64_t n, int type_a, void *a, int64_t lda, int type_w, void *w, int type,
                           void *device, size_t device_bytes, void *host, size_t host_bytes, int *info, int64_t batch) {
  size_t want, want_host;
  if (int e = cusolverDnXsyevBatched_bufferSize(h, p, job, uplo, n, type_a, a, lda, type_w, w, type, &want, &want_host, batch)) return e;
  if (device_bytes < want || host_bytes < want_host || !host) return BAD_VALUE;
  for (size_t i = 0; i < host_bytes; i++) static_cast<char *>(host)[i] = char(0xff);
  for (int64_t k = 0; k < batch; k++)
    if (int e = cusolverDnDsyevd(h, job, uplo, int(n), static_cast<double *>(a) + k * lda * n, int(lda), static_cast<double *>(w) + k * n,
                                 static_cast<double *>(device) + k * int64_t(work_doubles(n)), int(work_doubles(n)), info + k))
      return e;
  return OK;
}

} // extern "C"
