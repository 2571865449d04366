#include "kernels/cuda/cudnn_engines.h"

#include <algorithm>
#include <array>

#include "framework/error.h"
#include "framework/language/launch_count.h"
#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/tell_once.h"

namespace lethe {
namespace {

constexpr std::size_t kTried = 5;
constexpr std::ptrdiff_t kBehind = 2;  // the one that runs

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

/// Ways to compute the graph by these heuristics, the best first.
std::vector<CudnnDescriptor> configs_of(const CudnnDescriptor& graph, const Target& target,
                                        cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  target.set(heuristics, std::nullopt, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  if (heuristics.try_finalize() != CUDNN_STATUS_SUCCESS) {
    forget_error();
    return {};
  }
  return descriptors_of(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

/// How many of them need no more workspace than the first, itself among them.
std::ptrdiff_t no_larger_than_first(const std::vector<CudnnEngine>& found) {
  return std::count_if(found.begin(), found.end(),
                       [&](const CudnnEngine& engine) { return engine.workspace <= found.front().workspace; });
}

/// Whether they are those to be tried, or to stand after the first.
bool are_all(const std::vector<CudnnEngine>& found, const DeviceInfo& device) {
  return device.trials ? found.size() == kTried : no_larger_than_first(found) > kBehind;
}

/// Looks for engines of one graph.
class Search {
 public:
  Search(const CudnnGraph& graph, const DeviceInfo& device) : graph_(graph), device_(device), target_(device) {}

  /// None if the first that is allowed makes 0 of a NaN that the graph needs.
  std::vector<CudnnEngine> engines() {
    const CudnnDescriptor graph = graph_of(graph_, target_);
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      if (no_larger_than_first(found_) > 1) break;  // to ask once more takes four times as long
      for (const CudnnDescriptor& config : configs_of(graph, target_, mode)) {
        const CudnnDescriptor engine = engine_of(config);
        const EngineNotes notes = notes_of(engine);
        if (!is_allowed(notes, graph_, device_)) continue;
        const bool keeps_nan = notes.keeps_nan || !graph_.needs_nan;
        if (!keeps_nan && found_.empty()) return {};  // a pass of its own is faster than a worse engine
        if (keeps_nan) try_to_find(config, engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX), notes);
        if (are_all(found_, device_)) break;
      }
    }
    if (found_.empty()) check_cudnn(missing_, "plan");
    return std::move(found_);
  }

 private:
  /// An engine counts with its best settings alone; others are not made ready.
  void try_to_find(const CudnnDescriptor& config, std::int64_t index, const EngineNotes& notes) {
    if (std::any_of(found_.begin(), found_.end(), [&](const CudnnEngine& e) { return e.index == index; })) return;
    CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    target_.set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    const cudnnStatus_t status = plan.try_finalize();
    if (status == CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE) missing_ = status;
    if (status != CUDNN_STATUS_SUCCESS) return forget_error();
    const std::int64_t workspace = plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (workspace <= graph_.workspace_limit)
      found_.push_back({std::make_shared<CudnnDescriptor>(std::move(plan)), index, workspace, notes});
    else if (found_.empty())
      tell_once(
          message("cuDNN ranks engines first that need more workspace than ", graph_.workspace_limit,
                  " bytes: a step may be faster with a larger `workspace_limit`; `train plan` says how much memory "
                  "it needs then"));
  }

  const CudnnGraph& graph_;
  const DeviceInfo& device_;
  const Target target_;
  std::vector<CudnnEngine> found_;
  cudnnStatus_t missing_ = CUDNN_STATUS_SUCCESS;  // of a part of cuDNN that is not there
};

}  // namespace

CudnnEngines::CudnnEngines(const CudnnGraph& graph, const DeviceInfo& device)
    : libraries_(device.libraries), what_(graph.what), engines_(Search(graph, device).engines()) {}

CudnnPlan CudnnEngines::alone(std::size_t engine) const { return {libraries_, what_, {engines_[engine]}}; }

CudnnPlan CudnnEngines::led_by(std::size_t engine) const {
  const CudnnEngine& first = engines_[engine];
  const CudnnEngine* least = nullptr;  // of the others
  std::vector<CudnnEngine> kept = {first};
  for (const CudnnEngine& other : engines_) {
    if (&other == &first) continue;
    if (!least || other.workspace < least->workspace) least = &other;
    if (other.workspace <= first.workspace && std::ssize(kept) <= kBehind) kept.push_back(other);
  }
  if (kept.size() == 1 && least) kept.push_back(*least);
  return {libraries_, what_, std::move(kept)};
}

std::int64_t CudnnPlan::workspace() const {
  std::int64_t most = 0;
  for (const CudnnEngine& engine : engines_) most = std::max(most, engine.workspace);
  return most;
}

void CudnnPlan::execute(const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses, void* workspace,
                        void* stream) const {
  if (LaunchCount::takes_launch()) return;
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(addresses.size()),
           addresses.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("addresses");
  cudnnHandle_t handle = libraries_->cudnn();
  for (;; ++current_) {
    const cudnnStatus_t status = cudnn().execute(handle, engine().plan->raw(), pack.raw());
    if (status == CUDNN_STATUS_SUCCESS) return;
    if (current_ + 1 == engines_.size() || is_recorded(stream)) check_cudnn(status, "run");
    forget_error();
    tell_once(message("cuDNN: engine ", engine().index, " failed (", cudnn().error_string(status), ") for ", what_,
                      ": engine ", engines_[current_ + 1].index, " takes its place"));
  }
}

}  // namespace lethe
