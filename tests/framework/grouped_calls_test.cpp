// Updates that a device does in one launch.
#include <gtest/gtest.h>

#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/run/executor.h"
#include "tests/support/counting_device.h"

namespace lethe::testing {
namespace {

std::vector<std::size_t> launched;  // how many updates at a time

/// param += gradient, for scalars in f64. Groups with all that have the same key.
class AddKernel final : public Kernel {
 public:
  explicit AddKernel(std::int64_t key) : key_(key) {}
  void run(const KernelArgs& a) const override {
    launched.push_back(1);
    *a.out<double>(0) += *a.in<double>(1);
  }
  bool groups_with(const Kernel& other) const override {
    const auto* const add = dynamic_cast<const AddKernel*>(&other);
    return add && add->key_ == key_;
  }
  void run_group(std::span<const KernelCall> calls) const override {
    Kernel::run_group(calls);
    launched.resize(launched.size() - calls.size());
    launched.push_back(calls.size());
  }

 private:
  std::int64_t key_;
};

const Register test_update{{
    .type = "test_update",
    .inputs = {"param", "gradient"},
    .outputs = {"param"},
    .infer = same_as_first,
    .updates = true,
    .kernels = {.cpu = [](const PrepareArgs& args) -> std::unique_ptr<Kernel> {
      return std::make_unique<AddKernel>(args.op.attrs.integer("key"));
    }},
}};

/// Groups with all of its kind.
class CopyKernel final : public Kernel {
 public:
  void run(const KernelArgs& a) const override {
    launched.push_back(1);
    *a.out<double>(0) = *a.in<double>(0);
  }
  bool groups_with(const Kernel& other) const override { return dynamic_cast<const CopyKernel*>(&other) != nullptr; }
  void run_group(std::span<const KernelCall> calls) const override { launched.push_back(calls.size()); }
};

const Register test_copy{{
    .type = "test_copy",
    .inputs = {"param"},
    .outputs = {"copy"},
    .infer = same_as_first,
    .copies = Kind::Param,
    .kernels = {.cpu = [](const PrepareArgs&) -> std::unique_ptr<Kernel> { return std::make_unique<CopyKernel>(); }},
}};

/// Runs one step over x = 1 and parameters that are 0, and gives them back.
std::vector<double> run_updates(const std::string& ops, Observer* observer = nullptr) {
  const Program program = parse_program(
      "input x f64[]\nparam a f64[]\nparam b f64[]\nparam c f64[]\ntemp t f64[]\nblock 0 {\n" + ops + "}\n");
  CountingDevice device;
  Store store(device);
  Prepared prepared(device);
  Executor executor(program, plan_none(program, workspaces_of(program, prepared)), prepared, store);
  const double x = 1, zero = 0;
  executor.feed(0, &x, sizeof x);
  for (const char* name : {"a", "b", "c"}) store.write(name, &zero, sizeof zero);
  executor.observe(observer);
  launched.clear();
  executor.run();
  std::vector<double> values;
  for (const VarId v : {1, 2, 3}) values.push_back(executor.fetch_scalar(v));
  return values;
}

std::string update(const char* param, const char* gradient, int key = 0) {
  return message("  ", param, " = test_update(", param, ", ", gradient, ") {key=", key, "} optimize\n");
}

TEST(GroupedCalls, StandOneAfterTheOther) {
  const std::string between = "  t = exp(x)\n";
  EXPECT_EQ(run_updates(update("a", "x") + update("b", "x") + between + update("c", "x")),
            (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(launched, (std::vector<std::size_t>{2, 1}));
  run_updates(update("a", "x") + update("b", "x") + update("c", "x"));
  EXPECT_EQ(launched, (std::vector<std::size_t>{3}));
}

TEST(GroupedCalls, AreOfOneKind) {
  run_updates(update("a", "x", 1) + update("b", "x", 2) + update("c", "x", 2));
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 2}));
}

TEST(GroupedCalls, DoNotTouchWhatAnotherChanges) {
  EXPECT_EQ(run_updates(update("a", "x") + update("b", "a") + update("c", "x")), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 2})) << "b reads the new a";
  EXPECT_EQ(run_updates(update("a", "b") + update("b", "x") + update("b", "x")), (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 1, 1})) << "a reads the old b, and b is changed twice";
  EXPECT_EQ(run_updates("  t = reshape(a) {shape=[]}\n" + update("a", "x") + update("b", "t")),
            (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 1})) << "b reads the new a by a view";
}

TEST(GroupedCalls, AreCopiesOfParametersThatShareNoMemory) {
  const Program program = parse_program(
      "input x f64[]\nparam a f64[]\ntemp s f64[]\ntemp t f64[]\ntemp u f64[]\nblock 0 {\n"
      "  s = test_copy(a)\n  t = test_copy(a)\n  u = test_copy(x)\n}\n");
  CountingDevice device;
  Prepared prepared(device);
  const auto launches = [&](const Plan& plan) {
    Store store(device);
    launched.clear();
    Executor(program, plan, prepared, store).run();
    return launched;
  };
  Plan plan = plan_none(program, workspaces_of(program, prepared));
  EXPECT_EQ(launches(plan), (std::vector<std::size_t>{2, 1})) << "u copies no parameter";
  plan.vars[find_var(program, "t")] = plan.vars[find_var(program, "s")];
  EXPECT_EQ(launches(plan), (std::vector<std::size_t>{1, 1, 1})) << "nobody reads s, whose memory t has";
}

TEST(GroupedCalls, AreShownToAnObserverOneByOne) {
  struct Counter final : Observer {
    void after(const Op&, const KernelArgs&) override { ++ops; }
    int ops = 0;
  } counter;
  run_updates(update("a", "x") + update("b", "x") + update("c", "x"), &counter);
  EXPECT_EQ(counter.ops, 3);
  EXPECT_EQ(launched, (std::vector<std::size_t>{1, 1, 1}));
}

}  // namespace
}  // namespace lethe::testing
