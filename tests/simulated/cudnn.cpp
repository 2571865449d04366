// libcudnn as far as the project calls it. The real library, which needs no GPU for that, checks what is described and
// plans it, for the simulated GPU's description where a program names a handle; only running is done here.
#include <cudnn.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "tests/simulated/cudnn_graph.h"
#include "tests/simulated/numbers.h"
#include "tests/simulated/submit.h"

namespace lethe::simulated {
namespace {

struct Real {
  decltype(&::cudnnGetVersion) version;
  decltype(&::cudnnGetErrorString) error_string;
  decltype(&::cudnnGetLastErrorString) last_error_string;
  decltype(&::cudnnBackendCreateDescriptor) create;
  decltype(&::cudnnBackendDestroyDescriptor) destroy;
  decltype(&::cudnnBackendSetAttribute) set;
  decltype(&::cudnnBackendGetAttribute) get;
  decltype(&::cudnnBackendFinalize) finalize;
};

const Real& real() {
  static const Real loaded = [] {
    void* const library = dlopen(LETHE_REAL_CUDNN, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    Real r{};
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(r.version, "cudnnGetVersion");
    find(r.error_string, "cudnnGetErrorString");
    find(r.last_error_string, "cudnnGetLastErrorString");
    find(r.create, "cudnnBackendCreateDescriptor");
    find(r.destroy, "cudnnBackendDestroyDescriptor");
    find(r.set, "cudnnBackendSetAttribute");
    find(r.get, "cudnnBackendGetAttribute");
    find(r.finalize, "cudnnBackendFinalize");
    return r;
  }();
  return loaded;
}

/// What is known of descriptors; each thread describes its own, at the same time as others.
class Descriptors {
 public:
  void add(cudnnBackendDescriptor_t descriptor, cudnnBackendDescriptorType_t type) {
    const std::scoped_lock lock(mutex_);
    all_[descriptor] = std::make_shared<Described>(Described{type});
  }
  void remove(cudnnBackendDescriptor_t descriptor) {
    const std::scoped_lock lock(mutex_);
    all_.erase(descriptor);
  }
  std::shared_ptr<Described> at(cudnnBackendDescriptor_t descriptor) const {
    const std::scoped_lock lock(mutex_);
    return all_.at(descriptor);
  }

 private:
  mutable std::mutex mutex_;
  std::map<cudnnBackendDescriptor_t, std::shared_ptr<Described>> all_;
};

Descriptors& known() {
  static Descriptors all;
  return all;
}

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
      return 8;
    default:
      return 4;  // enumerations, int32, float
  }
}

const Described& graph_of(const Described& plan) {
  return plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
}

cudnnStatus_t set_properties(cudnnBackendDescriptor_t device) {
  return real().set(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                    static_cast<std::int64_t>(std::strlen(properties())), properties());
}

/// In place of the GPU that a handle would say.
cudnnStatus_t set_device(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name) {
  static cudnnBackendDescriptor_t device = [] {
    cudnnBackendDescriptor_t made = nullptr;
    real().create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made);
    set_properties(made);
    real().finalize(made);
    return made;
  }();
  return real().set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device);
}

/// Made for the GPU that the calling thread had turned to.
struct Handle {
  int gpu;
  cudaStream_t stream = nullptr;
};

std::map<std::int64_t, void*> addresses_of(const Described& pack) {
  const auto ids = pack.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto addresses = pack.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  expect(ids.size() == addresses.size(), "as many ids as addresses");
  std::map<std::int64_t, void*> by_id;
  for (std::size_t i = 0; i < ids.size(); ++i) by_id[ids[i]] = addresses[i];
  expect(by_id.size() == ids.size(), "an id twice");
  return by_id;
}

}  // namespace
}  // namespace lethe::simulated

using namespace lethe::simulated;

