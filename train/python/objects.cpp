#include "train/python/objects.h"

#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <utility>

#include "framework/error.h"
#include "train/failure.h"
#include "train/python/asked.h"
#include "train/report/option_names.h"

namespace lethe {
namespace nb = nanobind;
namespace {

/// What a data set has raised, which is the cause.
struct RowError : Error {
  RowError(const std::string& what, std::exception_ptr raised) : Error(what, Exit::Data), cause(std::move(raised)) {}
  std::exception_ptr cause;
};

Element element_of(const nb::dlpack::dtype& type, const std::string& name) {
  using Code = nb::dlpack::dtype_code;
  struct Known {
    Code code;
    int bits;
    Element element;
  };
  constexpr Known kKnown[] = {
      {Code::Float, 32, Element::f32},   {Code::Float, 64, Element::f64}, {Code::Float, 16, Element::f16},
      {Code::Bfloat, 16, Element::bf16}, {Code::Int, 8, Element::i8},     {Code::UInt, 8, Element::u8},
      {Code::Int, 16, Element::i16},     {Code::UInt, 16, Element::u16},  {Code::Int, 32, Element::i32},
      {Code::UInt, 32, Element::u32},    {Code::Int, 64, Element::i64},   {Code::UInt, 64, Element::u64},
      {Code::Bool, 8, Element::b1}};
  for (const Known& known : kKnown)
    if (type.code == static_cast<std::uint8_t>(known.code) && type.bits == known.bits && type.lanes == 1)
      return known.element;
  fail_as(Exit::Data, name, ": its elements are neither floats nor whole numbers");
}

/// "KeyError: 'x'", without where it was raised, which the cause of the error says.
std::string said_by(const nb::python_error& error) {
  const auto text = nb::cast<std::string>(nb::str(error.value()));
  return in_one_line(message(nb::cast<std::string>(error.type().attr("__name__")), ": ", text));
}

/// A list, a number or what else NumPy makes an array of.
nb::object as_numpy(const std::string& name, nb::handle object) {
  try {
    return nb::module_::import_("numpy").attr("asarray")(object);
  } catch (const nb::python_error& error) {
    fail_as(Exit::Data, name, ": is no array of numbers: ", said_by(error));
  }
}

class ObjectRows final : public Rows {
 public:
  ObjectRows(nb::object data, const Network& network, std::vector<std::string> names)
      : data_(std::move(data)),
        size_(static_cast<std::int64_t>(nb::len(data_))),
        network_(network),
        names_(std::move(names)) {}
  std::int64_t size() const override { return size_; }
  void read(std::int64_t row, std::byte* sample, std::int32_t* labels) const override {
    const nb::gil_scoped_acquire lock;
    try {
      HeldArrays held;
      ArrayRows one(views_of(row, held), network_, {});
      check_as(Exit::Data, one.size() == 1, "the item is of ", one.size(), " rows");
      one.read(0, sample, labels);
    } catch (const Error& error) {
      throw Error(message("item ", row, " of the data: ", error.what()), error.code);
    } catch (const nb::python_error& error) {
      throw RowError(message("item ", row, " of the data: ", said_by(error)), std::current_exception());
    }
  }

 private:
  ArraysByName views_of(std::int64_t row, HeldArrays& held) const {
    const nb::object item = data_[nb::int_(row)];
    ArraysByName all;
    const auto add = [&](const std::string& name, nb::handle value) {
      ArrayView view = held.view(name, value);
      view.shape.insert(view.shape.begin(), 1);  // a row alone
      view.strides.insert(view.strides.begin(), 0);
      all.emplace(name, std::move(view));
    };
    if (nb::isinstance<nb::dict>(item)) {
      for (const auto& [name, value] : nb::borrow<nb::dict>(item)) add(nb::cast<std::string>(nb::str(name)), value);
      return all;
    }
    const bool many = nb::isinstance<nb::tuple>(item) || nb::isinstance<nb::list>(item);
    const std::size_t count = many ? nb::len(item) : 1;
    check_as(Exit::Data, count == names_.size(), "has ", count, " values, the network takes ", names_.size(), ": ",
             joined(names_));
    for (std::size_t i = 0; i < count; ++i) add(names_[i], many ? nb::object(item[i]) : item);
    return all;
  }

