#include "framework/builder/layer_call.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "framework/builder/builder.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

std::array<std::int64_t, 2> pair_of(const Attr& value) {
  if (const auto* one = std::get_if<std::int64_t>(&value.base())) return {*one, *one};
  const Ints& two = std::get<Ints>(value.base());
  return {two[0], two[1]};
}

const Attr& setting(const Attrs& settings, const std::string& key) {
  for (const auto& [name, value] : settings)
    if (name == key) return value;
  fail("no setting '", key, "'");
}

/// A parameter of an earlier layer, for one whose setting `share` names that layer's path.
VarId shared_param(const Program& program, const std::string& name, const Shape& shape) {
  const VarId found = find_var(program, name);
  if (found == kNone || program.vars[found].kind != Kind::Param)
    throw SettingError("share", message("there is no parameter ", quote(name), " to share"));
  if (program.vars[found].shape != shape)
    throw SettingError("share", message(quote(name), " to share is ", text_of(program.vars[found].shape),
                                        ", this layer needs ", text_of(shape)));
  return found;
}

}  // namespace

Key weight_init_key() {
  return {.name = "init", .type = KeyType::Init, .help = "of the weight; default he", .optional = true};
}

Key share_key() {
  return {
      .name = "share", .type = KeyType::Text, .help = "an earlier layer, whose parameters it uses", .optional = true};
}

Key layout_key() {
  return {.name = "layout",
          .type = KeyType::Choice,
          .help = "three sizes are those of an image, [C, H, W], or plain; default: as the input, sequences are plain",
          .choices = layout_names(),
          .optional = true};
}

std::string counted_axes(const Shape& sample) {
  if (sample.empty()) return ": a sample has no axes but the batch, which is not counted";
  return message("; axes are counted without the batch, 0 to ", sample.size() - 1, " of ", text_of(sample));
}

const Var& LayerCall::var(VarId id) const { return builder_.program().vars[id]; }
bool LayerCall::is_image(VarId var) const { return builder_.is_image(var); }
Shape LayerCall::sample_shape() const { return builder_.sample_shape(in()); }
bool LayerCall::training() const { return builder_.options().training; }
std::int64_t LayerCall::seed() const { return builder_.options().seed; }
std::int64_t LayerCall::joint_parts() const { return builder_.options().joint_parts; }
bool LayerCall::is_frozen(const std::string& name) const {
  return builder_.options().frozen.contains(message(path_, '.', name));
}
std::int64_t LayerCall::stream_key() const { return static_cast<std::int64_t>(hash_of(path_) >> 1); }
DType LayerCall::dtype() const { return builder_.options().dtype; }
VarId LayerCall::step() { return builder_.step_counter(); }

std::array<std::int64_t, 2> LayerCall::pair(const std::string& key) const { return pair_of(setting(settings_, key)); }

std::array<std::int64_t, 2> LayerCall::pad(const std::string& key, std::array<std::int64_t, 2> kernel,
                                           std::array<std::int64_t, 2> dilation) const {
  const Attr& value = setting(settings_, key);
  const auto* name = std::get_if<std::string>(&value.base());
  if (!name) return pair_of(value);
  if (*name == "valid") return {0, 0};
  return {(reach_of(kernel[0], dilation[0]) - 1) / 2, (reach_of(kernel[1], dilation[1]) - 1) / 2};
}

std::int64_t LayerCall::axis(const std::string& key) const {
  const auto rank = static_cast<std::int64_t>(shape().size());
  const bool image = is_image(in());
  const Attr& value = setting(settings_, key);
  if (const auto* name = std::get_if<std::string>(&value.base())) {
    if (*name == "channels" && rank > 1) return rank - 1;
    if (image && *name == "height") return 1;
    if (image && *name == "width") return 2;
    throw SettingError(key, message("'", *name, "' is no axis of ", text_of(sample_shape())));
  }
  return counted_axis(key, std::get<std::int64_t>(value.base()));
}

Ints LayerCall::axes(const std::string& key) const {
  Ints axes;
  for (const std::int64_t counted : settings_.ints(key)) axes.push_back(counted_axis(key, counted));
  return axes;
}

std::int64_t LayerCall::counted_axis(const std::string& key, std::int64_t counted) const {
  if (counted < 0 || counted >= static_cast<std::int64_t>(shape().size()) - 1)
    throw SettingError(key, message("there is no axis ", counted, counted_axes(sample_shape())));
  const Layout layout = is_image(in()) ? Layout::Image : Layout::Plain;
  return stated_axes(shape().size(), layout)[static_cast<std::size_t>(counted) + 1];
}

std::int64_t LayerCall::batch(int slot) const {
  check(!shape(slot).empty(), "the input is a scalar, expected a batch");
  return shape(slot).front();
}

std::int64_t LayerCall::channels() const {
  check(!shape().empty(), "the input is a scalar, expected channels");
  return shape().back();
}

const Shape& LayerCall::image() const {
  check(shape().size() == 4, "expected an image [N,H,W,C], given ", text_of(shape()));
  check(is_image(in()), "expected an image, given a plain ", text_of(sample_shape()),
        "; \"layout\": \"image\" says so where its shape is stated");
  return shape();
}

Layout LayerCall::layout_of(const Shape& sample) const {
  if (sample.size() != 3) {
    if (settings_.has("layout"))
      throw SettingError("layout", message("'layout' is for shapes of three sizes, found ", text_of(sample)));
    return Layout::Plain;
  }
  if (settings_.has("layout")) return layout_named(settings_.text("layout"));
  const std::size_t rank = shape().size();
  if (rank >= 3) return rank == 3 ? Layout::Plain : builder_.common_layout({in()}, path_).value_or(Layout::Plain);
  throw SettingError("shape", message("three sizes, ", text_of(sample),
                                      ", may be an image [C,H,W] or plain: say \"layout\": \"image\" or \"plain\""));
}

