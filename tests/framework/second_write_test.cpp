// Arrays that are written again when something has read them: the gradient is right, or refused.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_control.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kSteps = 2;

/// A network whose loss is of what a test makes of `x` and of `all`, an array of kSteps entries that are as `x`.
struct SecondWrite {
  Builder net{{.batch = 2, .dtype = DType::f64}};
  VarId data = net.input("data", {3});
  VarId x = net.layer("fc", data, {{"out", 3}});
  VarId all = net.layer("array", x, {{"length", kSteps}, {"shape", Ints{3}}}, "all");

  VarId mul(VarId a, VarId b) { return net.layer("mul", {a, b}); }
  /// A number whose gradient by `x` reads all of the array.
  VarId read(VarId array) { return net.layer("mean", mul(array, net.layer("mean", x))); }
  VarId loop(const std::function<VarId(VarId)>& body, bool recompute = false) {
    return net.loop(
        {x}, kSteps, nullptr, [&](const Vars& h) { return Vars{body(h[0])}; }, "", recompute)[0];
  }
  void write(VarId array, VarId value) { net.layer("array_write", {array, value, net.trip()}); }
  /// Trips that put the value, and more and more of it, into the entries; gives the last one.
  VarId fill(VarId array, VarId value) {
    return net.loop({value}, kSteps, nullptr, [&](const Vars& h) {
      write(array, h[0]);
      return Vars{net.layer("scale", h[0], {{"a", 1.5}})};
    })[0];
  }
  VarId branch(const std::function<VarId()>& then) {
    const VarId condition = net.layer("greater", net.layer("mean", data), {{"value", -10.0}});
    return net.branch(
        condition, [&] { return Vars{then()}; }, [&] { return Vars{x}; })[0];
  }
};

/// "" if the gradient is that of differences; else what append_backward says, or where it is wrong.
std::string verdict(const std::function<VarId(SecondWrite&)>& middle) {
  SecondWrite s;
  s.net.loss("cross_entropy", middle(s), s.net.input("label", {}, DType::i32));
  const Network network = s.net.finish();
  std::string wrong;
  const std::string refused = error_of([&] { wrong = wrong_gradient(with_backward(network)); });
  return refused == "(nothing)" ? wrong : refused;
}

std::string refusal(const std::string& array) {
  return "gradient of mul: backward needs '" + array +
         "' as it was before it is written again; read it when it is complete";
}

TEST(SecondWrite, IsRefusedThoughItDoesNotLeadToTheLoss) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              const VarId y = s.mul(s.fill(s.all, s.x), s.read(s.all));
              s.fill(s.all, s.x);
              return y;
            }),
            refusal("all.y"));
}

TEST(SecondWrite, OfWhatNeedsNoGradientIsRefused) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              s.fill(s.all, s.data);
              const VarId y = s.mul(s.x, s.read(s.all));
              s.fill(s.all, s.mul(s.data, s.data));
              return y;
            }),
            refusal("all.y"));
}

TEST(SecondWrite, InBlocksInEachOtherIsRefused) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              const VarId y = s.mul(s.fill(s.all, s.x), s.read(s.all));
              s.branch([&] {
                return s.loop([&](VarId h) {
                  s.branch([&] { return s.fill(s.all, s.x); });
                  return h;
                });
              });
              return y;
            }),
            refusal("all.y"));
}

TEST(SecondWrite, InAConditionIsRefused) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              s.fill(s.all, s.data);
              const VarId y = s.mul(s.x, s.read(s.all));
              const auto condition = [&](const Vars&) {
                s.write(s.all, s.mul(s.data, s.data));
                return s.net.layer("less", s.net.trip(), {{"value", kSteps}});
              };
              s.net.loop({s.x}, kSteps, condition, [&](const Vars& h) { return h; });
              return y;
            }),
            refusal("all.y"));
}

TEST(SecondWrite, InTheNextTripIsRefused) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              return s.loop([&](VarId h) {
                const VarId next = s.mul(h, s.read(s.all));
                s.write(s.all, s.data);
                return next;
              });
            }),
            refusal("all.y"));
}

TEST(SecondWrite, OfAnArrayWithinATripIsRefused) {
  for (const bool recompute : {false, true})
    EXPECT_EQ(verdict([&](SecondWrite& s) {
                return s.loop(
                    [&](VarId h) {
                      const VarId own = s.net.layer("array", h, {{"length", kSteps}, {"shape", Ints{3}}}, "own");
                      s.fill(own, h);
                      const VarId next = s.mul(h, s.read(own));
                      s.fill(own, s.data);
                      return next;
                    },
                    recompute);
              }),
              refusal(recompute ? "own.y@AGAIN" : "own.y"));
}

TEST(SecondWrite, OfAnEntryThatIsNotReadInBackwardIsAllowed) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              const VarId first = s.net.layer("mean", s.mul(s.fill(s.all, s.x), s.x)), sum = s.net.layer("mean", s.all);
              const VarId y = s.mul(s.x, s.net.layer("add", {first, sum}));
              s.fill(s.all, s.x);
              return s.mul(y, s.read(s.all));
            }),
            "");
}

