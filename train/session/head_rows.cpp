#include "train/session/head_rows.h"

#include <cstring>

namespace lethe {

void order_rows(std::vector<std::byte>& tensor, std::int64_t rows, std::int64_t heads, HeadRows order) {
  const auto row = tensor.size() / static_cast<std::size_t>(rows);
  const auto half = static_cast<std::size_t>(rows / heads / 2);
  std::vector<std::byte> from(2 * half * row);  // one head
  for (std::byte* head = tensor.data(); head != tensor.data() + tensor.size(); head += from.size()) {
    std::memcpy(from.data(), head, from.size());
    for (std::size_t i = 0; i < half; ++i)
      for (const std::size_t h : {0, 1}) {
        const std::size_t in_file = 2 * i + h, in_memory = h * half + i;
        const bool to_file = order == HeadRows::Interleaved;
        std::memcpy(head + (to_file ? in_file : in_memory) * row, &from[(to_file ? in_memory : in_file) * row], row);
      }
  }
}

}  // namespace lethe
