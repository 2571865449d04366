// Launches of the host shim go to the simulated GPU's streams.
#include "tests/simt/simt_launch.h"
#include "tests/simulated/submit.h"

namespace lethe::simulated {
namespace {

const bool kTaken = [] {
  simt::submit = [](cudaStream_t stream, std::function<void()> blocks) { submit(stream, std::move(blocks)); };
  return true;
}();

}  // namespace
}  // namespace lethe::simulated
