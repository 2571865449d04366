#include "kernels/cuda/cublaslt.h"

#include "framework/error.h"
#include "kernels/cuda/shared_library.h"

namespace lethe {
namespace {

CublasLt load_cublaslt() {
  const std::string file = message("libcublasLt.so.", CUBLAS_VER_MAJOR);
  const SharedLibrary library("cuBLASLt", file);
  CublasLt c{};
  library.find(c.create, "cublasLtCreate");
  library.find(c.destroy, "cublasLtDestroy");
  library.find(c.status_string, "cublasLtGetStatusString");
  library.find(c.create_product, "cublasLtMatmulDescCreate");
  library.find(c.destroy_product, "cublasLtMatmulDescDestroy");
  library.find(c.set_product, "cublasLtMatmulDescSetAttribute");
  library.find(c.create_layout, "cublasLtMatrixLayoutCreate");
  library.find(c.destroy_layout, "cublasLtMatrixLayoutDestroy");
  library.find(c.set_layout, "cublasLtMatrixLayoutSetAttribute");
  library.find(c.create_preference, "cublasLtMatmulPreferenceCreate");
  library.find(c.destroy_preference, "cublasLtMatmulPreferenceDestroy");
  library.find(c.set_preference, "cublasLtMatmulPreferenceSetAttribute");
  library.find(c.find_algorithms, "cublasLtMatmulAlgoGetHeuristic");
  library.find(c.matmul, "cublasLtMatmul");
  return c;
}

}  // namespace

const CublasLt& cublaslt() {
  static const CublasLt loaded = load_cublaslt();
  return loaded;
}

void check_cublaslt(cublasStatus_t status, const char* what) {
  check_as(Exit::Device, status == CUBLAS_STATUS_SUCCESS, "cuBLASLt: ", what, ": ", cublaslt().status_string(status));
}

}  // namespace lethe
