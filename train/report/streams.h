// Standard input, output and error of the process, and results that go there or into a file.
#pragma once
#include <string>

namespace lethe {

/// Opens on the null device those that are closed: else the next file that is opened takes their number, and what is
/// printed goes into it.
void open_missing_streams();

/// Fails with Exit::Data unless all that was printed has reached standard output. `error` is the errno of a write that
/// failed before, if it is known.
void finish_output(int error = 0);

/// The whole of a result into a file, or to standard output if `file` is empty.
void write_result(const std::string& file, const std::string& text);

}  // namespace lethe
