#include "kernels/cuda/cudnn_graph.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <map>

#include "framework/error.h"
#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/shared_library.h"

namespace lethe {
namespace {

/// Since when cuDNN plans for a GPU that is not there.
constexpr std::size_t kPlansByDescription = 90800;

/// By GPU.
struct CudnnHandles {
  std::mutex mutex;
  std::map<int, CudnnHandle> all;
};

CudnnHandles& cudnn_handles() {
  static CudnnHandles handles;
  return handles;
}

Cudnn load() {
  const SharedLibrary library("cuDNN 9", "libcudnn.so.9");
  Cudnn c{};
  library.find(c.version, "cudnnGetVersion");
  library.find(c.error_string, "cudnnGetErrorString");
  library.find(c.last_error_string, "cudnnGetLastErrorString");
  library.find(c.create, "cudnnCreate");
  library.find(c.set_stream, "cudnnSetStream");
  library.find(c.create_descriptor, "cudnnBackendCreateDescriptor");
  library.find(c.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  library.find(c.set_attribute, "cudnnBackendSetAttribute");
  library.find(c.get_attribute, "cudnnBackendGetAttribute");
  library.find(c.finalize, "cudnnBackendFinalize");
  library.find(c.execute, "cudnnBackendExecute");
  return c;
}

CudnnDescriptor described(const std::string& properties) {
  check_as(Exit::Device, cudnn().version() >= kPlansByDescription, "cuDNN ", cudnn().version(),
           " cannot plan for a GPU that is not there; 9.8 and later can");
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(properties.size()),
             properties.data());
  device.finalize("description of a GPU");
  return device;
}

/// What stands for the GPU in heuristics, graphs and plans: a description, or the handle of the calling thread's one,
/// which is this thread's alone meanwhile.
class Target {
 public:
  explicit Target(const DeviceInfo& device) {
    if (!device.properties.empty())
      description_ = described(device.properties);
    else
      lock_ = std::unique_lock((handle_ = &cudnn_handle())->mutex);
  }
  CudnnHandle* handle() const { return handle_; }
  void set(CudnnDescriptor& descriptor, std::optional<cudnnBackendAttributeName_t> handle_name,
           std::optional<cudnnBackendAttributeName_t> description_name) const {
    if (description_ && description_name) descriptor.set(*description_name, *description_);
    if (!description_ && handle_name) descriptor.set(*handle_name, CUDNN_TYPE_HANDLE, 1, &handle_->raw);
  }

 private:
  std::optional<CudnnDescriptor> description_;
  CudnnHandle* handle_ = nullptr;
  std::unique_lock<std::mutex> lock_;
};

std::vector<CudnnDescriptor> descriptors_of(const CudnnDescriptor& from, cudnnBackendAttributeName_t name,
                                            cudnnBackendDescriptorType_t type) {
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(from.raw(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr), "count");
  std::vector<CudnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i) raw.push_back(found.emplace_back(type).raw());
  if (count > 0)
    check_cudnn(cudnn().get_attribute(from.raw(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data()),
                "results");
  found.erase(found.begin() + count, found.end());
  return found;
}

/// Whether the engine's notes of that attribute have one of `asked`.
template <class Note, std::size_t Most>
bool notes(const CudnnDescriptor& engine, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::initializer_list<Note> asked) {
  std::array<Note, Most> all{};
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(engine.raw(), name, type, Most, &count, all.data()), "notes");
  const auto end = all.begin() + std::min<std::int64_t>(count, Most);  // a newer library may know more notes
  return std::find_first_of(all.begin(), end, asked.begin(), asked.end()) != end;
}

/// A way to compute a graph, by its engine's notes. Engines that are compiled at run time take seconds for each plan,
/// and cannot be planned where there is no driver.
struct Candidate {
  bool tensor_cores, deterministic, compiled_at_run_time;

  explicit Candidate(const CudnnDescriptor& config) {
    CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t raw = engine.raw();
    std::int64_t count = 0;
    check_cudnn(cudnn().get_attribute(config.raw(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                      &count, &raw),
                "engine");
    const auto numerical = [&](std::initializer_list<cudnnBackendNumericalNote_t> asked) {
      return notes<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT>(
          engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, asked);
    };
    tensor_cores = numerical({CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS});
    deterministic = !numerical({CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC});
    compiled_at_run_time = notes<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT>(
        engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION});
  }

