// cuDNN's graph API (cudnnBackend...): the library, loaded when first asked for, and descriptors that own themselves.
// It plans for a GPU that is not there from a description of it; only running needs the GPU.
#pragma once
#include <cudnn.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/language/kernel.h"

namespace lethe {

/// What is called of libcudnn.so.9.
struct Cudnn {
  decltype(&::cudnnGetVersion) version;
  decltype(&::cudnnGetErrorString) error_string;
  decltype(&::cudnnGetLastErrorString) last_error_string;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnDestroy) destroy;
  decltype(&::cudnnSetStream) set_stream;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&::cudnnBackendSetAttribute) set_attribute;
  decltype(&::cudnnBackendGetAttribute) get_attribute;
  decltype(&::cudnnBackendFinalize) finalize;
  decltype(&::cudnnBackendExecute) execute;
};
/// Fails with Exit::Device if there is none.
const Cudnn& cudnn();
/// Fails with cuDNN's words.
void check_cudnn(cudnnStatus_t status, const char* what);

/// A GPU of this machine as JSON, as `DeviceInfo::properties` takes it.
std::string describe_gpu(int index);

class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t raw() const { return raw_; }
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values);
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  /// Fails with cuDNN's words if what was set makes no sense together.
  void finalize(const char* what);
  /// How that went: cuDNN does not support every plan.
  cudnnStatus_t try_finalize() { return cudnn().finalize(raw_); }
  std::int64_t integer(cudnnBackendAttributeName_t name) const;

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

}  // namespace lethe