std::size_t cudnnGetVersion() { return real().version(); }
const char* cudnnGetErrorString(cudnnStatus_t status) { return real().error_string(status); }
void cudnnGetLastErrorString(char* message, std::size_t size) { real().last_error_string(message, size); }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = reinterpret_cast<cudnnHandle_t>(new Handle{current_gpu()});
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete reinterpret_cast<Handle*>(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  expect(!stream || gpu_of(stream) == reinterpret_cast<Handle*>(handle)->gpu, "a stream of another GPU");
  reinterpret_cast<Handle*>(handle)->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
  const cudnnStatus_t status = real().create(type, made);
  if (status == CUDNN_STATUS_SUCCESS) known().add(*made, type);
  return status;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  known().remove(descriptor);
  return real().destroy(descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
  const std::shared_ptr<Described> kept = known().at(descriptor);
  Described& described = *kept;
  if (type == CUDNN_TYPE_HANDLE) {
    described.by_handle = true;
    described.gpu = (*static_cast<Handle* const*>(values))->gpu;
    expect(described.gpu == current_gpu(), "a handle of another GPU");
    return CUDNN_STATUS_SUCCESS;
  }
  if (name == CUDNN_ATTR_DEVICEPROP_DEVICE_ID) return set_properties(descriptor);
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    auto& parts = described.parts[name];
    parts.clear();
    for (std::int64_t i = 0; i < count; ++i)
      parts.push_back(known().at(static_cast<const cudnnBackendDescriptor_t*>(values)[i]));
  } else {
    const auto* const first = static_cast<const std::byte*>(values);
    described.values[name].assign(first, first + static_cast<std::size_t>(count) * bytes_of(type));
  }
  return real().set(descriptor, name, type, count, values);
}

/// The results of heuristics are ways to compute its graph.
cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t room, std::int64_t* count,
                                       void* values) {
  const cudnnStatus_t status = real().get(descriptor, name, type, room, count, values);
  if (status == CUDNN_STATUS_SUCCESS && values && name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
    for (std::int64_t i = 0; i < *count; ++i)
      known().at(static_cast<cudnnBackendDescriptor_t*>(values)[i])->parts[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH] =
          known().at(descriptor)->parts.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  return status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  const std::shared_ptr<Described> kept = known().at(descriptor);
  Described& described = *kept;
  const bool asks = described.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
  if (asks && std::getenv("SIMULATED_GPU_TELL")) std::fputs("simulated GPU: heuristics\n", stderr);
  if (asks && fails_at("heuristics")) return CUDNN_STATUS_NOT_SUPPORTED;
  if (asks && described.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).by_handle)
    set_device(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  if (described.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return real().finalize(descriptor);
  if (described.by_handle) set_device(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  const Described& graph = graph_of(described);
  const bool is_first = graph.tried++ == 0;
  if (fails_at("every finalize") || (is_first && fails_at("finalize"))) return CUDNN_STATUS_INTERNAL_ERROR;
  const cudnnStatus_t status = real().finalize(descriptor);
  if (status == CUDNN_STATUS_SUCCESS) described.rank = graph.ready++;
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_raw,
                                  cudnnBackendDescriptor_t pack_raw) {
  const std::shared_ptr<const Described> plan = known().at(plan_raw);
  const std::shared_ptr<const Described> pack = known().at(pack_raw);
  expect(plan->by_handle, "a plan for a GPU that is not there");
  expect(plan->gpu == reinterpret_cast<Handle*>(handle)->gpu, "a plan for another GPU");
  if (fails_at("every execute") || (plan->rank == 0 && fails_at("execute"))) return CUDNN_STATUS_EXECUTION_FAILED;
  std::int64_t bytes = 0, count = 0;
  real().get(plan_raw, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes);
  void* const workspace = pack->one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const auto size = static_cast<std::size_t>(bytes);
  expect(size == 0 || (is_device_memory(workspace, size) && is_aligned(workspace, 16)), "the workspace");
  const bool is_slow = is_slow_with(plan->rank == 0 ? "best" : "others");
  submit(reinterpret_cast<Handle*>(handle)->stream, [=, addresses = addresses_of(*pack)] {
    if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    spoil(workspace, size);
    compute_graph(graph_of(*plan), addresses);
  });
  return CUDNN_STATUS_SUCCESS;
}
