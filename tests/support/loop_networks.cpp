#include "tests/support/loop_networks.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kLoopBatch = 2, kLoopWidth = 3;

VarId dense(Builder& net, VarId x) { return net.layer("tanh", net.layer("fc", x, {{"out", kLoopWidth}})); }

/// A network from an input [kLoopBatch, kLoopWidth] to a loss; `middle` is what it is about.
Network around(DType dtype, const std::function<VarId(Builder&, VarId)>& middle) {
  Builder net({.batch = kLoopBatch, .dtype = dtype});
  const VarId x = net.input("x", {kLoopWidth});
  const VarId y = middle(net, dense(net, x));
  net.loss("cross_entropy", net.layer("fc", y, {{"out", 4}}), net.input("label", {}, DType::i32));
  return net.finish();
}

/// Trips of a loop that carries one value.
VarId repeated(Builder& net, VarId x, std::int64_t trips, const std::function<VarId(VarId)>& body,
               bool recompute = false) {
  const auto condition = [&](const Vars&) { return net.layer("less", net.trip(), {{"value", trips}}); };
  return net.loop(
      {x}, trips + 1, condition, [&](const Vars& h) { return Vars{body(h[0])}; }, "", recompute)[0];
}

VarId is_before(Builder& net, std::int64_t trip) { return net.layer("less", net.trip(), {{"value", trip}}); }

VarId branch(Builder& net, VarId condition, const std::function<VarId()>& then, const std::function<VarId()>& other) {
  return net.branch(
      condition, [&] { return Vars{then()}; }, [&] { return Vars{other()}; })[0];
}

VarId until_small(Builder& net, VarId x) {
  const VarId far = net.layer("constant", x, {{"value", 1e9}});
  const auto condition = [&](const Vars& h) { return net.layer("greater", h[1], {{"value", 0.05}}); };
  return net.loop({x, far}, 6, condition, [&](const Vars& h) {
    const VarId next = net.layer("scale", dense(net, h[0]), {{"a", 0.5}});
    return Vars{next, net.layer("mean", net.layer("square", net.layer("sub", {next, h[0]})))};
  })[0];
}

VarId swapped(Builder& net, VarId x) {
  const Vars last = net.loop({x, dense(net, x)}, 3, nullptr, [&](const Vars& h) {
    return Vars{h[1], net.layer("mul", {h[0], dense(net, h[0])})};
  });
  return net.layer("add", {last[0], net.layer("scale", last[1], {{"a", 3.0}})});
}

/// The body reads a view of what is carried, and gives a view.
VarId through_views(Builder& net, VarId x) {
  return repeated(net, x, 3, [&](VarId h) {
    const VarId column = net.layer("reshape", h, {{"shape", Ints{kLoopWidth, 1}}});
    return net.layer("flatten", net.layer("tanh", column));
  });
}

VarId through_array(Builder& net, VarId x, bool recompute) {
  const VarId all = net.layer("array", x, {{"length", 4}, {"shape", Ints{kLoopWidth}}});
  const VarId last = repeated(
      net, x, 3,
      [&](VarId h) {
        const VarId next = net.layer("add", {dense(net, h), x});
        net.layer("array_write", {all, next, net.trip()});
        return next;
      },
      recompute);
  return net.layer("add", {last, net.layer("mean", net.layer("square", all))});
}

