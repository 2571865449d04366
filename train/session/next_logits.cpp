#include "train/session/next_logits.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/logits.h"

namespace lethe {

std::int64_t context_of(const Network& network) {
  const FedInputs fed = sample_and_labels(network);
  const Var& input = network.program.vars[fed.samples];
  check(input.dtype == DType::i32 && input.shape.size() == 2, network.name, ": takes ", text_of(input),
        ", text is continued by networks that read symbols, i32[N,T]");
  check(fed.rows == input.shape[1], network.name, ": has ", fed.rows, " labels for ", input.shape[1],
        " symbols; text is continued by networks that say of each symbol which follows");
  return input.shape[1];
}

std::int64_t window_begin(std::int64_t position, std::int64_t context) {
  const std::int64_t half = (context + 1) / 2;
  return position <= context ? 0 : (position - context + half - 1) / half * half;
}

WindowLogits::WindowLogits(const Network& network, const Planned& planned, Prepared& prepared, Store& store)
    : network_(network),
      fed_(sample_and_labels(network)),
      window_(static_cast<std::size_t>(context_of(network))),
      executor_(planned.program, planned.plan, prepared, store) {
  const Var& labels = network.program.vars[fed_.labels];
  const std::vector<std::byte> unknown(static_cast<std::size_t>(bytes_of(labels)));  // the loss is not looked at
  executor_.feed(fed_.labels, unknown.data(), bytes_of(labels));
}

std::vector<double> WindowLogits::after(std::span<const std::int32_t> symbols) {
  const auto begin = static_cast<std::size_t>(window_begin(std::ssize(symbols), std::ssize(window_)));
  const std::span<const std::int32_t> seen = symbols.subspan(begin);
  std::fill(std::copy(seen.begin(), seen.end(), window_.begin()), window_.end(), 0);  // which no earlier one sees
  executor_.feed(fed_.samples, window_.data(), std::ssize(window_) * bytes_of(DType::i32));
  executor_.run();
  const std::vector<double> all = fetch_numbers(executor_, network_.program, network_.prediction);
  const std::size_t classes = all.size() / window_.size();
  const auto row = all.begin() + static_cast<std::ptrdiff_t>((seen.size() - 1) * classes);
  return {row, row + static_cast<std::ptrdiff_t>(classes)};
}

}  // namespace lethe
