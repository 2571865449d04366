// A network of the zoo from its file to trained weights: planned, trained on data that is made, scored.
#include "train/session/session.h"

#include <cstdio>

using namespace lethe;

/// Prints the records of training.
struct Printer final : Listener {
  void record(const Record& r) override {
    if (r.split == "train") std::printf("step %2lld  loss %.4f\n", static_cast<long long>(r.step), r.loss);
  }
};

int main() {
  Session session({.program = {.network = {.model = "mlp", .batch = 64}}, .device = {.threads = 1}});
  const Plans& plans = session.plan();
  std::printf("%lld bytes, %lld without sharing\n", static_cast<long long>(plans.bytes.total()),
              static_cast<long long>(plans.none));
  Printer printer;
  const Record last = session.train({.lr = 0.05, .steps = 60, .log_every = 20}, printer);
  std::printf("accuracy %.4f\n", session.evaluator()->run().accuracy());
  return last.loss < 2.3 && session.device().peak() == plans.bytes.total() ? 0 : 1;
}