VarId LayerCall::lay_out(VarId var, Layout layout) {
  if (this->var(var).shape.size() >= 4) builder_.network_.layouts.insert_or_assign(var, layout);
  return var;
}

Init LayerCall::init(const std::string& key, Init absent) const {
  if (!settings_.has(key)) return absent;
  const std::string& text = settings_.text(key);
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const double value = colon == std::string::npos ? 0 : std::strtod(text.c_str() + colon + 1, nullptr);
  if (name == "zeros") return {.kind = Init::Constant, .value = 0};
  if (name == "ones") return {.kind = Init::Constant, .value = 1};
  if (name == "normal") return {.kind = Init::Normal, .value = value};
  if (name == "uniform") return {.kind = Init::Uniform, .value = value};
  absent.kind = name == "he" ? Init::He : name == "xavier" ? Init::Xavier : Init::Lecun;
  return absent;
}

VarId LayerCall::param(const std::string& name, Shape shape, Init init, bool decay, FileLayout layout) {
  const VarId made = wide_param(name, std::move(shape), init, decay, layout);
  return var(made).dtype == dtype() ? made : builder_.copy_of(made);
}

VarId LayerCall::fixed_param(const std::string& name, Shape shape, FileLayout layout) {
  const VarId made = builder_.add_param(Kind::Param, message(path_, '.', name), std::move(shape), wide_of(dtype()),
                                        {.layout = layout});
  builder_.network_.frozen.insert(made);
  return var(made).dtype == dtype() ? made : builder_.copy_of(made);
}

VarId LayerCall::wide_param(const std::string& name, Shape shape, Init init, bool decay, FileLayout layout) {
  if (settings_.has("share"))
    return shared_param(builder_.program(), message(settings_.text("share"), '.', name), shape);
  const BuildOptions& options = builder_.options();
  const std::string full = message(path_, '.', name);
  DType own = wide_of(dtype());
  if (const auto frozen = options.frozen_dtypes.find(full); frozen != options.frozen_dtypes.end())
    own = frozen->second;
  else if (shape.size() > 1 && !is_frozen(name) && !options.keep_f32.contains(full))
    own = options.param_dtype.value_or(own);
  return builder_.add_param(Kind::Param, full, std::move(shape), own, {.init = init, .decay = decay, .layout = layout});
}

VarId LayerCall::state(const std::string& name, Shape shape, DType dtype, double value) {
  return builder_.add_param(Kind::State, message(path_, '.', name), std::move(shape), dtype,
                            {.init = {.value = value}});
}

std::vector<VarId> LayerCall::emit_all(const std::string& type, std::vector<VarId> in, Attrs attrs) {
  return builder_.append(type, std::move(in), std::move(attrs), path_);
}

VarId LayerCall::emit(const std::string& type, std::vector<VarId> in, Attrs attrs) {
  return emit_all(type, std::move(in), std::move(attrs)).front();
}

VarId LayerCall::emit_along(const std::string& key, const std::string& type, Attrs attrs) {
  Ints perm(shape().size());
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  const std::int64_t last = static_cast<std::int64_t>(perm.size()) - 1, along = settings_.has(key) ? axis(key) : last;
  if (along == last) return emit(type, {in()}, std::move(attrs));
  std::swap(perm[static_cast<std::size_t>(along)], perm.back());  // which is its own inverse
  const VarId turned = emit("transpose", {in()}, {{"perm", perm}});
  return emit("transpose", {emit(type, {turned}, std::move(attrs))}, {{"perm", perm}});
}

void LayerCall::update(const std::string& type, std::vector<VarId> in, Attrs attrs) {
  append_update(builder_.network_.program, builder_.block_, type, std::move(in), std::move(attrs));
}

VarId LayerCall::flat(int slot) {
  if (shape(slot).size() == 2) return in(slot);
  return emit_part("flat", "flatten", {in(slot)});
}

VarId LayerCall::emit_part(const std::string& as, const std::string& type, std::vector<VarId> in, Attrs attrs) {
  return builder_.append(type, std::move(in), std::move(attrs), message(path_, '/', as)).front();
}

VarId LayerCall::view(VarId x, Shape shape, const std::string& as) {
  const VarId made = emit_part(as, kReshape, {x}, {{"shape", std::move(shape)}});
  return lay_out(made, is_image(in()) ? Layout::Image : Layout::Plain);
}

std::optional<std::array<std::int64_t, 3>> LayerCall::image_of(VarId matrix) const {
  const Program& program = builder_.program();
  const std::vector<Op>& ops = program.blocks[builder_.block_].ops;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    if (std::find(op->out.begin(), op->out.end(), matrix) == op->out.end() || op->in.empty()) continue;
    const Shape& from = program.vars[op->in[0]].shape;
    if (op_def(op->type).view == ViewOf::Whole && is_image(op->in[0])) {
      const bool is_flat = program.vars[matrix].shape == Shape{from[0], elements({from[1], from[2], from[3]})};
      return is_flat ? std::optional(std::array{from[1], from[2], from[3]}) : std::nullopt;
    }
    if (from != program.vars[matrix].shape || op_def(op->type).mult_adds) return std::nullopt;
    matrix = op->in[0];  // dropout, relu and the like keep the order of the columns
  }
  return std::nullopt;
}

}  // namespace lethe
