#include "train/data/held_out.h"

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"

namespace lethe {
namespace {

bool is_below(std::uint64_t stream, double share) {
  const Philox4 drawn = philox(stream_key(hash_of("held out"), stream), 0, 0);
  return uniform_of(drawn.word[0], drawn.word[1]) < share;
}

}  // namespace

bool is_held_out(std::string_view name, double share) { return is_below(hash_of(name), share); }
bool is_held_out(std::int64_t row, double share) { return is_below(static_cast<std::uint64_t>(row), share); }

RowsOfSplits divided_rows(std::string_view what, std::int64_t rows, double share) {
  check_as(Exit::Data, rows <= INT32_MAX, what, ": has ", rows, " rows, more than ", INT32_MAX);
  RowsOfSplits divided;
  for (std::int64_t row = 0; row < rows; ++row)
    divided[is_held_out(row, share) ? 1 : 0].push_back(static_cast<std::int32_t>(row));
  check_divided(what, std::ssize(divided[0]), std::ssize(divided[1]), share);
  return divided;
}

void check_divided(std::string_view what, std::int64_t training, std::int64_t held, double share) {
  check_as(Exit::Data, training > 0 && held > 0, what, ": val=", share, " leaves ", training,
           " samples for training and ", held, " for evaluation; both need one at least");
}

}  // namespace lethe
