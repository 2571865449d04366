// Python's objects as what the session knows: arrays as views, a data set as rows, a callable as a listener; and back.
// All of this needs the interpreter's lock, but for what says that it takes it.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "train/python/array_tensors.h"
#include "train/python/rows.h"
#include "train/session/listener.h"

namespace lethe {

/// What keeps memory of arrays; gives it back under the lock, whoever lets it go.
class HeldArrays {
 public:
  /// A view of an array on the host: of NumPy's, or any that DLPack or the buffer protocol shows, or numbers. Fails
  /// (Exit::Data) for other things.
  ArrayView view(const std::string& name, nanobind::handle object);
  ArraysByName views(const nanobind::dict& by_name);

 private:
  std::vector<nanobind::ndarray<nanobind::ro>> arrays_;
};
std::shared_ptr<HeldArrays> hold_arrays();

/// Rows of an object with __len__ and __getitem__, whose items are a dict by name or a tuple in the order of `names`.
/// Takes the lock for each row. What the object raises becomes the cause of a lethe.Error.
std::shared_ptr<const Rows> rows_of(nanobind::object data, const Network& network, std::vector<std::string> names);

/// A copy, floats of 16 bits without a type in NumPy as f32.
nanobind::object numpy_of(WeightArray array);

/// Hands records to a callable, and after each step asks for signals. What either raises ends the run after the step.
class PythonListener final : public Listener {
 public:
  explicit PythonListener(nanobind::object on_record) : on_record_(std::move(on_record)) {}
  bool stop_wanted() override;
  void record(const Record& measured) override;
  /// Raises what has ended the run, if anything.
  void raise() const;

 private:
  nanobind::object on_record_;
  std::exception_ptr raised_ = {};
};

/// lethe.Error for failures of ours; lines of say() go to the logger "lethe".
void bind_errors_and_log();

}  // namespace lethe
