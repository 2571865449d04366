#include "train/session/tensor_check.h"

#include <algorithm>
#include <set>

#include "framework/builder/weight_names.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/name_pattern.h"

namespace lethe {
namespace {

/// The names as patterns, if these are few; else what stands for one.
std::string patterns_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return names.size() > kMostNamed ? "'PATTERN,..'" : message("'", text, "'");
}

/// Collects what is wrong with a file and says it in one line.
class TensorCheck {
 public:
  TensorCheck(const TensorReader& reader, const Reading& reading) : reader_(reader), reading_(reading) {}

  MadeAnew run() {
    for (const StoredTensor& stored : reading_.all) check_stored(stored, true);
    for (const StoredTensor& stored : reading_.again)
      check_stored(stored, reading_.find(reader_, stored.names.front()) != nullptr);
    std::vector<std::string> unexpected;
    for (const TensorEntry& tensor : reader_.tensors())
      if (!reading_.of_part && !known_.count(tensor.name) && !reading_.ignored.contains(tensor.name) &&
          !is_passed_over(tensor.name))
        unexpected.push_back(tensor.name);
    std::vector<std::string> problems;
    if (!left_out_.empty())
      problems.push_back(message("`ignore` leaves out ", some_of(left_out_), ", which the network needs"));
    if (!missing_.empty())
      problems.push_back(message("missing ", some_of(missing_), did_you_mean(missing_.front(), unexpected)));
    if (!unexpected.empty()) problems.push_back(message("unexpected ", some_of(unexpected)));
    if (!misfits_.empty())
      problems.push_back(
          message(misfits_.front(), misfits_.size() > 1 ? message(" (and so ", misfits_.size() - 1, " more)") : ""));
    if (!problems.empty() && reading_.advises && fits_ > 0) advise(unexpected, problems);
    std::string text;
    for (const std::string& problem : problems) text.append(text.empty() ? "" : "; ").append(problem);
    check_as(Exit::Data, problems.empty(), reader_.file(), ": ", text);
    return anew_;
  }

 private:
  /// Each of its tensors that is there is known; it is read if all are and fit.
  void check_stored(const StoredTensor& stored, bool required) {
    const bool is_fresh = reading_.fresh.contains(stored.var.name);
    std::string why;  // it is made anew
    std::size_t fit = 0;
    for (const TensorEntry& expected : tensors_of(stored)) {
      const TensorEntry* const tensor = reading_.find(reader_, expected.name);
      if (tensor) known_.insert(tensor->name);
      if (tensor && fits(*tensor, expected)) {
        ++fit;
      } else if (is_fresh && (!tensor || tensor->shape != expected.shape)) {
        if (why.empty()) why = instead_of(expected, tensor, stored);
      } else if (tensor) {
        misfits_.push_back(message("tensor '", tensor->name, "' is ", type_and_shape(*tensor), ", expected ",
                                   type_and_shape(expected)));
        if (tensor->shape == expected.shape) of_other_dtypes_.push_back(tensor->name);
        if (!is_fresh) amiss_.insert(stored.var.name);
      } else if (required) {
        (is_left_out(expected.name) ? left_out_ : missing_).push_back(expected.name);
        amiss_.insert(stored.var.name);
      }
    }
    if (fit == stored.names.size()) ++fits_;
    if (required && !why.empty()) anew_.emplace(stored.var.name, why);
  }

  bool fits(const TensorEntry& tensor, const TensorEntry& expected) const {
    const auto is_number = [](DType dtype) {
      return is_float(dtype) || (is_in_blocks(dtype) && dtype < DType::dynamic8);
    };
    const bool floats = !tensor.is_foreign() && is_number(tensor.dtype) && is_number(expected.dtype);
    return tensor.shape == expected.shape && (tensor.is_of(expected.dtype) || (reading_.converts && floats));
  }

  static std::string instead_of(const TensorEntry& expected, const TensorEntry* tensor, const StoredTensor& stored) {
    const bool is_own = expected.name == stored.var.name;
    if (!tensor) return is_own ? "the file has none" : message("the file has no '", expected.name, "'");
    return message("the file has ", is_own ? "" : message("'", tensor->name, "' as "), type_and_shape(*tensor),
                   ", the network ", type_and_shape(expected));
  }

  bool is_left_out(const std::string& name) const {
    return (reading_.ignored.contains(name) && reader_.find(name)) ||
           reading_.ignored.contains(prefix_turned(name, reading_.prefix));
  }

  bool is_passed_over(const std::string& name) const {
    const std::string turned = prefix_turned(name, reading_.prefix);
    return std::any_of(reading_.passed_over.begin(), reading_.passed_over.end(), [&](const std::string& pattern) {
      return read_fields(pattern, name).has_value() || read_fields(pattern, turned).has_value();
    });
  }

  /// Says which settings allow for that.
  void advise(const std::vector<std::string>& unexpected, std::vector<std::string>& problems) const {
    std::vector<std::string> layers;  // that what is amiss belongs to
    for (const std::string& name : amiss_) {
      std::string layer = layer_pattern(name);
      if (layers.empty() || layers.back() != layer) layers.push_back(std::move(layer));
    }
    if (!layers.empty())
      problems.push_back(
          message("training makes ", amiss_.size() > 1 ? "them" : "it", " anew with `fresh` ", patterns_of(layers)));
    std::vector<std::string> unread = of_other_dtypes_;  // `fresh` is not for them, unless nobody looks at them
    unread.insert(unread.end(), unexpected.begin(), unexpected.end());
    if (!unread.empty())
      problems.push_back(message("`ignore` ", patterns_of(unread), " leaves out what is ",
                                 unexpected.empty() ? "" : "unexpected",
                                 unexpected.empty() || of_other_dtypes_.empty() ? "" : " or ",
                                 of_other_dtypes_.empty() ? "" : "of another dtype"));
  }

  const TensorReader& reader_;
  const Reading& reading_;
  std::set<std::string> known_;  // tensors that the reading asks for
  std::vector<std::string> missing_, left_out_, misfits_;
  std::vector<std::string> of_other_dtypes_;  // tensors of the right shape
  std::set<std::string> amiss_;               // vars
  std::size_t fits_ = 0;                      // vars that the file has as they are asked for
  MadeAnew anew_;
};

}  // namespace

MadeAnew check_tensors(const TensorReader& reader, const Reading& reading) {
  return TensorCheck(reader, reading).run();
}

}  // namespace lethe
