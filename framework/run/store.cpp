#include "framework/run/store.h"

#include <algorithm>
#include <cstring>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "framework/language/block_formats.h"
#include "framework/language/quantize.h"
#include "framework/ranks/peers.h"

namespace lethe {
namespace {

/// Zeros.
std::vector<std::byte> host_copy(const Var& var) {
  return taking(message("a copy of '", var.name, "'"), bytes_of(var),
                [&] { return std::vector<std::byte>(static_cast<std::size_t>(bytes_of(var))); });
}

/// Writes `count` elements of `each` bytes, which make(first, count, values) gives, some at a time: beside all of a
/// large var, a copy of it would be more than the run takes ever after.
template <class Make>
void write_in_pieces(Device& device, std::int64_t count, std::int64_t each, void* memory, const Make& make) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 18;
  std::vector<std::byte> values(static_cast<std::size_t>(std::min(count, kPiece) * each));
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t some = std::min(kPiece, count - first);
    make(first, some, values.data());
    device.copy_in(static_cast<std::byte*>(memory) + first * each, values.data(), some * each);
  }
}

/// Of f32 numbers, some at a time.
std::vector<std::byte> initial_blocks(const Init& init, std::uint64_t seed, const Var& var) {
  std::vector<std::byte> blocks = host_copy(var);
  Quantizer quantizer(var.dtype, var.shape, blocks.data());
  const std::int64_t all = elements(var.shape), piece = round_up(std::int64_t{1} << 16, quantizer.grain());
  std::vector<float> values(static_cast<std::size_t>(std::min(all, piece)));
  for (std::int64_t first = 0; first < all; first += piece) {
    const std::int64_t some = std::min(piece, all - first);
    fill_initial(init, seed, var.name, DType::f32, some, values.data(), first);
    quantizer.add(values.data(), some);
  }
  quantizer.finish();
  return blocks;
}

}  // namespace

void Store::add(const Program& program) {
  for (const Var& var : program.vars) {
    if (!is_persistable(var.kind)) continue;
    if (!has(var.name)) add(var);
    const Var& known = entry(var.name).var;
    check(known.shape == var.shape && known.dtype == var.dtype, "'", var.name, "' is ", text_of(var),
          ", but the store holds ", text_of(known));
  }
}

void Store::add(const Var& var) {
  Entry added{var, with_context(message("'", var.name, "'"), [&] { return Buffer(device_, bytes_of(var)); })};
  const auto zeros = [](std::int64_t, std::int64_t, std::byte*) {};
  write_in_pieces(device_, bytes_of(var), 1, added.memory.data(), zeros);
  entries_.emplace(var.name, std::move(added));
}

void Store::initialize(const Program& program, const std::vector<ParamInfo>& params, std::uint64_t seed) {
  for (const Var& var : program.vars)
    if (is_persistable(var.kind) && !has(var.name)) add(var);
  for (const ParamInfo& info : params) {
    const Var& var = program.vars[info.var];
    if (is_in_blocks(var.dtype)) {
      const std::vector<std::byte> blocks = initial_blocks(info.init, seed, var);
      write_whole(var, blocks.data());
      continue;
    }
    const auto make = [&](std::int64_t first, std::int64_t count, std::byte* values) {
      fill_initial(info.init, seed, var.name, var.dtype, count, values, first);
    };
    if (!has_share(var)) {
      write_in_pieces(device_, elements(var.shape), bytes_of(var.dtype), entry(var.name).memory.data(), make);
      continue;
    }
    std::vector<std::byte> whole = host_copy(var);
    make(0, elements(var.shape), whole.data());
    write_whole(var, whole.data());
  }
}

std::vector<std::string> Store::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

std::vector<std::byte> Store::read(const std::string& name) const {
  const Entry& found = entry(name);
  std::vector<std::byte> values = host_copy(found.var);
  device_.copy_out(values.data(), found.memory.data(), bytes_of(found.var));
  return values;
}

void Store::write(const std::string& name, const void* data, std::int64_t bytes) {
  const Entry& found = entry(name);
  check(bytes == bytes_of(found.var), "'", name, "' has ", bytes_of(found.var), " bytes, given ", bytes);
  device_.copy_in(found.memory.data(), data, bytes);
}

std::vector<std::byte> Store::read_whole(const Var& whole) const {
  std::vector<std::byte> own = read(whole.name);
  if (!has_share(whole)) return own;
  Peers& peers = *device_.peers();
  const std::size_t share = own.size();
  own.resize(share * static_cast<std::size_t>(peers.rank().of));
  if (const auto number = peers.rank().number; number > 0)
    std::copy_n(own.begin(), share, own.begin() + share * number);
  peers.gather(own.data(), static_cast<std::int64_t>(share));
  own.resize(static_cast<std::size_t>(bytes_of(whole)));
  return own;
}

void Store::write_whole(const Var& whole, const void* data) {
  if (!has_share(whole)) return write(whole.name, data, bytes_of(whole));
  const Share share = share_of(elements(whole.shape), device_.peers()->rank());
  std::vector<std::byte> own = host_copy(entry(whole.name).var);
  const std::int64_t begin = block_format(whole.dtype, whole.shape).offset(share.begin);
  std::memcpy(own.data(), static_cast<const std::byte*>(data) + begin,
              static_cast<std::size_t>(bytes_of(whole.dtype, {share.count})));
  write(whole.name, own.data(), std::ssize(own));
}

std::int64_t Store::bytes(Kind kind) const {
  std::int64_t sum = 0;
  for (const auto& [name, entry] : entries_)
    if (entry.var.kind == kind) sum += bytes_of(entry.var);
  return sum;
}

const Store::Entry& Store::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  check(found != entries_.end(), "no parameter or state named '", name, "'");
  return found->second;
}

}  // namespace lethe
