// The ops that the language itself writes into programs or knows by name; of all others only OpDefs are known. A test
// holds that each is in the op table.
#pragma once

namespace lethe {

// Run by the executor itself.
inline constexpr const char* kWhile = "while";
inline constexpr const char* kIf = "if";
inline constexpr const char* kDeleteVar = "delete_var";  // gives a var's buffer back

// Values out of nothing, copies, views.
inline constexpr const char* kFillConstant = "fill_constant";
inline constexpr const char* kEmpty = "empty";
inline constexpr const char* kAssign = "assign";
inline constexpr const char* kCast = "cast";
inline constexpr const char* kNormalize = "normalize";
inline constexpr const char* kReshape = "reshape";
inline constexpr const char* kSlice = "slice";
inline constexpr const char* kConcat = "concat";
inline constexpr const char* kPad = "pad";

// What ranks give each other: begun by the one, there after the other.
inline constexpr const char* kAllReduceStart = "all_reduce_start";
inline constexpr const char* kAllReduceWait = "all_reduce_wait";
inline constexpr const char* kReduceScatterStart = "reduce_scatter_start";
inline constexpr const char* kReduceScatterWait = "reduce_scatter_wait";
inline constexpr const char* kAllGatherStart = "all_gather_start";
inline constexpr const char* kAllGatherWait = "all_gather_wait";
inline constexpr const char* kGatherParamsStart = "gather_params_start";
inline constexpr const char* kGatherParamsWait = "gather_params_wait";

// What the parts of a batch give together.
inline constexpr const char* kSumOverParts = "sum_over_parts";

// Arrays, which keep what each trip of a loop leaves.
inline constexpr const char* kArrayRead = "array_read";
inline constexpr const char* kArrayWrite = "array_write";
inline constexpr const char* kArrayAdd = "array_add";

// Sums of gradients and losses, conditions and counters of loops.
inline constexpr const char* kSum = "sum_n";
inline constexpr const char* kAdd = "add";
inline constexpr const char* kMean = "mean";
inline constexpr const char* kScale = "scale";
inline constexpr const char* kLess = "less";
inline constexpr const char* kOffset = "offset";

inline constexpr const char* kCoreOps[] = {kWhile,
                                           kIf,
                                           kDeleteVar,
                                           kFillConstant,
                                           kEmpty,
                                           kAssign,
                                           kCast,
                                           kReshape,
                                           kSlice,
                                           kConcat,
                                           kArrayRead,
                                           kArrayWrite,
                                           kArrayAdd,
                                           kSum,
                                           kAdd,
                                           kMean,
                                           kScale,
                                           kLess,
                                           kOffset,
                                           kAllReduceStart,
                                           kAllReduceWait,
                                           kAllGatherStart,
                                           kAllGatherWait,
                                           kGatherParamsStart,
                                           kGatherParamsWait,
                                           kReduceScatterStart,
                                           kReduceScatterWait,
                                           kPad,
                                           kNormalize,
                                           kSumOverParts};

}  // namespace lethe
