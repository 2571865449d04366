// Which of cuDNN's engines may compute a graph, and a plan that runs one of them, with others after it, should it fail
// when it is run.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/cudnn_graph.h"

namespace lethe {

/// What the notes of an engine say of its results.
struct EngineNotes {
  bool tensor_cores = false;   // for f32: factors are rounded to TF32
  bool approximates = false;   // Winograd's algorithm, FFT or rounded inputs
  bool rounds_sums = false;    // sums are kept in less than the compute type
  bool deterministic = true;   // the same bits in every run
  bool keeps_nan = false;      // strictly: also through relu
  bool compiled_late = false;  // when it is planned: takes seconds, and a driver
};

/// An engine ready to run.
struct CudnnEngine {
  std::shared_ptr<const CudnnDescriptor> plan;
  std::int64_t index = 0;  // cuDNN's name for it
  std::int64_t workspace = 0;
  EngineNotes notes = {};
};

/// A graph as `device` may compute it.
struct CudnnGraph {
  std::initializer_list<const CudnnDescriptor*> ops;
  DType dtype;                       // of the tensors
  bool needs_nan = false;            // it has a relu, which must not make 0 of NaN
  std::string what;                  // in messages
  std::int64_t workspace_limit = 0;  // in bytes
};

class CudnnPlan {
 public:
  /// The one that runs.
  const CudnnEngine& engine() const { return engines_[current_]; }
  const std::vector<CudnnEngine>& engines() const { return engines_; }
  /// Enough for each of them.
  std::int64_t workspace() const;
  /// On the stream of the GPU that it is for: `addresses` are those of the tensors with the unique ids. An engine that
  /// fails is replaced by the next for good, in one line on stderr; not while the stream is recorded.
  void execute(const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses, void* workspace,
               void* stream) const;

 private:
  friend class CudnnEngines;
  CudnnPlan(std::shared_ptr<GpuLibraries> libraries, std::string what, std::vector<CudnnEngine> engines)
      : libraries_(std::move(libraries)), what_(std::move(what)), engines_(std::move(engines)) {}
  std::shared_ptr<GpuLibraries> libraries_;  // null: the GPU is not there
  std::string what_;
  std::vector<CudnnEngine> engines_;
  mutable std::size_t current_ = 0;
};

/// Engines that compute a graph, the best by cuDNN's heuristics first, each once.
class CudnnEngines {
 public:
  CudnnEngines() = default;  // none
  /// Those that `device` allows (TF32, --fast-conv, deterministic) within the graph's limit: as many as are to be
  /// tried, or as a plan keeps; of its fallback heuristics only where no other needs as little workspace as the first.
  /// None if the first of them makes 0 of a NaN that the graph needs. An engine that cannot be made ready is passed
  /// over, for whatever reason; fails if a part of cuDNN is not there.
  CudnnEngines(const CudnnGraph& graph, const DeviceInfo& device);

  const std::vector<CudnnEngine>& all() const { return engines_; }
  CudnnPlan alone(std::size_t engine) const;
  /// After the engine stand up to two others, the best that need no more workspace; if there are none, the one that
  /// needs least.
  CudnnPlan led_by(std::size_t engine) const;

 private:
  std::shared_ptr<GpuLibraries> libraries_;
  std::string what_;
  std::vector<CudnnEngine> engines_;
};

}  // namespace lethe
