#include "train/session/reading.h"

#include <algorithm>
#include <set>

#include "framework/builder/weight_names.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"

namespace lethe {
namespace {

/// "'a', 'b', 'c' and 4 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text.append(i > 0 ? ", " : "").append("'").append(names[i]).append("'");
  return names.size() > kMost ? message(text, " and ", names.size() - kMost, " more") : text;
}

/// Collects what is wrong with a file and says it in one line.
class TensorCheck {
 public:
  TensorCheck(const TensorReader& reader, const Reading& reading) : reader_(reader), reading_(reading) {}

  void run() {
    for (const StoredTensor& stored : reading_.all)
      for (const TensorEntry& expected : tensors_of(stored)) check_tensor(expected, true);
    for (const StoredTensor& stored : reading_.again)
      for (const TensorEntry& expected : tensors_of(stored))
        check_tensor(expected, reading_.find(reader_, stored.names.front()) != nullptr);
    std::vector<std::string> unexpected;
    for (const TensorEntry& tensor : reader_.tensors())
      if (!known_.count(tensor.name) && !is_passed_over(tensor.name)) unexpected.push_back(tensor.name);
    std::vector<std::string> problems;
    if (!missing_.empty())
      problems.push_back(message("missing ", some_of(missing_), did_you_mean(missing_.front(), unexpected)));
    if (!unexpected.empty()) problems.push_back(message("unexpected ", some_of(unexpected)));
    if (!misfit_.empty()) problems.push_back(misfit_);
    std::string text;
    for (const std::string& problem : problems) text.append(text.empty() ? "" : "; ").append(problem);
    check_as(Exit::Data, problems.empty(), reader_.file(), ": ", text);
  }

 private:
  void check_tensor(const TensorEntry& expected, bool required) {
    const TensorEntry* const tensor = reading_.find(reader_, expected.name);
    if (!tensor) {
      if (required) missing_.push_back(expected.name);
      return;
    }
    known_.insert(tensor->name);
    const bool floats = !tensor->is_foreign() && is_float(tensor->dtype) && is_float(expected.dtype);
    const bool readable = tensor->is_of(expected.dtype) || (reading_.converts && floats);
    if (misfit_.empty() && (tensor->shape != expected.shape || !readable))
      misfit_ =
          message("tensor '", tensor->name, "' is ", type_and_shape(*tensor), ", expected ", type_and_shape(expected));
  }

  bool is_passed_over(std::string_view name) const {
    const std::string& prefix = reading_.prefix;
    if (!prefix.empty() && name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
    return std::any_of(reading_.passed_over.begin(), reading_.passed_over.end(),
                       [&](const std::string& pattern) { return read_fields(pattern, name).has_value(); });
  }

  const TensorReader& reader_;
  const Reading& reading_;
  std::set<std::string> known_;
  std::vector<std::string> missing_;
  std::string misfit_;
};

/// Values of a tensor in the dtype that is wanted, all of them numbers.
std::vector<std::byte> read_values(TensorReader& reader, const TensorEntry& tensor, DType wanted, Infinite infinite) {
  const std::string whose = message(reader.file(), ": tensor '", tensor.name, "'");
  std::vector<std::byte> values = reader.read(tensor);
  if (const auto bad = no_number_in(values, tensor.dtype, infinite))
    fail_as(Exit::Data, whose, " has ", bad->value, " at element ", bad->at);
  return with_context(whose, [&] { return converted(std::move(values), tensor.dtype, wanted); });
}

std::vector<std::byte> read_stored(TensorReader& reader, const Reading& reading, const StoredTensor& stored) {
  std::vector<std::vector<std::byte>> tensors;
  for (const std::string& name : stored.names) {
    tensors.push_back(read_values(reader, *reading.find(reader, name), stored.var.dtype, reading.infinite));
  }
  return to_memory(stored, std::move(tensors));
}

/// Checks that what stands twice is the same: one parameter has both names.
void check_again(TensorReader& reader, const Reading& reading) {
  for (const StoredTensor& again : reading.again) {
    if (!reading.find(reader, again.names.front())) continue;
    const StoredTensor& first = *std::find_if(reading.all.begin(), reading.all.end(), [&](const StoredTensor& stored) {
      return stored.var.name == again.var.name;
    });
    check_as(Exit::Data, read_stored(reader, reading, again) == read_stored(reader, reading, first), reader.file(),
             ": tensor '", again.names.front(), "' has other values than '", first.names.front(),
             "'; the network has them once, as '", again.var.name, "'");
  }
}

}  // namespace

void load_tensors(TensorReader& reader, Store& store, const Reading& reading) {
  TensorCheck(reader, reading).run();
  check_again(reader, reading);
  for (const StoredTensor& each : reading.all) {
    const std::vector<std::byte> data = read_stored(reader, reading, each);
    store.write_whole(each.var, data.data());
  }
}

}  // namespace lethe