std::vector<LoopNetwork> make_networks() {
  const auto network = [](std::string name, std::function<VarId(Builder&, VarId)> middle) {
    return LoopNetwork{std::move(name), [middle](DType dtype) { return around(dtype, middle); }};
  };
  const auto loop = [](std::int64_t trips, bool recompute) {
    return [=](Builder& net, VarId x) {
      return repeated(
          net, x, trips, [&](VarId h) { return dense(net, h); }, recompute);
    };
  };
  return {
      network("Loop", loop(3, false)),
      network("RecomputedLoop", loop(3, true)),
      network("LoopOfNoTrip", loop(0, false)),
      network("LoopThatReadsData", until_small),
      network("LoopThatSwaps", swapped),
      network("VarUsedInsideAndOutside",
              [](Builder& net, VarId x) {
                const VarId y = net.layer("sigmoid", x);
                const VarId last = repeated(net, x, 2, [&](VarId h) {
                  return net.layer("mul", {y, net.layer("add", {dense(net, h), y})});
                });
                return net.layer("mul", {last, y});
              }),
      network("LoopsOfNorms",  // which write over what is carried
              [](Builder& net, VarId x) {
                const VarId y = repeated(net, x, 2, [&](VarId h) { return net.layer("layer_norm", h); });
                return repeated(net, dense(net, y), 2, [&](VarId h) { return net.layer("rms_norm", h); });
              }),
      network("LoopInALoop",
              [](Builder& net, VarId x) {
                return repeated(net, x, 2, [&](VarId h) {
                  const VarId inner = repeated(net, h, 3, [&](VarId g) {
                    return net.layer("mul", {dense(net, g), h});
                  });
                  return net.layer("add", {dense(net, inner), x});
                });
              }),
      network("LoopInARecomputedLoop",
              [](Builder& net, VarId x) {
                return repeated(
                    net, x, 2,
                    [&](VarId h) {
                      const VarId inner = repeated(net, h, 3, [&](VarId g) {
                        return net.layer("mul", {dense(net, g), h});
                      });
                      return net.layer("add", {dense(net, inner), x});
                    },
                    true);
              }),
      network("RecomputedLoopInALoop",
              [](Builder& net, VarId x) {
                return repeated(net, x, 2, [&](VarId h) {
                  const VarId y = net.layer("sigmoid", dense(net, h));
                  const VarId inner = repeated(
                      net, h, 3,
                      [&](VarId g) {
                        return net.layer("mul", {net.layer("mul", {dense(net, g), y}), h});
                      },
                      true);
                  return net.layer("add", {dense(net, inner), x});
                });
              }),
      network("BranchInALoop",
              [](Builder& net, VarId x) {
                return repeated(net, x, 3, [&](VarId h) {
                  return branch(
                      net, is_before(net, 1),
                      [&] {
                        return net.layer("mul", {dense(net, h), x});
                      },
                      [&] {
                        return net.layer("sigmoid", net.layer("mul", {h, h}));
                      });
                });
              }),
      network("LoopInABranch",
              [](Builder& net, VarId x) {
                const VarId condition = net.layer("greater", net.layer("mean", x), {{"value", -10.0}});
                return branch(
                    net, condition, [&] { return repeated(net, x, 2, [&](VarId h) { return dense(net, h); }); },
                    [&] { return dense(net, x); });
              }),
      network("BranchNotTaken",
              [](Builder& net, VarId x) {
                const VarId condition = net.layer("greater", net.layer("mean", x), {{"value", 10.0}});
                return net.layer("add", {x, branch(
                                                net, condition, [&] { return dense(net, dense(net, x)); },
                                                [&] { return net.layer("square", x); })});
              }),
      network("VarThatOneBranchLeavesAlone",
              [](Builder& net, VarId x) {
                const VarId y = net.layer("sigmoid", x), z = net.layer("tanh", x);
                return repeated(net, x, 2, [&](VarId h) {
                  return branch(
                      net, is_before(net, 1),
                      [&] {
                        return net.layer("mul", {h, y});
                      },
                      [&] {
                        return net.layer("add", {h, z});
                      });
                });
              }),
      network("BranchInABranchInALoop",
              [](Builder& net, VarId x) {
                return repeated(net, x, 3, [&](VarId h) {
                  return branch(
                      net, is_before(net, 2),
                      [&] {
                        const VarId y = dense(net, h);
                        return branch(
                            net, is_before(net, 1),
                            [&] {
                              return net.layer("mul", {y, y});
                            },
                            [&] {
                              return net.layer("mul", {y, h});
                            });
                      },
                      [&] {
                        return net.layer("exp", net.layer("scale", h, {{"a", 0.1}}));
                      });
                });
              }),
      network("ViewsInALoop", through_views),
      network("SquaresInALoop",
              [](Builder& net, VarId x) {
                return repeated(net, x, 3, [&](VarId h) { return net.layer("mul", {h, h}); });
              }),
      network("ArrayOfALoop", [](Builder& net, VarId x) { return through_array(net, x, false); }),
      network("ArrayOfARecomputedLoop", [](Builder& net, VarId x) { return through_array(net, x, true); }),
      {"Lstm", [](DType dtype) { return lstm(3, false, dtype); }},
      {"RecomputedLstm", [](DType dtype) { return lstm(3, false, dtype, true); }},
  };
}

/// One trip: gates from [x, h] in one product; state h, c.
Vars lstm_cell(Builder& net, VarId x, VarId h, VarId c, const std::string& share) {
  Attrs settings{{"out", 4 * kLoopWidth}};
  if (!share.empty()) settings.set("share", share);
  const VarId gates = net.layer("fc", net.layer("concat", {x, h}), settings, share.empty() ? "cell" : "");
  const auto gate = [&](std::int64_t i, const char* type) {
    return net.layer(type, net.layer("slice", gates, {{"begin", i * kLoopWidth}, {"end", (i + 1) * kLoopWidth}}));
  };
  const VarId kept = net.layer("mul", {gate(1, "sigmoid"), c});
  const VarId next = net.layer("add", {kept, net.layer("mul", {gate(0, "sigmoid"), gate(2, "tanh")})});
  return {net.layer("mul", {gate(3, "sigmoid"), net.layer("tanh", next)}), next};
}

}  // namespace

const std::vector<LoopNetwork>& loop_networks() {
  static const std::vector<LoopNetwork> networks = make_networks();
  return networks;
}

Network lstm(std::int64_t trips, bool unrolled, DType dtype, bool recompute) {
  Builder net({.batch = kLoopBatch, .dtype = dtype});
  const VarId x = net.input("x", {trips, kLoopWidth});
  const VarId steps = net.layer("transpose", x, {{"time_major", 1}});
  const VarId zero = net.layer("constant", x, {{"value", 0.0}, {"shape", Ints{kLoopWidth}}});
  Vars state = {zero, zero};
  if (unrolled) {
    for (std::int64_t t = 0; t < trips; ++t) {
      const VarId at = net.layer("flatten", net.layer("slice", x, {{"axis", 0}, {"begin", t}, {"end", t + 1}}));
      state = lstm_cell(net, at, state[0], state[1], t == 0 ? "" : "cell");
    }
  } else {
    state = net.loop(
        state, trips, nullptr,
        [&](const Vars& s) {
          return lstm_cell(net, net.layer("array_read", {steps, net.trip()}), s[0], s[1], "");
        },
        "", recompute);
  }
  const VarId both = net.layer("concat", {state[0], state[1]});
  net.loss("cross_entropy", net.layer("fc", both, {{"out", 4}}, "head"), net.input("label", {}, DType::i32));
  return net.finish();
}

}  // namespace lethe::testing
