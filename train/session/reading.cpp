#include "train/session/reading.h"

#include <algorithm>
#include <set>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/name_pattern.h"
#include "train/session/number_blocks.h"
#include "train/session/tensor_check.h"

namespace lethe {
namespace {

bool is_state_in_blocks(DType dtype) { return dtype == DType::dynamic8 || dtype == DType::udynamic8; }

/// Values of a tensor in the dtype that is wanted, all of them numbers.
std::vector<std::byte> read_values(TensorReader& reader, const TensorEntry& tensor, DType wanted, Infinite infinite) {
  const std::string whose = message(reader.file(), ": tensor '", tensor.name, "'");
  std::vector<std::byte> values = reader.read(tensor);
  if (const auto bad = no_number_in(values, tensor.dtype, infinite))
    fail_as(Exit::Data, whose, " has ", bad->value, " at element ", bad->at);
  if (is_in_blocks(tensor.dtype) && !is_state_in_blocks(tensor.dtype))
    if (const std::string bad = complaint_about_values(values, tensor.dtype, tensor.shape); !bad.empty())
      fail_as(Exit::Data, whose, ' ', bad);
  return with_context(whose, [&] { return converted(std::move(values), tensor.dtype, wanted, tensor.shape); });
}

/// In blocks as the file has them, or made anew of floats: what a block is depends on the var's layout in memory.
std::vector<std::byte> read_stored(TensorReader& reader, const Reading& reading, const StoredTensor& stored) {
  const auto before = reading.rounded.find(stored.var.name);
  const DType dtype = stored.var.dtype, first = before == reading.rounded.end() ? dtype : dtype_named(before->second);
  StoredTensor read = stored;
  read.var.dtype = !is_in_blocks(first) || are_its_blocks(reader, reading, stored, first) ? first : DType::f32;
  std::vector<std::vector<std::byte>> tensors;
  for (const std::string& name : stored.names)
    tensors.push_back(read_values(reader, *reading.find(reader, name), read.var.dtype, reading.infinite));
  std::vector<std::byte> value = to_memory(read, std::move(tensors));
  return with_context(quote(stored.var.name), [&] {
    value = converted(std::move(value), read.var.dtype, first, stored.var.shape);
    return converted(std::move(value), first, dtype, stored.var.shape);
  });
}

/// Checks that what stands twice is the same: one parameter has both names.
void check_again(TensorReader& reader, const Reading& reading, const MadeAnew& anew) {
  for (const StoredTensor& again : reading.again) {
    if (anew.contains(again.var.name) || !reading.find(reader, again.names.front())) continue;
    const StoredTensor& first = *std::find_if(reading.all.begin(), reading.all.end(), [&](const StoredTensor& stored) {
      return stored.var.name == again.var.name;
    });
    check_as(Exit::Data, read_stored(reader, reading, again) == read_stored(reader, reading, first), reader.file(),
             ": tensor '", again.names.front(), "' has other values than '", first.names.front(),
             "'; the network has them once, as '", again.var.name, "'");
  }
}

/// "weights are bf16 in FILE; they become f32" of what was converted, if anything was.
std::vector<std::string> said_of(const std::set<std::pair<DType, DType>>& converted, const std::string& file) {
  std::vector<std::string> lines;
  for (const auto& [from, to] : converted)
    lines.push_back(message("note: weights are ", name_of(from), " in ", file, "; they become ", name_of(to)));
  return lines;
}

}  // namespace

bool are_its_blocks(const TensorReader& reader, const Reading& reading, const StoredTensor& stored, DType dtype) {
  const bool is_plain = is_state_in_blocks(dtype) || (stored.layout.kind == FileLayout::Same && !stored.transposed);
  return is_plain && std::ranges::all_of(stored.names, [&](const std::string& name) {
           const TensorEntry& tensor = *reading.find(reader, name);
           return tensor.dtype == dtype && (stored.names.size() == 1 || blocks_join(dtype, tensor.shape));
         });
}

std::set<std::string> tensors_named(const std::string& patterns, const TensorReader& reader, const Network& network) {
  std::set<std::string> meant;
  for (const std::string& pattern : patterns_given(patterns, "`ignore`")) {
    bool found = false;
    std::vector<std::string> known;
    for (const TensorEntry& tensor : reader.tensors()) {
      known.push_back(tensor.name);
      const auto turned = [&](const WeightNames& names) {
        return matches(pattern, prefix_turned(tensor.name, names.prefix));
      };
      if (!matches(pattern, tensor.name) && !std::ranges::any_of(network.weight_names, turned)) continue;
      meant.insert(tensor.name);
      found = true;
    }
    check(found, "`ignore`: ", reader.file(), " has no tensor called ", quote(pattern), did_you_mean(pattern, known));
  }
  return meant;
}

Loaded load_tensors(TensorReader& reader, Store& store, const Reading& reading) {
  const MadeAnew anew = check_tensors(reader, reading);
  check_again(reader, reading, anew);
  std::set<std::pair<DType, DType>> converted;
  for (const StoredTensor& each : reading.all) {
    if (anew.contains(each.var.name)) continue;
    for (const std::string& name : each.names)
      if (const DType dtype = reading.find(reader, name)->dtype; dtype != each.var.dtype)
        converted.emplace(dtype, each.var.dtype);
    const std::vector<std::byte> data = read_stored(reader, reading, each);
    store.write_whole(each.var, data.data());
  }
  Loaded loaded{.lines = said_of(converted, reader.file())};
  for (const StoredTensor& each : reading.all)
    if (const auto found = anew.find(each.var.name); found != anew.end()) {
      loaded.lines.push_back(message("made anew: ", each.var.name, " (", found->second, ")"));
      loaded.anew.insert(each.var.name);
    }
  return loaded;
}

}  // namespace lethe
