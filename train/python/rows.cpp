#include "train/python/rows.h"

#include <algorithm>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"

namespace lethe {
namespace {

constexpr const char* kArrays = "arrays";  // what such data is called

class NoRows final : public Rows {
 public:
  std::int64_t size() const override { return 1; }
  void read(std::int64_t, std::byte*, std::int32_t*) const override {
    fail("the session has no data; train(data) and evaluate(data) give it some, or `data` of the session");
  }
};

}  // namespace

ArrayRows::ArrayRows(ArraysByName arrays, const Network& network, std::shared_ptr<void> owner, bool predicts)
    : network_(network), fed_(fed_inputs(network)), range_(network), owner_(std::move(owner)) {
  std::vector<std::string> known;
  std::vector<VarId> inputs = fed_.inputs;
  if (fed_.labels != kNone) inputs.push_back(fed_.labels);
  for (const VarId input : inputs) {
    const std::string& name = known.emplace_back(network.program.vars[input].name);
    const auto found = arrays.find(name);
    const bool is_target = input == fed_.labels || input == fed_.target;
    check_as(Exit::Data, found != arrays.end() || (predicts && is_target), "no array for the input '", name, "'");
    given_.push_back({.input = input, .array = -1});
    if (found == arrays.end()) continue;
    given_.back().array = static_cast<int>(arrays_.size());
    arrays_.emplace_back(std::move(found->second), network, input);
    const InputArray &first = arrays_.front(), &own = arrays_.back();
    check_as(Exit::Data, own.rows() == first.rows(), own.name(), ": has ", own.rows(), " rows, ", first.name(), " has ",
             first.rows());
  }
  for (const auto& [name, array] : arrays)
    check(std::ranges::count(known, name) > 0, quote(name), " is no input of ", network.name, did_you_mean(name, known),
          " (known: ", joined(known), ")");
  check_as(Exit::Data, !arrays_.empty() && size() > 0, "there are no rows");
}

void ArrayRows::read(std::int64_t row, std::byte* sample, std::int32_t* labels) const {
  for (const Given& given : given_) {
    const bool are_labels = given.input == fed_.labels;
    std::byte* const to = are_labels ? reinterpret_cast<std::byte*>(labels) : sample;
    const InputArray& array = arrays_[static_cast<std::size_t>(given.array)];
    array.read(row, to);
    check_targets(given.array, row, to);
    if (!are_labels) sample += array.sample_bytes();
  }
}

void ArrayRows::check_targets(int number, std::int64_t row, const std::byte* value) const {
  const InputArray& array = arrays_[static_cast<std::size_t>(number)];
  const auto bytes = static_cast<std::size_t>(array.sample_bytes());
  const auto is_of = [&](VarId input) { return input != kNone && network_.program.vars[input].name == array.name(); };
  if (is_of(fed_.labels))
    range_.check_labels(array.name(), row,
                        {reinterpret_cast<const std::int32_t*>(value), bytes / sizeof(std::int32_t)});
  else if (fed_.chances && is_of(fed_.target))
    check_chances(array.name(), row, {value, bytes}, array.dtype());
}

void ArrayRows::feed(Executor& executor) {
  const std::int64_t batch = executor.program().vars[given_.front().input].shape[0];
  check_as(Exit::Data, size() == batch, arrays_.front().name(), ": has ", size(), " rows, a batch has ", batch);
  feed(executor, 0, batch);
}

void ArrayRows::feed(Executor& executor, std::int64_t begin, std::int64_t count) {
  for (Given& given : given_) {
    const Var& var = executor.program().vars[given.input];
    const std::int64_t bytes = bytes_of(var), each = bytes / var.shape[0];
    const InputArray* const array = given.array < 0 ? nullptr : &arrays_[static_cast<std::size_t>(given.array)];
    const std::byte* value = array && array->is_as_fed() && count == var.shape[0] ? array->row(begin) : nullptr;
    if (!value) {
      given.copied.assign(static_cast<std::size_t>(bytes), std::byte{});
      for (std::int64_t i = 0; array && i < count; ++i) array->read(begin + i, given.copied.data() + i * each);
      value = given.copied.data();
    }
    for (std::int64_t i = 0; array && i < count; ++i) check_targets(given.array, begin + i, value + i * each);
    if (given.input == fed_.labels) fed_labels_ = reinterpret_cast<const std::int32_t*>(value);
    executor.feed(given.input, value, bytes);
  }
}

std::int64_t ArrayRows::counted_labels() const {
  return fed_.labels == kNone ? 0 : counted(network_, fed_labels_, size() * fed_.rows);
}

RowSamples::RowSamples(const Network& network, Meaning meaning, std::shared_ptr<const Rows> training,
                       std::shared_ptr<const Rows> tests, double held)
    : NamedSamples(kArrays, network, fed_inputs(network)),
      meaning_(std::move(meaning)),
      training_(std::move(training)),
      tests_(std::move(tests)) {
  check_as(Exit::Data, training_->size() <= INT32_MAX, name(), ": ", training_->size(), " rows are more than ",
           INT32_MAX);
  if (!tests_ && held > 0) divided_ = divided_rows(name(), training_->size(), held);
}

std::int64_t RowSamples::size(Split split) const {
  if (!divided_[0].empty()) return std::ssize(divided_[static_cast<std::size_t>(split)]);
  return split == Split::Train ? training_->size() : tests_ ? tests_->size() : 0;
}

void RowSamples::read(Split split, std::int64_t index, std::byte* sample, std::int32_t* labels) const {
  const std::vector<std::int32_t>& rows = divided_[static_cast<std::size_t>(split)];
  const std::int64_t row = rows.empty() ? index : rows[static_cast<std::size_t>(index)];
  (split == Split::Test && tests_ ? *tests_ : *training_).read(row, sample, labels);
}

std::shared_ptr<const Samples> no_samples(const Network& network, Meaning meaning) {
  const auto none = std::make_shared<NoRows>();
  return std::make_shared<RowSamples>(network, std::move(meaning), none, none, 0);
}

}  // namespace lethe
