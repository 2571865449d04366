#include "optimizer/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

constexpr double kOneCycleStart = 1.0 / 25, kOneCycleEnd = kOneCycleStart / 1e4;  // of the peak, as PyTorch's defaults

struct Form {
  std::string_view name;
  Schedule::Kind kind;
  std::string_view form;
  std::size_t least_times, most_times;
  std::optional<double> factor;  // if none is given; none: the schedule takes no factor
  std::optional<ScheduleTime> time = {};
  bool needs_factor = false;
};
constexpr ScheduleTime kWholeRun = {ScheduleTime::Percent, 100};
constexpr std::size_t kAnyNumber = 1000;

const std::array<Form, 7>& forms() {
  static const std::array<Form, 7> all = {{
      {"constant", Schedule::Constant, "constant", 0, 0, {}},
      {"step", Schedule::Step, "step@TIME or step@TIMExFACTOR, as step@30ex0.1", 1, 1, 0.1},
      {"multistep", Schedule::MultiStep, "multistep@TIME,TIME,...xFACTOR, as multistep@32000,48000x0.1", 1, kAnyNumber,
       0.1},
      {"exp", Schedule::Exp, "exp@TIMExFACTOR, as exp@1ex0.95", 1, 1, 0, {}, true},
      {"poly", Schedule::Poly, "poly or poly^POWER, as poly^0.9", 0, 0, {}},
      {"cosine", Schedule::Cosine, "cosine, cosine@TIME or cosine@TIMExEND, as cosine@90%x0.01", 0, 1, 0, kWholeRun},
      {"one-cycle",
       Schedule::OneCycle,
       "one-cycle or one-cycle@TIME, as one-cycle@30%",
       0,
       1,
       {},
       ScheduleTime{ScheduleTime::Percent, 30}},
  }};
  return all;
}

const Form& form_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Form& form : forms()) {
    if (form.name == name) return form;
    known.emplace_back(form.name);
  }
  fail("unknown schedule ", quote(name), did_you_mean(name, known), "; known: ", joined(known));
}

constexpr double kMost = 1e15;   // of steps, epochs, factors and powers: far more than any run takes
constexpr int kMostPlaces = 16;  // decimals of a time
__extension__ using Wide = __int128;

/// A time of a run in steps: over / under.
struct StepTime {
  Wide over, under;
  double value() const { return static_cast<double>(over) / static_cast<double>(under); }
  bool is_reached(std::int64_t step) const { return step * under >= over; }
  /// How often the time has passed at a step.
  double times_passed(std::int64_t step) const { return static_cast<double>(step * under / over); }
};

StepTime in_steps(const ScheduleTime& time, const RunLength& run) {
  StepTime steps{.over = time.digits, .under = 1};
  for (int i = 0; i < time.places; ++i) steps.under *= 10;
  if (time.unit == ScheduleTime::Epochs) steps.over *= std::max<std::int64_t>(run.per_epoch, 1);
  if (time.unit == ScheduleTime::Percent) steps.over *= std::max<std::int64_t>(run.total, 1), steps.under *= 100;
  return steps;
}

double value_of(const ScheduleTime& time) { return static_cast<double>(time.digits) / std::pow(10, time.places); }

/// Reads from the front; what does not fit gives false or nothing.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool take(std::string_view prefix) {
    if (rest_.substr(0, prefix.size()) != prefix) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  std::string_view name() {
    std::size_t length = 0;
    while (length < rest_.size() && ((rest_[length] >= 'a' && rest_[length] <= 'z') || rest_[length] == '-')) ++length;
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }
  std::optional<double> number() {
    if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return {};
    double value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, std::chars_format::fixed);
    if (error != std::errc() || value > kMost) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<ScheduleTime> time() {
    const std::string_view from = rest_;
    if (!number()) return {};
    ScheduleTime time = as_written(from.substr(0, from.size() - rest_.size()));
    bool fits = time.digits > 0;
    if (take("e")) {
      time.unit = ScheduleTime::Epochs;
    } else if (take("%")) {
      time.unit = ScheduleTime::Percent;
      fits = fits && value_of(time) <= 100;
    } else {
      fits = fits && time.places == 0;
    }
    return fits ? std::optional(time) : std::nullopt;
  }

 private:
  /// Of a number that number() takes. So many digits are kept that those of a time of any run fit into `Wide`.
  static ScheduleTime as_written(std::string_view number) {
    constexpr std::int64_t kEnough = 10 * static_cast<std::int64_t>(kMost);
    ScheduleTime time;
    bool decimals = false;
    for (const char c : number) {
      if (c == '.') {
        decimals = true;
      } else if (time.digits < kEnough && time.places < kMostPlaces) {
        time.digits = 10 * time.digits + (c - '0');
        if (decimals) ++time.places;
      }
    }
    for (; time.places > 0 && time.digits % 10 == 0; --time.places) time.digits /= 10;
    return time;
  }

  std::string_view rest_;
};

