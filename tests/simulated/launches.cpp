// Launches of the host shim go to the simulated GPU's streams.
#include "tests/simt/simt_launch.h"
#include "tests/simulated/submit.h"

namespace lethe::simulated {
namespace {

const bool kTaken = [] {
  simt::submit = submit;
  return true;
}();

}  // namespace
}  // namespace lethe::simulated
