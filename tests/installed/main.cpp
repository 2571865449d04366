#include <train/session/session.h>

#include <cstdio>

int main() {
  lethe::Session session({.program = {.network = {.model = "mlp", .batch = 64}}});
  std::printf("%lld bytes\n", static_cast<long long>(session.plan().bytes.total()));
  const lethe::Record last = session.train({.lr = 0.05, .steps = 60});
  std::printf("loss %.4f, accuracy %.4f\n", last.loss, session.evaluator()->run().accuracy());
  return session.device().peak() == session.plan().bytes.total() && last.loss < 2.2 ? 0 : 1;
}
