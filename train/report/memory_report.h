// Memory, said beforehand and measured, in words.
#pragma once
#include <cstdint>
#include <string>

#include "memopt/planned.h"

namespace lethe {

class Progress;
struct Plans;

inline constexpr double kMiB = 1024 * 1024;
/// "12.3 MiB"; below a tenth of that in KiB.
std::string mebibytes(std::int64_t bytes);
/// Bytes as an option takes them: "12GiB", "800MiB"; "1500000000" where it is no whole number of these.
std::string size_text(std::int64_t bytes);
/// "12.34": MiB, for columns that say so.
std::string mib(std::int64_t bytes);
/// "-63 %".
std::string percent_change(std::int64_t without, std::int64_t with);
/// `memory predicted 123456 bytes (0.1 MiB): params 1 state 2 inputs 3 temps 4 workspace 5`, all in bytes; with
/// `at_most` that stands before the first number.
std::string predicted_line(const Bytes& bytes, bool at_most = false);
/// `memory none 812.4 MiB`, or what a setting makes of it: `memory none 812.4 MiB -> level=1 300.2 MiB (-63 %)`.
std::string setting_line(const std::string& setting, std::int64_t without, std::int64_t with);
/// `memory arena 123456 bytes (0.1 MiB): certified minimal for this order; most live at once 123456 bytes, at conv2d of
/// 'conv1.y'`, or how far above that bound it is.
std::string arena_line(const ArenaFacts& facts);
/// `memory recompute 63 ops run once more, 1234 million multiply-adds: 4.8 % of a step, predicted`, or that none does.
std::string recomputed_line(const Recomputed& facts);
/// `memory backward in two passes, the first for the norm of all gradients: 63 of these ops, 44.9 % of a step`.
std::string second_pass_line(const Recomputed& second);
/// The part of that which is known without an arena: `memory lower bound 123456 bytes (0.1 MiB): most live at once at
/// level=2, at conv2d of 'conv1.y'`.
std::string bound_line(const ArenaFacts& facts);
/// `memory taken 123456 bytes, as predicted`, or by how much it differs; less than `at_most` is no difference.
std::string taken_line(std::int64_t taken, std::int64_t predicted, bool at_most = false);

/// What the memory stage logged, to standard output.
void print_log(const Planned& planned);
/// Prints what the memory stage logged and could not do, then what the run will take, in the lines above.
void print_predicted(const std::string& memopt, const Plans& plans, Progress& progress);

/// What writing text takes: a table by category, in which `cached` text has a line for what it keeps of all symbols so
/// far, and the predicted line. `planned`: what runs for each symbol; `bytes`: with what reads a prompt, which takes
/// turns with it.
std::string decode_plan_text(const std::string& network, std::int64_t context, DType dtype, bool cached,
                             const Planned& planned, const Bytes& bytes);

/// A line for each GPU of this machine with its free memory; or one that says why there is none.
std::string gpu_lines();

}  // namespace lethe