bool ascending(const std::vector<ScheduleTime>& times) {
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i].unit == times[i - 1].unit && value_of(times[i]) <= value_of(times[i - 1])) return false;
  return true;
}

bool read_times(Cursor& cursor, const Form& form, Schedule& schedule) {
  if (cursor.take("@")) {
    do {
      const std::optional<ScheduleTime> time = cursor.time();
      if (!time) return false;
      schedule.times.push_back(*time);
    } while (cursor.take(","));
  } else if (form.time) {
    schedule.times.push_back(*form.time);
  }
  const std::size_t count = schedule.times.size();
  return count <= std::max<std::size_t>(form.most_times, form.time ? 1 : 0) && count >= form.least_times &&
         ascending(schedule.times);
}

bool read_factor(Cursor& cursor, const Form& form, Schedule& schedule) {
  schedule.factor = form.factor.value_or(0);
  if (!cursor.take("x")) return !form.needs_factor;
  const std::optional<double> factor = cursor.number();
  if (!factor || !form.factor || (*factor == 0 && schedule.kind != Schedule::Cosine)) return false;
  schedule.factor = *factor;
  return true;
}

bool read_power(Cursor& cursor, Schedule& schedule) {
  if (!cursor.take("^")) return true;
  const std::optional<double> power = cursor.number();
  if (!power || *power == 0 || schedule.kind != Schedule::Poly) return false;
  schedule.power = *power;
  return true;
}

bool read_warmup(Cursor& cursor, Schedule& schedule) {
  if (!cursor.take("@")) return false;
  const std::optional<ScheduleTime> time = cursor.time();
  if (!time) return false;
  schedule.warmup = *time;
  if (!cursor.take("x")) return true;
  const std::optional<double> from = cursor.number();
  if (!from || *from > 1) return false;
  schedule.warmup_from = *from;
  return true;
}

/// How far t is on the way, from 0 to 1.
double share_of_way(double t, double from, double to) {
  if (t < from) return 0;
  return t < to ? (t - from) / (to - from) : 1;
}

double half_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

/// As torch.optim.lr_scheduler.OneCycleLR: the peak and the end are reached with the last step before their time.
double one_cycle(double step, double peak, double total) {
  const double up = std::max(peak - 1, 0.0), end = std::max(total - 1, 1.0);
  if (step < up) return half_cosine(kOneCycleStart, 1, share_of_way(step, 0, up));
  return half_cosine(1, kOneCycleEnd, share_of_way(step, up, end));
}

}  // namespace

double Schedule::at(std::int64_t step, const RunLength& run, double base_rate) const {
  const auto t = static_cast<double>(step), total = static_cast<double>(run.total);
  const double ramp = in_steps(warmup, run).value(), begin = warmup_over_curve ? 0 : ramp;
  const auto curve = [&]() -> double {
    const StepTime time = times.empty() ? StepTime{1, 1} : in_steps(times.front(), run);
    switch (kind) {
      case Constant:
        break;
      case Step:
        return std::pow(factor, time.times_passed(step));
      case MultiStep:
        return std::pow(factor, std::count_if(times.begin(), times.end(), [&](const ScheduleTime& when) {
                          return in_steps(when, run).is_reached(step);
                        }));
      case Exp:
        return std::pow(factor, t / time.value());
      case Poly:
        return std::pow(1 - share_of_way(t, begin, total), power);
      case Cosine:
        return half_cosine(1, factor, share_of_way(t, begin, time.value()));
      case OneCycle:
        return one_cycle(t, time.value(), total);
    }
    return 1;
  };
  const double warm = t < ramp ? std::min(1.0, warmup_from + (1 - warmup_from) * (t + 1) / ramp) : 1;
  return base_rate * curve() * warm;
}

Schedule parse_schedule(const std::string& text) {
  Cursor cursor(text);
  const Form& form = form_named(cursor.name());
  Schedule schedule{.kind = form.kind};
  const bool read =
      read_times(cursor, form, schedule) && read_factor(cursor, form, schedule) && read_power(cursor, schedule);
  schedule.warmup_over_curve = read && cursor.take("*");
  const bool warm = schedule.warmup_over_curve || (read && cursor.take("+"));
  check(read && (warm || cursor.done()), "schedule ", quote(text), ": expected ", form.form,
        "; a TIME is in steps (32000), epochs (80e) or percent of the run (50%)");
  if (!warm) return schedule;
  check(cursor.name() == "warmup" && read_warmup(cursor, schedule) && cursor.done(), "schedule ", quote(text),
        ": expected +warmup@TIME or +warmup@TIMExSTART after '", form.name, "', as +warmup@5e or +warmup@400x0.1");
  check(schedule.kind != Schedule::OneCycle || schedule.warmup_over_curve, "schedule ", quote(text),
        ": one-cycle has a warm-up of its own, which one-cycle@TIME ends");
  return schedule;
}

}  // namespace lethe
