// The module lethe._core: what python/lethe/ makes lethe.Session and the rest of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "framework/error.h"
#include "kernels/cpu/instruction_sets.h"
#include "kernels/cuda/tell_once.h"
#include "train/python/objects.h"
#include "train/python/python_session.h"
#include "train/report/metrics.h"
#include "train/report/option_names.h"
#include "train/report/score_report.h"

namespace lethe {
namespace nb = nanobind;
namespace {

using Arguments = std::vector<std::string>;
using NamedText = std::optional<std::pair<std::string, std::string>>;  // of a network that no file holds

std::optional<NetworkFile> file_of(const NamedText& network) {
  if (!network) return std::nullopt;
  return NetworkFile{.name = network->first, .text = network->second, .path = network->first};
}

/// A session that one thread at a time works with, which lets others of the interpreter run meanwhile.
class BoundSession {
 public:
  BoundSession(Arguments arguments, const NamedText& network) {
    const nb::gil_scoped_release unlocked;
    session_ = std::make_unique<PythonSession>(std::move(arguments), file_of(network));
  }
  /// What makes batches ahead may wait for the lock, and is waited for.
  ~BoundSession() {
    const nb::gil_scoped_release unlocked;
    session_.reset();
  }

  template <class Work>
  auto work(const Work& work) {
    check(!busy_.exchange(true), "the session is at work already; one session is for one thread at a time");
    struct Done {
      BoundSession& of;
      ~Done() {
        of.session_->note_standing();
        of.busy_ = false;
      }
    } const done{*this};
    const nb::gil_scoped_release unlocked;
    return work(*session_);
  }
  /// Unless it works.
  void rest() {
    if (busy_.exchange(true)) return;
    const nb::gil_scoped_release unlocked;
    session_->rest();
    busy_ = false;
  }
  /// What does not change while it works.
  const PythonSession& unguarded() const { return *session_; }
  const Network& network() const { return session_->network(); }