/// A loop that carries an array, which its body reads before it writes to it, or after.
std::string verdict_of_a_carried_array(bool reads_before, bool recompute, bool written_later = false) {
  return verdict([&](SecondWrite& s) {
    const auto body = [&](const Vars& h) {
      VarId value = reads_before ? s.read(h[1]) : kNone;
      s.write(h[1], h[0]);
      if (!reads_before) value = s.read(h[1]);
      return Vars{s.mul(h[0], s.net.layer("add", {value, s.x})), h[1]};
    };
    const Vars last = s.net.loop({s.x, s.all}, kSteps, nullptr, body, "loop", recompute);
    const VarId y = s.net.layer("add", {last[0], s.net.layer("mean", last[1])});
    if (written_later) s.fill(last[1], s.x);
    return y;
  });
}

TEST(SecondWrite, OfACarriedArrayIsReadAfterIt) {
  for (const bool recompute : {false, true}) {
    EXPECT_EQ(verdict_of_a_carried_array(false, recompute), "");
    EXPECT_EQ(verdict_of_a_carried_array(false, recompute, true), "") << "each trip's array is kept";
    EXPECT_EQ(verdict_of_a_carried_array(true, recompute), refusal(recompute ? "loop.2@KEPT.y" : "loop.2"));
  }
}

TEST(SecondWrite, ByABlockWithinATripThatIsRepeatedIsRepeated) {
  for (const bool recompute : {false, true})
    EXPECT_EQ(verdict([&](SecondWrite& s) {
                const auto body = [&](const Vars& h) {
                  s.fill(h[1], h[0]);
                  return Vars{s.mul(h[0], s.read(h[1])), h[1]};
                };
                return s.net.loop({s.x, s.all}, kSteps, nullptr, body, "loop", recompute)[0];
              }),
              "");
}

/// A view that is made after the write of each trip shows what is kept of that trip.
TEST(SecondWrite, AfterAViewOfTheTripIsAllowed) {
  EXPECT_EQ(verdict([](SecondWrite& s) {
              return s.loop([&](VarId h) {
                s.write(s.all, h);
                const VarId view = s.net.layer("reshape", s.all, {{"shape", Ints{kSteps, 2, 3}}, {"batch", 1}});
                return s.mul(h, s.read(view));
              });
            }),
            "");
}

/// What append_backward says of an update of `w` or of a state `s`, after ops that read a product with `v`.
std::string verdict_of_update(const std::string& v_op, const std::string& update) {
  Program program = parse_program(
      "param w f64[3]\nparam wide f32[3]\nparam many f64[4,3]\nstate s f64[3]\nstate i i64[]\ntemp v f64[3]\ntemp y "
      "f64[3]\ntemp loss f64[]\n"
      "block 0 {\n" +
      v_op + "\ny = mul(w, v)\nloss = mean(y)\n" + update + "\n}\n");
  verify(program);
  return error_of([&] { append_backward(program, find_var(program, "loss")); });
}

TEST(SecondWrite, OfWhatAViewShowsIsRefusedWhoeverWrites) {
  for (const std::string role : {"", " optimize"}) {
    EXPECT_EQ(verdict_of_update("v = reshape(s) {shape=[3]}", "s = increment(s) {by=1}" + role), refusal("v"));
    EXPECT_EQ(verdict_of_update("v = reshape(s) {shape=[3]}", "i = increment(i) {by=1}" + role), "(nothing)");
  }
}

TEST(SecondWrite, OfAParameterOfWhichACopyIsMadeAgainIsRefused) {
  EXPECT_EQ(verdict_of_update("v = cast(wide) {dtype=\"f64\"}", "wide = increment(wide) {by=1}"), refusal("wide"));
}

TEST(SecondWrite, OfACopyOfAParameterIsNoCopyOfTheParameter) {
  EXPECT_EQ(verdict_of_update("v = cast(wide) {dtype=\"f64\"}", "v = increment(v) {by=1}"), refusal("v"));
}

TEST(SecondWrite, OfAnIndexIsRefused) {
  EXPECT_EQ(
      verdict_of_update("v = array_read(many, i)", "i = increment(i) {by=1}"),
      "gradient of array_read: backward needs 'i' as it was before it is written again; read it when it is complete");
}

/// Whether an op changes in place what one that stands before it reads.
bool writes_again(const Program& program, BlockId block, std::set<VarId>& read) {
  for (const Op& op : program.blocks[block].ops) {
    const bool updates = op_def(op.type).updates;
    if (updates && read.count(op.out[0]) != 0) return true;
    read.insert(op.in.begin() + (updates ? 1 : 0), op.in.begin() + (op.blocks.empty() ? std::ssize(op.in) : 0));
    for (const BlockId body : op.blocks)
      if (writes_again(program, body, read)) return true;
  }
  return false;
}

TEST(SecondWrite, InRandomProgramsIsRefusedOrHasTheGradientOfDifferences) {
  const int programs = 2 * random_programs();
  int refused = 0, right = 0;
  for (const int seed : random_seeds(programs)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Network network = random_rewriting_network(static_cast<std::uint64_t>(seed));
    TrainingProgram made;
    const std::string complaint = error_of([&] { made = with_backward(network); });
    std::set<VarId> read;
    if (complaint == "(nothing)") {
      ASSERT_EQ(wrong_gradient(made), "");
      right += writes_again(network.program, 0, read);
    } else if (complaint.find("as it was before it is written again") != std::string::npos) {
      ++refused;
    } else {
      ASSERT_TRUE(complaint.find("the condition of a loop changes") == 0 ||
                  complaint.find("which cannot run again") != std::string::npos)
          << complaint;
    }
  }
  EXPECT_GT(refused, programs / 10);
  EXPECT_GT(right, programs / 10);
}

}  // namespace
}  // namespace lethe::testing
