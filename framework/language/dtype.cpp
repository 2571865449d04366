#include "framework/language/dtype.h"

#include <string>
#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

struct DTypeFact {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;  // of one element; 0: it is in blocks
};
constexpr DTypeFact kDTypes[] = {
    {DType::f32, "f32", 4},       {DType::f64, "f64", 8},           {DType::bf16, "bf16", 2},
    {DType::f16, "f16", 2},       {DType::i32, "i32", 4},           {DType::i64, "i64", 8},
    {DType::u8, "u8", 1},         {DType::int8, "int8", 0},         {DType::q8_0, "q8_0", 0},
    {DType::q4_0, "q4_0", 0},     {DType::q4_1, "q4_1", 0},         {DType::nf4, "nf4", 0},
    {DType::nf4_dq, "nf4-dq", 0}, {DType::dynamic8, "dynamic8", 0}, {DType::udynamic8, "udynamic8", 0}};

}  // namespace

std::int64_t bytes_of(DType dtype) {
  const DTypeFact& fact = kDTypes[static_cast<std::size_t>(dtype)];
  if (fact.bytes == 0) fail_as(Exit::Internal, fact.name, " has no bytes of one element");
  return fact.bytes;
}
bool is_float(DType dtype) { return dtype <= DType::f16; }
bool is_in_blocks(DType dtype) { return dtype >= DType::int8; }
DType wide_of(DType dtype) {
  return dtype == DType::bf16 || dtype == DType::f16 || is_in_blocks(dtype) ? DType::f32 : dtype;
}

std::string_view name_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }

DType dtype_named(std::string_view name) {
  for (const DTypeFact& fact : kDTypes)
    if (fact.name == name) return fact.dtype;
  std::vector<std::string> known;
  for (const DTypeFact& fact : kDTypes) known.emplace_back(fact.name);
  fail("unknown dtype ", quote(name), "; known: ", joined(known));
}

}  // namespace lethe
