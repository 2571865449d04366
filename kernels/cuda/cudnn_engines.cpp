#include "kernels/cuda/cudnn_engines.h"

#include <algorithm>
#include <array>

#include "framework/error.h"
#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/tell_once.h"

namespace lethe {
namespace {

constexpr std::size_t kMostEngines = 3;

/// Since when cuDNN plans for a GPU that is not there.
constexpr std::size_t kPlansByDescription = 90800;

CudnnDescriptor described(const std::string& properties) {
  check_as(Exit::Device, cudnn().version() >= kPlansByDescription, "cuDNN ", cudnn().version(),
           " cannot plan for a GPU that is not there; 9.8 and later can");
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(properties.size()),
             properties.data());
  device.finalize("description of a GPU");
  return device;
}

/// What stands for the GPU in heuristics, graphs and plans: a description, or the handle of one that is there.
class Target {
 public:
  explicit Target(const DeviceInfo& device) {
    if (!device.properties.empty())
      description_ = described(device.properties);
    else
      handle_ = libraries_of(device)->cudnn();
  }
  void set(CudnnDescriptor& descriptor, std::optional<cudnnBackendAttributeName_t> handle_name,
           std::optional<cudnnBackendAttributeName_t> description_name) const {
    if (description_ && description_name) descriptor.set(*description_name, *description_);
    if (!description_ && handle_name) descriptor.set(*handle_name, CUDNN_TYPE_HANDLE, 1, &handle_);
  }

 private:
  std::optional<CudnnDescriptor> description_;
  cudnnHandle_t handle_ = nullptr;
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

/// The engine's notes of that attribute; a newer library may know more than these.
template <class Note, std::size_t Most>
std::vector<Note> notes(const CudnnDescriptor& engine, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type) {
  std::vector<Note> all(Most);
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(engine.raw(), name, type, Most, &count, all.data()), "notes");
  all.resize(std::min(static_cast<std::size_t>(count), Most));
  return all;
}

template <class Note>
bool has_one_of(const std::vector<Note>& notes, std::initializer_list<Note> asked) {
  return std::find_first_of(notes.begin(), notes.end(), asked.begin(), asked.end()) != notes.end();
}

EngineNotes notes_of(const CudnnDescriptor& engine) {
  const auto numerical = notes<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT>(
      engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
  const auto behavior = notes<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT>(
      engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  return {
      .tensor_cores = has_one_of(numerical, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}),
      .approximates =
          has_one_of(numerical, {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13,
                                 CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}),
      .rounds_sums = has_one_of(numerical, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}),
      .deterministic = !has_one_of(numerical, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}),
      .keeps_nan = has_one_of(numerical, {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}),
      .compiled_late = has_one_of(behavior, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}),
  };
}

bool is_allowed(const EngineNotes& engine, const CudnnGraph& graph, const DeviceInfo& device) {
  const bool is_f32 = graph.dtype == DType::f32;
  return !engine.compiled_late && (engine.deterministic || !device.deterministic) &&
         (!engine.tensor_cores || !is_f32 || device.tf32) && (!engine.approximates || device.fast_conv) &&
         (!engine.rounds_sums || (is_f32 && device.fast_conv));
}

CudnnDescriptor engine_of(const CudnnDescriptor& config) {
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.raw();
  std::int64_t count = 0;
  check_cudnn(
      cudnn().get_attribute(config.raw(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &raw),
      "engine");
  return engine;
}

CudnnDescriptor graph_of(const CudnnGraph& graph, const Target& target) {
  CudnnDescriptor made(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const CudnnDescriptor* op : graph.ops) raw.push_back(op->raw());
  made.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raw.size()),
           raw.data());
  target.set(made, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, std::nullopt);
  made.finalize("graph");
  return made;
}

/// Ways to compute the graph, the best first.
std::vector<CudnnDescriptor> configs_of(const CudnnDescriptor& graph, const Target& target) {
  std::vector<CudnnDescriptor> all;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    target.set(heuristics, std::nullopt, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
    if (heuristics.try_finalize() != CUDNN_STATUS_SUCCESS) continue;
    std::vector<CudnnDescriptor> found =
        descriptors_of(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return all;
}

/// The engines to keep: the best, and others that need no more workspace; if there are none, the one that needs least.
class Kept {
 public:
  bool is_empty() const { return engines_.empty(); }
  bool is_full() const { return engines_.size() == kMostEngines; }
  /// In the order of the heuristics. An engine counts once, with its best settings.
  void add(CudnnEngine engine) {
    const auto is_same = [&](const CudnnEngine& other) { return other.index == engine.index; };
    if (std::any_of(engines_.begin(), engines_.end(), is_same)) return;
    if (engines_.empty() || engine.workspace <= engines_.front().workspace)
      engines_.push_back(std::move(engine));
    else if (!spare_ || engine.workspace < spare_->workspace)
      spare_ = std::move(engine);
  }
  std::vector<CudnnEngine> take() {
    if (engines_.size() == 1 && spare_) engines_.push_back(std::move(*spare_));
    return std::move(engines_);
  }

 private:
  std::vector<CudnnEngine> engines_;
  std::optional<CudnnEngine> spare_;
};

}  // namespace

std::optional<CudnnPlan> CudnnPlan::make(const CudnnGraph& graph, const DeviceInfo& device) {
  const Target target(device);
  Kept kept;
  cudnnStatus_t missing = CUDNN_STATUS_SUCCESS;
  for (const CudnnDescriptor& config : configs_of(graph_of(graph, target), target)) {
    if (kept.is_full()) break;
    const CudnnDescriptor engine = engine_of(config);
    const EngineNotes notes = notes_of(engine);
    if (!is_allowed(notes, graph, device)) continue;
    if (graph.needs_nan && !notes.keeps_nan) {
      if (kept.is_empty()) return std::nullopt;  // a pass of its own is faster than a worse engine
      continue;
    }
    CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    target.set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    const cudnnStatus_t status = plan.try_finalize();
    if (status == CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE) missing = status;
    if (status != CUDNN_STATUS_SUCCESS) continue;
    const std::int64_t workspace = plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (workspace <= device.workspace_limit)
      kept.add({std::move(plan), engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX), workspace, notes});
  }
  std::vector<CudnnEngine> engines = kept.take();
  if (engines.empty()) check_cudnn(missing, "plan");
  if (engines.empty()) return std::nullopt;
  CudnnPlan made;
  made.libraries_ = device.libraries;
  made.what_ = graph.what;
  made.engines_ = std::move(engines);
  return made;
}

std::int64_t CudnnPlan::workspace() const {
  std::int64_t most = 0;
  for (const CudnnEngine& engine : engines_) most = std::max(most, engine.workspace);
  return most;
}

void CudnnPlan::execute(const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses, void* workspace,
                        void* stream) const {
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(addresses.size()),
           addresses.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("addresses");
  cudnnHandle_t handle = libraries_->cudnn();
  for (;; ++current_) {
    const cudnnStatus_t status = cudnn().execute(handle, engine().plan.raw(), pack.raw());
    if (status == CUDNN_STATUS_SUCCESS) return;
    if (current_ + 1 == engines_.size() || is_recorded(stream)) check_cudnn(status, "run");
    forget_error();
    tell_once(message("cuDNN: engine ", engine().index, " failed (", cudnn().error_string(status), ") for ", what_,
                      ": engine ", engines_[current_ + 1].index, " takes its place"));
  }
}

}  // namespace lethe
