// cuDNN's graph API (cudnnBackend...): descriptors that own themselves, and the choice of an engine. It plans for a GPU
// that is not there from a description of it; only running needs the GPU. The library is loaded when first asked for.
#pragma once
#include <cudnn.h>

#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/kernel.h"

namespace lethe {

/// What is called of libcudnn.so.9.
struct Cudnn {
  decltype(&::cudnnGetVersion) version;
  decltype(&::cudnnGetErrorString) error_string;
  decltype(&::cudnnGetLastErrorString) last_error_string;
  decltype(&::cudnnCreate) create;
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
/// A GPU's handle. One thread at a time may use it, and only for work on that GPU.
struct CudnnHandle {
  std::mutex mutex = {};
  cudnnHandle_t raw = nullptr;
  void* stream = nullptr;  // where its work goes
};
/// That of the calling thread's GPU, made when first asked for, and never given back.
CudnnHandle& cudnn_handle();

/// Makes the handle of the calling thread's GPU forget a stream that is about to be destroyed.
void detach_cudnn(void* stream);

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
  /// False if cuDNN does not support it, as it does not every plan; fails for any other reason.
  bool try_finalize();
  std::int64_t integer(cudnnBackendAttributeName_t name) const;

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

/// An engine that computes a graph, ready to run.
struct CudnnPlan {
  CudnnDescriptor plan;
  CudnnHandle* handle = nullptr;  // of the GPU; null: that is not there
  std::int64_t workspace = 0;
  bool tensor_cores = false;  // for f32: factors are rounded to TF32
  bool deterministic = true;
};

/// The best engine for the graph of `ops`, by cuDNN's heuristics, that `device` allows (TF32, deterministic, workspace
/// limit); none if there is none. `dtype` is that of the tensors.
std::optional<CudnnPlan> plan_graph(std::initializer_list<const CudnnDescriptor*> ops, DType dtype,
                                    const DeviceInfo& device);

/// Runs a plan on a stream of the GPU that it is for: `addresses` are those of the tensors with the unique ids.
void execute(const CudnnPlan& plan, const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses,
             void* workspace, void* stream);

}  // namespace lethe