  nb::object data_;
  std::int64_t size_;
  const Network& network_;
  std::vector<std::string> names_;
};

void log_line(const std::string& line) {
  const nb::gil_scoped_acquire lock;
  try {
    nb::module_::import_("logging").attr("getLogger")("lethe").attr("info")("%s", in_keywords(line));
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) return PyErr_SetInterrupt();  // for whoever asks for signals next
    error.discard_as_unraisable("lethe's log");
  }
}

void raise_error(const Failure& failure, const std::exception_ptr& cause = nullptr) {
  const nb::object type = nb::module_::import_("lethe._error").attr("Error");
  const nb::object error = type(in_keywords(failure.what), static_cast<int>(failure.code));
  if (cause) {
    try {
      std::rethrow_exception(cause);
    } catch (const nb::python_error& raised) {
      PyException_SetCause(error.ptr(), nb::borrow(raised.value()).release().ptr());
    }
  }
  PyErr_SetObject(type.ptr(), error.ptr());
}

}  // namespace

ArrayView HeldArrays::view(const std::string& name, nb::handle object) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array))
    check_as(Exit::Data, nb::try_cast(as_numpy(name, object), array), name, ": is no array of numbers");
  check_as(Exit::Data, array.device_type() == nb::device::cpu::value, name,
           ": is not in the memory of the host; .cpu() brings it there");
  ArrayView view{
      .name = name, .data = static_cast<const std::byte*>(array.data()), .element = element_of(array.dtype(), name)};
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    view.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    view.strides.push_back(array.stride(i) * bytes_of(view.element));
  }
  arrays_.push_back(std::move(array));
  return view;
}

ArraysByName HeldArrays::views(const nb::dict& by_name) {
  ArraysByName all;
  for (const auto& [key, value] : by_name) {
    const auto name = nb::cast<std::string>(nb::str(key));
    all.emplace(name, view(name, value));
  }
  return all;
}

std::shared_ptr<HeldArrays> hold_arrays() {
  return {new HeldArrays, [](const HeldArrays* held) {
            const nb::gil_scoped_acquire lock;
            delete held;
          }};
}

std::shared_ptr<const Rows> rows_of(nb::object data, const Network& network, std::vector<std::string> names) {
  return {new ObjectRows(std::move(data), network, std::move(names)), [](const Rows* rows) {
            const nb::gil_scoped_acquire lock;
            delete rows;
          }};
}

nb::object numpy_of(WeightArray array) {
  if (array.dtype == DType::bf16) {
    array.values = converted(std::move(array.values), DType::bf16, DType::f32);
    array.dtype = DType::f32;
  }
  const char* const type = array.dtype == DType::f64 ? "float64" : array.dtype == DType::f16 ? "float16" : "float32";
  nb::list shape;
  for (const std::int64_t size : array.shape) shape.append(size);
  nb::object made = nb::module_::import_("numpy").attr("empty")(nb::tuple(shape), type);
  const auto view = nb::cast<nb::ndarray<>>(made);
  if (!array.values.empty()) std::memcpy(view.data(), array.values.data(), array.values.size());
  return made;
}

bool PythonListener::stop_wanted() {
  if (raised_) return true;
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  try {
    nb::raise_python_error();
  } catch (const nb::python_error&) {
    raised_ = std::current_exception();
  }
  return true;
}

void PythonListener::record(const Record& measured) {
  if (raised_) return;
  const nb::gil_scoped_acquire lock;
  try {
    on_record_(measured);
  } catch (const nb::python_error&) {
    raised_ = std::current_exception();
  }
}

void PythonListener::raise() const {
  if (raised_) std::rethrow_exception(raised_);
}

void bind_errors_and_log() {
  say_to(log_line);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const RowError& error) {
      raise_error(failure_of(thrown), error.cause);
    } catch (const Error&) {
      raise_error(failure_of(thrown));
    } catch (const std::filesystem::filesystem_error&) {
      raise_error(failure_of(thrown));
    } catch (const std::bad_alloc&) {
      raise_error(failure_of(thrown));
    }
  });
}

}  // namespace lethe
