// GGUF, in which llama.cpp has a model as one file: a header says by keys what the model is and how its tokenizer
// works, and lists the tensors, whose data follow. Numbers are little endian:
//
//   magic "GGUF", version u32 = 3, count of tensors u64, count of keys u64
//   keys:     name, type u32, value; an array is the type of its items, their count u64, and they
//   tensors:  name, count of sizes u32, sizes u64 (the innermost first), type u32, offset u64 into the data
//   data:     from the next multiple of `general.alignment` (32) on; each tensor begins at such a multiple
//
// Text is its length (u64) and bytes. Source: ggml's description of the format, gguf.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/language/program.h"
#include "models/config_families.h"

namespace lethe {

/// Types of values, as the format numbers them.
enum class GgufType : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, Text, Array, U64, I64, F64 };

struct GgufEntry {
  std::string key = {};
  GgufType type = GgufType::U32;  // of an array's items, where the value is one
  Json value = {};                // an f32 is the shortest decimal number that is read back as it
};

/// What tensors consist of: blocks, each of so many numbers of a row in so many bytes.
struct GgmlType {
  std::uint32_t number = 0;
  const char* name = "";  // "Q4_1"
  std::int64_t elements = 1, bytes = 1;
  std::optional<DType> dtype = {};  // whose memory has just these bytes; none: such values are not read
};
/// None for a number or dtype that the format does not have, as far as it is known here.
const GgmlType* ggml_type(std::uint32_t number);
const GgmlType* ggml_type(DType dtype);

struct GgufTensor {
  std::string name = {};
  Shape shape = {};  // the outermost size first
  const GgmlType* type = nullptr;
  std::int64_t begin = 0, bytes = 0;  // in the data
};

struct GgufHeader {
  std::vector<GgufEntry> entries = {};
  std::vector<GgufTensor> tensors = {};  // in the order of their data
  std::int64_t data_begin = 0;           // in the file

  const GgufEntry* find(std::string_view key) const;
  /// The value as text or list; null where the key is missing. Fail (Exit::Data) for a value of another kind.
  const std::string* text(std::string_view key) const;
  const Json* list(std::string_view key, GgufType items) const;
  bool flag(std::string_view key, bool absent) const;
  bool has_tensor(std::string_view name) const;
  /// By what network files call such files: "gguf_llama" of the architecture "llama"; "" where none is said.
  std::string family() const;
};

inline constexpr const char* kGgufAlignment = "general.alignment";
inline constexpr std::int64_t kDefaultGgufAlignment = 32;
/// A type's size in the file; 0 for text and arrays.
std::int64_t bytes_of(GgufType type);

/// Fails with Exit::Data and one line that begins with the file's name: for another version or byte order, for a file
/// that was cut, for what stands twice, and for tensors whose blocks or places do not fit.
GgufHeader read_gguf_header(const std::string& file);
/// Whether a plain file is there that begins as such files do.
bool is_gguf(const std::string& file);

}  // namespace lethe
