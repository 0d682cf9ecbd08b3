// cuBLAS functions that gorgonia.org/cu/blas links and that are not simulated:
// CUBLAS_STATUS_NOT_SUPPORTED, whatever the arguments.
#define X(name) \
  extern "C" int name() { return 15; }

X(cublasCaxpy_v2) X(cublasCcopy_v2) X(cublasCdgmm) X(cublasCdotc_v2) X(cublasCdotu_v2) X(cublasCgbmv_v2)
X(cublasCgeam) X(cublasCgemm3m) X(cublasCgemm_v2) X(cublasCgemv_v2) X(cublasCgerc_v2) X(cublasCgeru_v2)
X(cublasChbmv_v2) X(cublasChemm_v2) X(cublasChemv_v2) X(cublasCher2_v2) X(cublasCher2k_v2) X(cublasCher_v2)
X(cublasCherk_v2) X(cublasCherkx) X(cublasChpmv_v2) X(cublasChpr2_v2) X(cublasChpr_v2) X(cublasCrot_v2)
X(cublasCscal_v2) X(cublasCsscal_v2) X(cublasCswap_v2) X(cublasCsymm_v2) X(cublasCsymv_v2) X(cublasCsyr2_v2)
X(cublasCsyr2k_v2) X(cublasCsyr_v2) X(cublasCsyrk_v2) X(cublasCsyrkx) X(cublasCtbmv_v2) X(cublasCtbsv_v2)
X(cublasCtpmv_v2) X(cublasCtpsv_v2) X(cublasCtpttr) X(cublasCtrmv_v2) X(cublasCtrsm_v2) X(cublasCtrsv_v2)
X(cublasCtrttp) X(cublasDgbmv_v2) X(cublasDrot_v2) X(cublasDrotg_v2) X(cublasDrotm_v2) X(cublasDrotmg_v2)
X(cublasDsbmv_v2) X(cublasDspmv_v2) X(cublasDspr2_v2) X(cublasDspr_v2) X(cublasDsyr2_v2) X(cublasDsyr2k_v2)
X(cublasDsyr_v2) X(cublasDsyrkx) X(cublasDtbmv_v2) X(cublasDtbsv_v2) X(cublasDtpmv_v2) X(cublasDtpsv_v2)
X(cublasDtpttr) X(cublasDtrmv_v2) X(cublasDtrttp) X(cublasDzasum_v2) X(cublasDznrm2_v2) X(cublasIcamax_v2)
X(cublasIcamin_v2) X(cublasIzamax_v2) X(cublasIzamin_v2) X(cublasScasum_v2) X(cublasScnrm2_v2) X(cublasSgbmv_v2)
X(cublasSrot_v2) X(cublasSrotg_v2) X(cublasSrotm_v2) X(cublasSrotmg_v2) X(cublasSsbmv_v2) X(cublasSspmv_v2)
X(cublasSspr2_v2) X(cublasSspr_v2) X(cublasSsyr2_v2) X(cublasSsyr2k_v2) X(cublasSsyr_v2) X(cublasSsyrkx)
X(cublasStbmv_v2) X(cublasStbsv_v2) X(cublasStpmv_v2) X(cublasStpsv_v2) X(cublasStpttr) X(cublasStrmv_v2)
X(cublasStrttp) X(cublasZaxpy_v2) X(cublasZcopy_v2) X(cublasZdgmm) X(cublasZdotc_v2) X(cublasZdotu_v2)
X(cublasZdscal_v2) X(cublasZgbmv_v2) X(cublasZgeam) X(cublasZgemm3m) X(cublasZgemm_v2) X(cublasZgemv_v2)
X(cublasZgerc_v2) X(cublasZgeru_v2) X(cublasZhbmv_v2) X(cublasZhemm_v2) X(cublasZhemv_v2) X(cublasZher2_v2)
X(cublasZher2k_v2) X(cublasZher_v2) X(cublasZherk_v2) X(cublasZherkx) X(cublasZhpmv_v2) X(cublasZhpr2_v2)
X(cublasZhpr_v2) X(cublasZrot_v2) X(cublasZscal_v2) X(cublasZswap_v2) X(cublasZsymm_v2) X(cublasZsymv_v2)
X(cublasZsyr2_v2) X(cublasZsyr2k_v2) X(cublasZsyr_v2) X(cublasZsyrk_v2) X(cublasZsyrkx) X(cublasZtbmv_v2)
X(cublasZtbsv_v2) X(cublasZtpmv_v2) X(cublasZtpsv_v2) X(cublasZtpttr) X(cublasZtrmv_v2) X(cublasZtrsm_v2)
X(cublasZtrsv_v2) X(cublasZtrttp)
