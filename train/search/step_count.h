// What a step launches and moves, counted where the GPU need not be.
#pragma once
#include <string>
#include <vector>

#include "train/session/programs.h"

namespace lethe {

/// All ops of a type that one implementation runs, in a step.
struct CountRow {
  std::string op, implementation;
  std::int64_t calls = 0, launches = 0;
  double flops = 0;      // two a multiply-add; 0 where they are few for the bytes
  double bytes = 0;      // read and written: each var once a call, and again in passes of their own
  double own_bytes = 0;  // of these, what no library moves
};

struct StepCount {
  std::vector<CountRow> rows = {};  // those that move most first
  bool loops = false;  // there are loops or branches: the ops of each body count once, and what hands values on
};

/// Counts the program that is asked for as it will run on that GPU.
StepCount count_step(const ProgramSetting& setting, const DeviceInfo& gpu);

}  // namespace lethe
