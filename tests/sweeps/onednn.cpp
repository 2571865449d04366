// Which shapes oneDNN computes rightly here, in f32 and in bf16, this by AMX where there is some, each in a process of
// its own, since some code ends the process:
//   sweep_onednn [shapes] [seed]
// Each is a convolution at random, its three passes, and a product at random, over poisoned memory against f64
// (tests/support/odd_shapes.h). Names what is wrong, counts it by whether the rules trust it (kernels/conv/providers.h;
// no product by AMX is trusted), and fails if something trusted is. Says so where oneDNN multiplies no bf16: f32 alone
// is held then.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "framework/error.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/workers.h"
#include "kernels/gemm/providers.h"
#include "tests/support/odd_shapes.h"

namespace lethe::testing {
namespace {

struct Counts {
  int right = 0, wrong = 0, killed = 0;
};

/// The child says itself what is wrong.
void count(Counts (&by_trust)[2], bool trusted, const std::string& what, const std::function<std::string()>& wrong) {
  const char* const trust = trusted ? "trusted" : "not trusted";
  std::fflush(stdout);
  const pid_t child = fork();
  check_as(Exit::Internal, child >= 0, "no process for ", what);
  if (child == 0) {
    const Workers workers(1);
    const std::string is = wrong();
    if (!is.empty()) std::printf("%s: %s: %s\n", trust, what.c_str(), is.c_str());
    std::fflush(stdout);
    _exit(is.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("%s: %s: signal %d\n", trust, what.c_str(), WTERMSIG(status));
  Counts& counts = by_trust[trusted];
  ++(WIFSIGNALED(status) ? counts.killed : WEXITSTATUS(status) == 0 ? counts.right : counts.wrong);
}

int sweep(int shapes, unsigned seed) {
  Counts by_trust[2];
  const bool tiles = onednn_has_tiles();
  std::mt19937 random(seed);
  for (int i = 0; i < shapes; ++i) {
    const ConvShape conv = random_conv(random);
    const GemmShape product = random_product(random);
    for (const DType dtype : {DType::bf16, DType::f32}) {
      if (!onednn_serves(dtype)) continue;
      const bool is_wide = dtype == DType::f32;
      for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight})
        count(by_trust, is_trusted(pass, conv, dtype) && (is_wide || !tiles || is_trusted_with_tiles(conv)),
              message(name_of(dtype), ", ", text_of(pass, conv)), [&] {
                return wrong_over_rubbish(expected_of(pass, conv, dtype),
                                          [&] { return prepare_conv_onednn(pass, conv, false, dtype, 1, true); });
              });
      count(by_trust, is_wide || !tiles, message(name_of(dtype), ", ", described(product)), [&] {
        return wrong_over_rubbish(expected_of(product, dtype),
                                  [&] { return prepare_gemm_onednn(product, dtype, 1, true); });
      });
    }
  }
  for (const bool trusted : {true, false}) {
    const Counts& c = by_trust[trusted];
    std::printf("%s: %d right, %d wrong, %d killed\n", trusted ? "trusted" : "not trusted", c.right, c.wrong, c.killed);
  }
  return by_trust[true].wrong + by_trust[true].killed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lethe::testing

int main(int argc, char** argv) {
  if (!lethe::onednn_serves(lethe::DType::bf16)) std::puts("oneDNN multiplies no bf16 here: f32 alone");
  std::printf("%s\n", lethe::cpu_provider().c_str());
  return lethe::testing::sweep(argc > 1 ? std::atoi(argv[1]) : 5000, argc > 2 ? std::atoi(argv[2]) : 1);
}
