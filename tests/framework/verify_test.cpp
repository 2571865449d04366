// One wrong program for each rule, made from a right one.
#include "framework/language/verify.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

const std::string kDeclared =
    "input x f32[2]\n"
    "param w f32[2]\n"
    "state s f32[2]\n"
    "temp y f32[2]\n"
    "temp z f32[2]\n";

/// What verify says of a program with these vars and ops.
std::string verdict(const std::string& ops, const std::string& more_vars = "", const std::string& blocks = "") {
  const Program program = parse_program(kDeclared + more_vars + "block 0 {\n" + ops + "}\n" + blocks);
  return error_of([&] { verify(program); });
}
constexpr const char* kRight = "(nothing)";

TEST(Verify, AcceptsRightPrograms) {
  EXPECT_EQ(verdict("y = relu(x)\nz = add(y, w)\n"), kRight);
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    EXPECT_EQ(error_of([&] { verify(program); }), kRight) << "seed " << seed << '\n' << to_text(program);
  }
}

TEST(Verify, NamesOpAndVarOfWhatIsReadBeforeItIsWritten) {
  EXPECT_EQ(verdict("z = relu(y)\ny = relu(x)\n"), "block 0, op 0 'relu': reads 'y' before it is written");
}

TEST(Verify, RefusesATempWrittenTwice) {
  EXPECT_EQ(verdict("y = relu(x)\ny = relu(x)\n"), "block 0, op 1 'relu': writes 'y' a second time");
}

TEST(Verify, RefusesAWriteToAnInput) {
  EXPECT_EQ(verdict("x = relu(w)\n"), "block 0, op 0 'relu': writes the input 'x'");
}

TEST(Verify, RefusesAWriteToAParamOrStateThatIsNoUpdate) {
  EXPECT_EQ(verdict("w = relu(x)\n"), "block 0, op 0 'relu': writes param 'w' without updating it in place");
  EXPECT_EQ(verdict("s = relu(s)\n"), "block 0, op 0 'relu': writes state 's' without updating it in place");
}

TEST(Verify, RefusesTooManyAndMissingInputs) {
  EXPECT_EQ(verdict("y = relu(x, w)\n"), "block 0, op 0 'relu': has 2 inputs, takes 1");
  EXPECT_EQ(verdict("y = relu()\n"), "block 0, op 0 'relu': input 'x' is missing");
  EXPECT_EQ(verdict("y = relu(_)\n"), "block 0, op 0 'relu': input 'x' is missing");
}

TEST(Verify, RefusesAnotherNumberOfOutputs) {
  EXPECT_EQ(verdict("y, z = relu(x)\n"), "block 0, op 0 'relu': has 2 outputs, gives 1");
}

TEST(Verify, RefusesShapesAndDTypesThatTheRuleDoesNotGive) {
  EXPECT_EQ(verdict("q = relu(x)\n", "temp q f32[3]\n"),
            "block 0, op 0 'relu': 'q' is f32[3], its shape rule gives f32[2]");
  EXPECT_EQ(verdict("q = relu(x)\n", "temp q f64[2]\n"),
            "block 0, op 0 'relu': 'q' is f64[2], its shape rule gives f32[2]");
}

TEST(Verify, LetsEachExchangeBeWaitedForOnce) {
  const auto said_of = [](const std::string& ops) {
    return verdict(ops, "temp p f32[4]\ntemp q f32[4]\ntemp r f32[4]\ntemp room f32[1]\n");
  };
  const std::string start = "p = all_gather_start(x) {ranks=2}\n", wait = "q = all_gather_wait(p)\n";
  EXPECT_EQ(said_of(start + "y = relu(x)\n" + wait), kRight);
  EXPECT_EQ(said_of(start), "block 0: nothing waits for 'p', which ranks have begun to exchange");
  EXPECT_EQ(said_of(start + wait + "r = all_gather_wait(p)\n"),
            "block 0, op 2 'all_gather_wait': waits for 'p', which is not all of what one op has begun");
  EXPECT_EQ(said_of(start + "r = relu(p)\n" + wait), "block 0, op 1 'relu': touches 'p', which is under way");
  EXPECT_EQ(said_of("y, room = all_reduce_start(x) {ranks=2}\nz = all_reduce_wait(y, x)\n"),
            "block 0, op 1 'all_reduce_wait': waits for 'y', which is not all of what one op has begun");
  EXPECT_EQ(said_of("w = gather_params_start(w) {ranks=2}\ny = relu(w)\nw = gather_params_wait(w)\n"),
            "block 0, op 1 'relu': touches 'w', which is under way");
}

TEST(Verify, RefusesRanksThatThereCannotBe) {
  const auto said_of = [](const std::string& op) {
    return verdict(op + " optimize\n", "input lr f32[]\ntemp q f32[1]\n");
  };
  EXPECT_EQ(said_of("q = own_share(x) {rank=1, ranks=2}"), kRight);
  EXPECT_EQ(said_of("q = own_share(x) {rank=0, ranks=0}"),
            "block 0, op 0 'own_share': own_share: ranks is 0, expected at least 2");
  EXPECT_EQ(said_of("q = own_share(x) {rank=0, ranks=2000000}"),
            "block 0, op 0 'own_share': own_share: ranks is 2000000, expected at most 1048576");
  EXPECT_EQ(said_of("q = reduce_scatter_wait(x, x) {ranks=0}"),
            "block 0, op 0 'reduce_scatter_wait': reduce_scatter_wait: ranks is 0, expected at least 2");
  EXPECT_EQ(said_of("w = sgd(w, x, lr) {rank=0, ranks=0, weight_decay=0.0}"),
            "block 0, op 0 'sgd': sgd: ranks is 0, expected at least 2");
  for (const int rank : {-1, 2})
    EXPECT_EQ(said_of(message("w = sgd(w, x, lr) {rank=", rank, ", ranks=2, weight_decay=0.0}")),
              message("block 0, op 0 'sgd': sgd: rank is ", rank, ", expected 0 to 1"));
}

