#include "onnx/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "framework/error.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostComputed = std::int64_t{1} << 27;  // numbers of a constant

template <class T>
std::vector<double> numbers_as(const std::vector<std::byte>& data) {
  std::vector<double> numbers(data.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

template <class T>
std::vector<std::byte> bytes_as(const std::vector<double>& numbers, bool whole) {
  std::vector<std::byte> data(numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = whole ? std::trunc(numbers[i]) : numbers[i];
    const bool holds = !whole || (number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                                  number <= static_cast<double>(std::numeric_limits<T>::max()));
    check_as(Exit::Data, holds, "a constant ", numbers[i], " is no whole number of its type");
    // The largest i64 as f64 is one more than it holds: what exporters mean by it is "to the end".
    const bool is_top = whole && sizeof(T) == sizeof(std::int64_t) && number >= 0x1p63;
    const T value = is_top ? std::numeric_limits<T>::max() : static_cast<T>(number);
    std::memcpy(data.data() + i * sizeof(T), &value, sizeof(T));
  }
  return data;
}

}  // namespace

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    check_as(Exit::Data, size == 0 || count <= std::numeric_limits<std::int64_t>::max() / size, "a shape ",
             text_of(shape), " is too large");
    count *= size;
  }
  return count;
}

Array Array::of(const ReadTensor& tensor) {
  check_as(Exit::Data, count_of(tensor.shape) <= kMostComputed, "a constant ", text_of(tensor.shape),
           " is too large to be computed with");
  switch (tensor.type) {
    case Type::i64:
      return {tensor.shape, numbers_as<std::int64_t>(tensor.data)};
    case Type::i32:
      return {tensor.shape, numbers_as<std::int32_t>(tensor.data)};
    case Type::u8:
    case Type::boolean:
      return {tensor.shape, numbers_as<std::uint8_t>(tensor.data)};
    case Type::f64:
      return {tensor.shape, numbers_as<double>(tensor.data)};
    default:
      break;
  }
  const std::vector<float> values = tensor.floats();
  return {tensor.shape, {values.begin(), values.end()}};
}

ReadTensor Array::as(Type type) const {
  switch (type) {
    case Type::i64:
      return {type, shape, bytes_as<std::int64_t>(numbers, true)};
    case Type::i32:
      return {type, shape, bytes_as<std::int32_t>(numbers, true)};
    case Type::u8:
      return {type, shape, bytes_as<std::uint8_t>(numbers, true)};
    case Type::boolean:
      return {type, shape, bytes_as<std::uint8_t>(each(*this, [](double x) { return x != 0; }).numbers, true)};
    case Type::f64:
      return {type, shape, bytes_as<double>(numbers, false)};
    default:
      return {Type::f32, shape, bytes_as<float>(numbers, false)};
  }
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (const Shape* const of : {&a, &b})
    for (std::size_t i = 0; i < of->size(); ++i) {
      std::int64_t& size = shape[shape.size() - of->size() + i];
      const std::int64_t mine = (*of)[i];
      check_as(Exit::Data, size == 1 || mine == 1 || size == mine, text_of(a), " and ", text_of(b),
               " do not broadcast");
      size = mine == 1 ? size : mine;
    }
  return shape;
}

Ints strides_in(const Shape& shape) {
  Ints strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
  return strides;
}

namespace {

/// Calls f(offset in x) for each element of `shape` in turn.
template <class F>
void for_each_offset(const Shape& shape, const Ints& strides, std::int64_t offset, const F& f) {
  const std::int64_t count = count_of(shape);
  Ints index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    f(offset);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// Of an array that broadcasts to `shape`.
Ints broadcast_strides(const Shape& from, const Shape& shape) {
  const Ints own = strides_in(from);
  Ints strides(shape.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[shape.size() - from.size() + i] = own[i];
  return strides;
}

}  // namespace

ReadTensor strided(const ReadTensor& x, const Shape& shape, const Ints& strides, std::int64_t offset) {
  const auto bytes = static_cast<std::size_t>(bytes_of(x.type));
  ReadTensor made{x.type, shape, std::vector<std::byte>(static_cast<std::size_t>(count_of(shape)) * bytes)};
  std::byte* to = made.data.data();
  for_each_offset(shape, strides, offset, [&](std::int64_t from) {
    std::memcpy(to, x.data.data() + static_cast<std::size_t>(from) * bytes, bytes);
    to += bytes;
  });
  return made;
}

ReadTensor turned(const ReadTensor& x, const Ints& perm) {
  const Ints own = strides_in(x.shape);
  Shape shape;
  Ints strides;
  for (const std::int64_t axis : perm) {
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return strided(x, shape, strides);
}

ReadTensor gathered(const ReadTensor& x, std::size_t axis, const Ints& places, const std::string& what) {
  const std::int64_t size = x.shape.at(axis);
  std::int64_t outer = 1, inner = bytes_of(x.type);
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= x.shape[i];
  ReadTensor made{x.type, x.shape, {}};
  made.shape[axis] = std::ssize(places);
  made.data.reserve(static_cast<std::size_t>(outer * inner) * places.size());
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t place : places) {
      place += place < 0 ? size : 0;
      check_as(Exit::Data, place >= 0 && place < size, what, ": a place ", place, " of ", size);
      const auto from = x.data.begin() + (i * size + place) * inner;
      made.data.insert(made.data.end(), from, from + inner);
    }
  return made;
}

Array broadcast(const Array& x, const Shape& shape) {
  Array made{shape, {}};
  made.numbers.reserve(static_cast<std::size_t>(count_of(shape)));
  for_each_offset(shape, broadcast_strides(x.shape, shape), 0,
                  [&](std::int64_t at) { made.numbers.push_back(x.numbers[static_cast<std::size_t>(at)]); });
  return made;
}

Array pairwise(const Array& a, const Array& b, const std::function<double(double, double)>& f) {
  const Shape shape = broadcast_shape(a.shape, b.shape);
  Array made = broadcast(a, shape);
  std::size_t i = 0;
  for_each_offset(shape, broadcast_strides(b.shape, shape), 0, [&](std::int64_t at) {
    made.numbers[i] = f(made.numbers[i], b.numbers[static_cast<std::size_t>(at)]);
    ++i;
  });
  return made;
}

Array each(Array x, const std::function<double(double)>& f) {
  for (double& number : x.numbers) number = f(number);
  return x;
}

Array reduced(const Array& x, const std::vector<bool>& axes, double first,
              const std::function<double(double, double)>& f) {
  Array made{x.shape, {}};
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (axes[axis]) made.shape[axis] = 1;
  made.numbers.assign(static_cast<std::size_t>(count_of(made.shape)), first);
  std::size_t i = 0;
  for_each_offset(x.shape, broadcast_strides(made.shape, x.shape), 0, [&](std::int64_t at) {
    double& sum = made.numbers[static_cast<std::size_t>(at)];
    sum = f(sum, x.numbers[i++]);
  });
  return made;
}

}  // namespace lethe::onnx
