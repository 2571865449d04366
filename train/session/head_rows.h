// Rows of heads in the order of llama.cpp's files (ForeignWeight::interleaved).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lethe {

enum class HeadRows { Interleaved, AsInMemory };
/// Brings the rows of a tensor, whatever they consist of, from the other order into this one. `rows` is a multiple of
/// 2 * `heads`, and the tensor's bytes are one of `rows`.
void order_rows(std::vector<std::byte>& tensor, std::int64_t rows, std::int64_t heads, HeadRows order);

}  // namespace lethe
