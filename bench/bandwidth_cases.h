// The ops that memory limits, each in a form that moves much: what bench_bandwidth measures.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/samples.h"

namespace lethe {

/// Rows as those that the tests have, for tensors of about `bytes` bytes whose last axis is `width` elements of `dtype`
/// (images: channels). An op whose gradient another op's rule emits stands there with that.
std::vector<testing::Sample> bandwidth_cases(std::int64_t bytes, std::int64_t width, DType dtype);

/// A row's op and those of its gradient, with what each var that they are given is like.
struct CaseProgram {
  Program program = {};
  std::map<VarId, testing::SampleInput> given = {};
  /// Adds one of that dtype; kNone if it is absent.
  VarId give(const testing::SampleInput& like, DType dtype);
};
CaseProgram program_of(const testing::Sample& sample, DType dtype);

/// Every op of the table that has a kernel and few multiply-adds, but those that never move much: of single
/// numbers, flags and labels, or between ranks. Sorted.
std::vector<std::string> bandwidth_ops();

}  // namespace lethe
