// The project's own dlopen(), by --wrap: the names of cuBLASLt, cuDNN and NCCL mean those of the simulated GPU. What
// the real cuDNN loads for itself does not come by here.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

extern "C" {

void* __real_dlopen(const char* file, int flags);

void* __wrap_dlopen(const char* file, int flags) {
  const std::string name = file ? file : "";
  if (name.rfind("libcublasLt.so.", 0) == 0) return __real_dlopen(LETHE_SIMULATED_CUBLASLT, flags);
  if (name == "libcudnn.so.9") return __real_dlopen(LETHE_SIMULATED_CUDNN, flags);
  if (name == "libnccl.so.2") {
    const char* const fails = std::getenv("SIMULATED_GPU_FAILS");  // numbers.h
    const bool missing = fails && std::string(fails) == "nccl";
    return __real_dlopen(missing ? "no/libnccl.so.2" : LETHE_SIMULATED_NCCL, flags);
  }
  return __real_dlopen(file, flags);
}

}  // extern "C"
