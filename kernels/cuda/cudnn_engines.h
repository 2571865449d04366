// Which of cuDNN's engines computes a graph: by its heuristics the best that is allowed, and others behind it, should
// it fail when it is run.
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
  CudnnDescriptor plan;
  std::int64_t index = 0;  // cuDNN's name for it
  std::int64_t workspace = 0;
  EngineNotes notes = {};
};

/// A graph as `device` may compute it.
struct CudnnGraph {
  std::initializer_list<const CudnnDescriptor*> ops;
  DType dtype;             // of the tensors
  bool needs_nan = false;  // it has a relu, which must not make 0 of NaN
  std::string what;        // in messages
};

class CudnnPlan {
 public:
  /// None if cuDNN has no engine for the graph that `device` allows (TF32, --fast-conv, deterministic, workspace
  /// limit), or if the first of them makes 0 of a NaN that the graph needs. An engine that cannot be made ready is
  /// passed over, for whatever reason; fails if a part of cuDNN is not there.
  static std::optional<CudnnPlan> make(const CudnnGraph& graph, const DeviceInfo& device);

  /// The one that runs.
  const CudnnEngine& engine() const { return engines_[current_]; }
  const std::vector<CudnnEngine>& engines() const { return engines_; }
  /// Enough for each of them. Those behind the first are chosen so that it is what the first takes, if there are such.
  std::int64_t workspace() const;
  /// On the stream of the GPU that it is for: `addresses` are those of the tensors with the unique ids. An engine that
  /// fails is replaced by the next for good, in one line on stderr; not while the stream is recorded.
  void execute(const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses, void* workspace,
               void* stream) const;

 private:
  CudnnPlan() = default;
  std::shared_ptr<GpuLibraries> libraries_;  // null: the GPU is not there
  std::string what_;
  std::vector<CudnnEngine> engines_;
  mutable std::size_t current_ = 0;
};

}  // namespace lethe