  bool allowed(DType dtype, const DeviceInfo& device) const {
    const bool rounds = dtype == DType::f32 && tensor_cores && !device.tf32;
    return !rounds && (deterministic || !device.deterministic) && !compiled_at_run_time;
  }
};

}  // namespace

const Cudnn& cudnn() {
  static const Cudnn loaded = load();
  return loaded;
}

void check_cudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 1024> more{};
  cudnn().last_error_string(more.data(), more.size());
  std::replace(more.begin(), more.end(), '\n', ' ');
  fail_as(Exit::Device, "cuDNN: ", what, ": ", cudnn().error_string(status), more[0] ? ": " : "", more.data());
}

CudnnHandle& cudnn_handle() {
  CudnnHandles& handles = cudnn_handles();
  const std::lock_guard lock(handles.mutex);
  CudnnHandle& handle = handles.all[current_gpu()];
  if (!handle.raw) check_cudnn(cudnn().create(&handle.raw), "handle");
  return handle;
}

void detach_cudnn(void* stream) {
  CudnnHandles& handles = cudnn_handles();
  const std::lock_guard lock(handles.mutex);
  const auto found = handles.all.find(current_gpu());
  if (found == handles.all.end()) return;
  const std::lock_guard use(found->second.mutex);
  if (found->second.stream != stream) return;
  cudnn().set_stream(found->second.raw, nullptr);
  found->second.stream = nullptr;
}

std::string describe_gpu(int index) {
  const auto id = static_cast<std::int32_t>(index);
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &id);
  device.finalize("a GPU's properties");
  const auto read = [&](std::int64_t room, std::int64_t& count, char* to) {
    check_cudnn(cudnn().get_attribute(device.raw(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, room,
                                      &count, to),
                "a GPU's description");
  };
  std::int64_t length = 0;
  read(0, length, nullptr);
  std::string json(static_cast<std::size_t>(length), '\0');
  read(length, length, json.data());
  return json.substr(0, json.find('\0'));
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check_cudnn(cudnn().create_descriptor(type, &raw_), "descriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (raw_) cudnn().destroy_descriptor(raw_);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                          const void* values) {
  check_cudnn(cudnn().set_attribute(raw_, name, type, count, values), "attribute");
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
  set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  const cudnnBackendDescriptor_t raw = value.raw();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
}

void CudnnDescriptor::finalize(const char* what) { check_cudnn(cudnn().finalize(raw_), what); }

bool CudnnDescriptor::try_finalize() {
  const cudnnStatus_t status = cudnn().finalize(raw_);
  const bool broken = status == CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE;
  if (status >= CUDNN_STATUS_NOT_SUPPORTED && status < CUDNN_STATUS_NOT_SUPPORTED + 1000 && !broken) return false;
  check_cudnn(status, "plan");
  return true;
}

std::int64_t CudnnDescriptor::integer(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0, count = 0;
  check_cudnn(cudnn().get_attribute(raw_, name, CUDNN_TYPE_INT64, 1, &count, &value), "integer");
  return value;
}

std::optional<CudnnPlan> plan_graph(std::initializer_list<const CudnnDescriptor*> ops, DType dtype,
                                    const DeviceInfo& device) {
  const Target target(device);
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const CudnnDescriptor* op : ops) raw.push_back(op->raw());
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raw.size()),
            raw.data());
  target.set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, std::nullopt);
  graph.finalize("graph");
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    target.set(heuristics, std::nullopt, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
    if (!heuristics.try_finalize()) continue;
    for (const CudnnDescriptor& config :
         descriptors_of(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)) {
      const Candidate candidate(config);
      if (!candidate.allowed(dtype, device)) continue;
      CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
      target.set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
      if (!plan.try_finalize()) continue;
      const std::int64_t workspace = plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
      if (workspace > device.workspace_limit) continue;
      return CudnnPlan{std::move(plan), target.handle(), workspace, candidate.tensor_cores, candidate.deterministic};
    }
  }
  return std::nullopt;
}

void execute(const CudnnPlan& plan, const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses,
             void* workspace, void* stream) {
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(addresses.size()),
           addresses.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("addresses");
  CudnnHandle& handle = *plan.handle;
  const std::lock_guard lock(handle.mutex);
  if (handle.stream != stream) check_cudnn(cudnn().set_stream(handle.raw, static_cast<cudaStream_t>(stream)), "stream");
  handle.stream = stream;
  check_cudnn(cudnn().execute(handle.raw, plan.plan.raw(), pack.raw()), "run");
}

}  // namespace lethe