TEST(Verify, RefusesUnknownOps) {
  EXPECT_EQ(verdict("y = relv(x)\n"), "block 0, op 0 'relv': no op named 'relv'; did you mean 'relu'?");
}

TEST(Verify, RefusesTwoVarsOfOneName) {
  Program program = parse_program(kDeclared + "block 0 {\n}\n");
  program.vars[1].name = "x";
  EXPECT_TRUE(fails_with("two vars are named 'x'", [&] { verify(program); }));
  program.vars[1].name = "";
  EXPECT_TRUE(fails_with("a var has no name", [&] { verify(program); }));
}

TEST(Verify, RefusesEmptyAxes) { EXPECT_EQ(verdict("", "temp q f32[2,0]\n"), "var 'q' has shape [2,0]"); }

TEST(Verify, RefusesIdsOutOfRange) {
  for (const VarId id : {-2, 5, 99}) {
    Program program = parse_program(kDeclared + "block 0 {\ny = relu(x)\n}\n");
    program.blocks[0].ops[0].in[0] = id;
    EXPECT_TRUE(fails_with(message("an input has id ", id), [&] { verify(program); }));
    program.blocks[0].ops[0].in[0] = 0;
    program.blocks[0].ops[0].out[0] = id;
    EXPECT_TRUE(fails_with(message("an output has id ", id), [&] { verify(program); }));
  }
  Program program = parse_program(kDeclared + "block 0 {\n}\n");
  program.vars[3].block = 1;
  EXPECT_TRUE(fails_with("var 'y' is in block 1, which does not exist", [&] { verify(program); }));
  program.blocks.clear();
  EXPECT_TRUE(fails_with("block", [&] { verify(program); }));
}

// Control flow of its own, so that the rules are held before any such op exists.
class VerifyBlocks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const Register op{{.type = "test_loop", .inputs = {"x..."}, .outputs = {"y..."}}};
  }
  static std::string verdict_of_loop(const std::string& head, const std::string& block_head, const std::string& body) {
    return verdict(head + "\n", "temp inner f32[2] block 1\n", "block 1 " + block_head + " {\n" + body + "}\n");
  }
};

TEST_F(VerifyBlocks, AcceptsABlockWhoseOuterVarsAreListed) {
  EXPECT_EQ(verdict_of_loop("y = test_loop(x) block 1", "parent 0", "inner = relu(x)\ny = relu(inner)\n"), kRight);
}

TEST_F(VerifyBlocks, RefusesABlockOfAnOpThatTakesNone) {
  EXPECT_EQ(verdict_of_loop("y = relu(x) block 1", "parent 0", "inner = relu(x)\n"),
            "block 0, op 0 'relu': takes no blocks");
}

TEST_F(VerifyBlocks, RefusesAnOuterVarThatTheOpDoesNotList) {
  const std::string text = verdict_of_loop("y = test_loop(x) block 1", "parent 0", "inner = add(x, w)\n");
  EXPECT_NE(text.find("block 1 touches 'w', which the op lists neither in its inputs nor in its outputs"),
            std::string::npos)
      << text;
}

TEST_F(VerifyBlocks, RefusesABlockThatIsItsOwnParent) {
  const std::string text = verdict_of_loop("y = test_loop(x) block 1", "parent 1", "inner = relu(x)\n");
  EXPECT_NE(text.find("block 1 has parent 1, expected an earlier block"), std::string::npos) << text;
}

TEST_F(VerifyBlocks, RefusesABlockOfAnotherParent) {
  const std::string nested = "inner = relu(x)\n}\nblock 2 parent 1 {\n";
  const std::string text = verdict_of_loop("y = test_loop(x) block 2", "parent 0", nested);
  EXPECT_NE(text.find("block 2 has parent 1, expected 0"), std::string::npos) << text;
}

TEST_F(VerifyBlocks, RefusesAnAbsentInputAmongTheVariadicOnes) {
  const std::string text = verdict_of_loop("y = test_loop(x, _) block 1", "parent 0", "inner = relu(x)\n");
  EXPECT_NE(text.find("one of the inputs 'x...' is missing"), std::string::npos) << text;
}

TEST_F(VerifyBlocks, RefusesABlockThatDoesNotExist) {
  EXPECT_NE(verdict("y = test_loop(x) block 1\n").find("block 1 does not exist"), std::string::npos);
}

TEST_F(VerifyBlocks, RefusesAResultThatIsNeverWritten) {
  const std::string text = verdict_of_loop("y = test_loop(x) block 1", "parent 0 results (inner)", "y = relu(x)\n");
  EXPECT_NE(text.find("block 1: result 'inner' is never written"), std::string::npos) << text;
}

}  // namespace
}  // namespace lethe::testing
