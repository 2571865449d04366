// cuBLASLt, loaded when first asked for.
#pragma once
#include <cublasLt.h>

namespace lethe {

/// What is called of libcublasLt.
struct CublasLt {
  decltype(&::cublasLtCreate) create;
  decltype(&::cublasLtDestroy) destroy;
  decltype(&::cublasLtGetStatusString) status_string;
  decltype(&::cublasLtMatmulDescCreate) create_product;
  decltype(&::cublasLtMatmulDescDestroy) destroy_product;
  decltype(&::cublasLtMatmulDescSetAttribute) set_product;
  decltype(&::cublasLtMatrixLayoutCreate) create_layout;
  decltype(&::cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&::cublasLtMatrixLayoutSetAttribute) set_layout;
  decltype(&::cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&::cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) find_algorithms;
  decltype(&::cublasLtMatmul) matmul;
};
/// Fails with Exit::Device if there is none.
const CublasLt& cublaslt();
/// Fails with cuBLASLt's words.
void check_cublaslt(cublasStatus_t status, const char* what);

}  // namespace lethe