 private:
  std::unique_ptr<PythonSession> session_;
  std::atomic<bool> busy_ = false;
};

/// A handle to rows, for Python.
struct BoundRows {
  std::shared_ptr<const Rows> rows;
};

/// In the order of a tuple: inputs, then what the loss compares with.
std::vector<std::string> names_of_inputs(const Network& network) {
  const FedInputs fed = fed_inputs(network);
  std::vector<VarId> inputs = fed.inputs;
  std::ranges::stable_partition(inputs, [&](VarId input) { return input != fed.target; });
  if (fed.labels != kNone) inputs.push_back(fed.labels);
  std::vector<std::string> names;
  for (const VarId input : inputs) names.push_back(network.program.vars[input].name);
  return names;
}

BoundRows rows_of_arrays(const BoundSession& session, const nb::dict& arrays) {
  const std::shared_ptr<HeldArrays> held = hold_arrays();
  ArraysByName views = held->views(arrays);
  return {std::make_shared<ArrayRows>(std::move(views), session.network(), held)};
}

BoundRows rows_of_object(const BoundSession& session, nb::object data) {
  return {rows_of(std::move(data), session.network(), names_of_inputs(session.network()))};
}

Record train_step(BoundSession& session, const nb::dict& arrays, std::optional<double> rate) {
  HeldArrays held;
  ArrayRows batch(held.views(arrays), session.network(), {});
  return session.work([&](PythonSession& s) { return s.train_step(batch, rate); });
}

Record train(BoundSession& session, const std::optional<BoundRows>& data, const std::optional<BoundRows>& tests,
             double held, std::optional<std::int64_t> epochs, std::optional<std::int64_t> steps, nb::object on_record) {
  PythonListener listener(std::move(on_record));
  const Record last = session.work([&](PythonSession& s) {
    std::shared_ptr<const Samples> samples;
    check(!data || tests || !s.evaluates() || (held > 0 && held < 1), "`val` ", held,
          ": expected more than 0 and less than 1, or `test`; a session with `eval_every` 0 needs neither");
    if (data)
      samples = std::make_shared<RowSamples>(s.network(), s.meaning(), data->rows, tests ? tests->rows : nullptr,
                                             s.evaluates() ? held : 0);
    return s.train(std::move(samples), epochs, steps, listener);
  });
  listener.raise();
  return last;
}

Scores evaluate(BoundSession& session, const std::optional<BoundRows>& data) {
  return session.work([&](PythonSession& s) {
    std::shared_ptr<const Samples> samples;
    if (data) samples = std::make_shared<RowSamples>(s.network(), s.meaning(), data->rows, data->rows, 0);
    return s.evaluate(samples);
  });
}

nb::object predict(BoundSession& session, const nb::dict& arrays) {
  HeldArrays held;
  ArraysByName views = held.views(arrays);
  return numpy_of(session.work([&](PythonSession& s) { return s.predict(std::move(views)); }));
}

nb::dict state_dict(BoundSession& session) {
  nb::dict all;
  for (WeightArray& weight : session.work([](PythonSession& s) { return s.weights(); })) {
    const std::string name = weight.name;
    all[name.c_str()] = numpy_of(std::move(weight));
  }
  return all;
}

void load_state_dict(BoundSession& session, const nb::dict& state, const std::string& fresh,
                     const std::string& ignore) {
  HeldArrays held;
  std::vector<ArrayView> arrays;
  for (const auto& [name, array] : state) arrays.push_back(held.view(nb::cast<std::string>(nb::str(name)), array));
  session.work([&](PythonSession& s) { s.load(arrays, {.fresh = fresh, .ignore = ignore}); });
}

void bind_records(nb::module_& m) {
  nb::class_<Record>(m, "Record")
      .def_ro("step", &Record::step)
      .def_ro("epoch", &Record::epoch)
      .def_ro("split", &Record::split)
      .def_ro("loss", &Record::loss)
      .def_ro("accuracy", &Record::accuracy)
      .def_ro("lr", &Record::lr)
      .def_ro("ms", &Record::ms)
      .def_ro("mem_peak", &Record::mem_peak)
      .def("__repr__", [](const Record& r) { return message("Record(", json_line(r), ")"); });
  nb::class_<Scores>(m, "Scores")
      .def_ro("samples", &Scores::samples)
      .def_ro("correct", &Scores::correct)
      .def_ro("loss", &Scores::loss)
      .def_ro("ms", &Scores::ms)
      .def_prop_ro("accuracy", [](const Scores& s) { return s.of_labels ? std::optional(s.accuracy()) : std::nullopt; })
      .def("__repr__", [](const Scores& s) { return message("Scores(", text_of(s), ")"); });
}

void bind_session(nb::module_& m) {
  nb::class_<BoundRows>(m, "Rows");
  nb::class_<BoundSession>(m, "Session")
      .def(nb::init<Arguments, const NamedText&>(), nb::arg("arguments"), nb::arg("network").none())
      .def("arrays", rows_of_arrays)
      .def("objects", rows_of_object)
      .def("train_step", train_step, nb::arg("arrays"), nb::arg("lr").none())
      .def("train", train, nb::arg("data").none(), nb::arg("tests").none(), nb::arg("held"), nb::arg("epochs").none(),
           nb::arg("steps").none(), nb::arg("on_record"))
      .def("evaluate", evaluate, nb::arg("data").none())
      .def("predict", predict)
      .def("state_dict", state_dict)
      .def("load_state_dict", load_state_dict)
      .def("save",
           [](BoundSession& s, const std::string& to) { return s.work([&](PythonSession& o) { return o.save(to); }); })
      .def("resume",
           [](BoundSession& s, const std::string& from) { s.work([&](PythonSession& o) { o.resume(from); }); })
      .def("export_onnx",
           [](BoundSession& s, const std::string& file, std::int64_t opset, const std::string& dtype, bool preprocess) {
             s.work([&](PythonSession& o) { o.export_onnx(file, opset, dtype, preprocess); });
           })
      .def("plan",
           [](BoundSession& s) {
             const PlanTexts texts = s.work([](PythonSession& o) { return plan_of(o.options(), false); });
             return std::pair(texts.json, texts.table);
           })
      .def("rest", &BoundSession::rest)
      .def_prop_ro("inputs", [](const BoundSession& s) { return names_of_inputs(s.network()); })
      .def_prop_ro("name", [](const BoundSession& s) { return s.network().name; })
      .def_prop_ro("batch", [](const BoundSession& s) { return s.unguarded().batch(); })
      .def_prop_ro("keeps", [](const BoundSession& s) { return s.unguarded().keeps(); })
      .def_prop_ro("given",
                   [](const BoundSession& s) {
                     nb::dict all;
                     for (const auto& [name, value] : s.unguarded().given())
                       all[in_keywords("--" + name).c_str()] = value;
                     return all;
                   })
      .def_prop_ro("step", [](const BoundSession& s) { return s.unguarded().standing().step.load(); })
      .def_prop_ro("peak", [](const BoundSession& s) { return s.unguarded().standing().peak.load(); });
}

void bind_functions(nb::module_& m) {
  m.attr("version") = LETHE_VERSION;
  m.attr("instruction_sets") = instruction_sets();
  m.def("zoo", zoo_names);
  m.def("look_for_models_in", look_for_models_in);
  m.def("options", [] {
    nb::dict all;
    for (const Keyword& keyword : session_keywords())
      all[keyword.name.c_str()] = std::pair(keyword.help, keyword.is_flag);
    return all;
  });
  m.def(
      "plan",
      [](const Arguments& arguments, const NamedText& network, bool advise) {
        const nb::gil_scoped_release unlocked;
        const PlanTexts texts = plan_of(plan_options(arguments, file_of(network)), advise);
        return std::pair(texts.json, texts.table);
      },
      nb::arg("arguments"), nb::arg("network").none(), nb::arg("advise"));
  m.def(
      "timeline",
      [](const Arguments& arguments, const NamedText& network) {
        const nb::gil_scoped_release unlocked;
        return timeline_page_of(plan_options(arguments, file_of(network)));
      },
      nb::arg("arguments"), nb::arg("network").none());
  m.def(
      "session_timeline",
      [](const Arguments& arguments, const NamedText& network) {
        const nb::gil_scoped_release unlocked;
        return session_timeline(arguments, file_of(network));
      },
      nb::arg("arguments"), nb::arg("network").none());
}

}  // namespace
}  // namespace lethe

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // at exit: a session of a script, whose data knows the script's globals
  lethe::bind_errors_and_log();
  lethe::tell_to(lethe::say);
  lethe::bind_records(m);
  lethe::bind_session(m);
  lethe::bind_functions(m);
}
