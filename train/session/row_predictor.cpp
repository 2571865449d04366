#include "train/session/row_predictor.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "framework/error.h"
#include "train/session/logits.h"

namespace lethe {
namespace {

/// Logits as chances, or what is standardised in the units of the targets.
std::vector<double> in_units(std::span<const double> values, const std::vector<TableColumn>& targets, bool chances) {
  std::vector<double> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back(chances ? 1 / (1 + std::exp(-values[i])) : targets[i].mean + targets[i].deviation * values[i]);
  return all;
}

}  // namespace

RowPredictor::RowPredictor(const Network& network, const Planned& planned, Prepared& prepared, Store& store,
                           const TableRows& rows)
    : network_(network),
      rows_(rows),
      fed_(fed_inputs(network)),
      batches_(
          *rows.samples,
          evaluation_batches(network.program.vars[fed_.samples].shape[0], network.program.vars[fed_.samples].dtype),
          store.device()),
      executor_(planned.program, planned.plan, prepared, store) {}

RowResults RowPredictor::run(const std::vector<TableColumn>& targets, std::int64_t top) {
  RowResults results;
  auto place = rows_.places.begin();
  batches_.start(0);
  while (const Batch* const batch = batches_.next()) {
    feed_next(executor_, fed_, batches_, *batch);
    executor_.run();
    const std::vector<double> all = fetch_numbers(executor_, network_.program, network_.prediction);
    const std::size_t each = all.size() / static_cast<std::size_t>(network_.program.vars[fed_.samples].shape[0]);
    for (std::int64_t i = 0; i < batch->count; ++i, ++place) {
      const std::span<const double> values = std::span(all).subspan(static_cast<std::size_t>(i) * each, each);
      check_as(Exit::Numeric, std::ranges::all_of(values, [](double x) { return std::isfinite(x); }), *place,
               ": the network gives what is no number");
      if (fed_.labels != kNone)
        results.guesses.push_back(likeliest(*place, values, top));
      else
        results.numbers.push_back({*place, in_units(values, targets, fed_.chances)});
    }
  }
  return results;
}

}  // namespace lethe
