// SPDX-License-Identifier: Apache-2.0
#include "interchange/tosa/tosa_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace thimble::interchange {

using formats::tosa::DType;
using ir::Shape;

DType tosa_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kF32:
      return DType::kFp32;
    case ir::DType::kBool:
      return DType::kBool;
    case ir::DType::kI16:
      return DType::kInt16;
    case ir::DType::kI32:
    case ir::DType::kI64:  // indices only; 64-bit biases are written as int48 by bias_part()
      return DType::kInt32;
    default:
      return DType::kInt8;
  }
}

void TosaBuilder::begin(const std::string& name, const std::string& location) {
  prefix_ = name;
  location_ = location;
}

std::string TosaBuilder::unique(const std::string& name) {
  const int count = names_[name]++;
  return count == 0 ? name : unique(name + "." + std::to_string(count));
}

int TosaBuilder::add_tensor(TensorInfo known) {
  tensors_.push_back(std::move(known));
  return static_cast<int>(tensors_.size()) - 1;
}

int TosaBuilder::input(const std::string& name, DType type, const Shape& shape) {
  TensorInfo known{unique(name), type, shape, {}, false, {}, true};
  inputs_.push_back(add_tensor(std::move(known)));
  return inputs_.back();
}

void TosaBuilder::output(int tensor) {
  // TOSA requires that an operator produces each output, and that each output is listed once.
  const auto twice = std::find(outputs_.begin(), outputs_.end(), tensor) != outputs_.end();
  const bool made = std::any_of(steps_.begin(), steps_.end(),
                                [&](const Step& step) { return step.result == tensor; });
  if (!made || twice) tensor = emit(Op::kIdentity, {}, {tensor}, type(tensor), shape(tensor));
  outputs_.push_back(tensor);
}

void TosaBuilder::name(int tensor, const std::string& name) {
  TensorInfo& known = tensors_[index(tensor)];
  if (known.named) return;
  known.name = unique(name);
  known.named = true;
}

int TosaBuilder::constant(DType type, const Shape& shape, Bytes bytes) {
  const auto key = std::make_tuple(type, shape, bytes);
  const auto found = constants_.find(key);
  if (found != constants_.end()) return found->second;
  TensorInfo known{{}, type, shape, std::move(bytes), false, {}, false};
  const int made = add_tensor(std::move(known));
  steps_.push_back({Op::kConst, {}, {}, made, {}});
  constants_.emplace(key, made);
  return made;
}

namespace {

size_t element_bytes(DType type) {
  switch (type) {
    case DType::kInt16:
      return 2;
    case DType::kInt32:
    case DType::kFp32:
      return 4;
    case DType::kInt48:
      return 6;
    default:
      return 1;
  }
}

}  // namespace

int TosaBuilder::constants(DType type, const Shape& shape, const std::vector<int32_t>& values) {
  Bytes bytes;
  for (const int32_t value : values) {
    const int64_t wide = value;  // int48 needs sign extension
    for (size_t i = 0; i < element_bytes(type); ++i) {
      bytes.push_back(static_cast<std::byte>(wide >> (8 * i)));
    }
  }
  return constant(type, shape, std::move(bytes));
}

int TosaBuilder::floats(const Shape& shape, const std::vector<float>& values) {
  Bytes bytes;
  for (const float value : values) append_le(bytes, std::bit_cast<uint32_t>(value));
  return constant(DType::kFp32, shape, std::move(bytes));
}

int TosaBuilder::scalar(int32_t value, size_t rank) {
  return constants32(Shape(rank, 1), {value});
}

int TosaBuilder::list(const Shape& values) {
  const auto found = lists_.find(values);
  if (found != lists_.end()) return found->second;
  TensorInfo known;
  known.is_list = true;
  known.list = values;
  const int made = add_tensor(std::move(known));
  steps_.push_back({Op::kConstShape, {}, {}, made, {}});
  lists_.emplace(values, made);
  return made;
}

int TosaBuilder::emit(Op op, Attr attr, std::vector<int> operands, DType type, const Shape& shape) {
  TensorInfo known{{}, type, shape, {}, false, {}, false};
  const int made = add_tensor(std::move(known));
  steps_.push_back({op, std::move(attr), std::move(operands), made, location_});
  tensors_.back().name = prefix_;
  return made;
}

int TosaBuilder::rescale(int x, const Rescaling& r) {
  const bool each = r.multipliers.size() > 1;
  const int whole = r.narrow ? 15 : 31;
  std::vector<int32_t> mults, shifts;
  for (const Multiplier& multiplier : r.multipliers) {
    int32_t mult = multiplier.mult;
    if (r.narrow) mult = mult >= 0x7FFF0000 ? 32767 : (mult + (1 << 15)) / (1 << 16);
    mults.push_back(mult);
    shifts.push_back(whole - multiplier.shift);
  }
  const Shape entries = {static_cast<int64_t>(mults.size())};
  const int mult = constants(r.narrow ? DType::kInt16 : DType::kInt32, entries, mults);
  return emit(Op::kRescale, formats::tosa::RescaleAttr{!r.narrow, r.rounding, each},
              {x, mult, constants8(entries, shifts), constants(type(x), {1}, {r.x_zp}),
               constants(r.type, {1}, {r.y_zp})},
              r.type, shape(x));
}

namespace {
constexpr Multiplier kOne = {1 << 30, 1};
}  // namespace

int TosaBuilder::widen(int x, int64_t zero_point) {
  if (type(x) == DType::kFp32) return x;
  if (type(x) == DType::kInt32)
    return zero_point == 0 ? x : plus(x, static_cast<int32_t>(-zero_point));
  const bool fits = type(x) == DType::kInt8 && zero_point >= -128 && zero_point <= 127;
  const int wide = rescale(x, {{kOne}, fits ? static_cast<int32_t>(zero_point) : 0});
  return fits || zero_point == 0 ? wide : plus(wide, static_cast<int32_t>(-zero_point));
}

int TosaBuilder::narrow(int x, DType to, int32_t zero_point) {
  if (to == DType::kFp32) return x;
  return rescale(x, {{kOne}, 0, zero_point, to});
}

int TosaBuilder::clamp(int x, int64_t low, int64_t high) {
  const DType of = type(x);
  const int64_t lowest = of == DType::kInt8 ? -128 : of == DType::kInt16 ? -32768 : INT32_MIN;
  const int64_t highest = of == DType::kInt8 ? 127 : of == DType::kInt16 ? 32767 : INT32_MAX;
  if (low <= lowest && high >= highest) return x;
  if (of == DType::kInt32) {
    return min_scalar(max_scalar(x, static_cast<int32_t>(low)), static_cast<int32_t>(high));
  }
  const formats::tosa::ClampAttr attr{of, static_cast<int32_t>(std::max(low, lowest)),
                                      static_cast<int32_t>(std::min(high, highest))};
  return emit(Op::kClamp, attr, {x}, of, shape(x));
}

Shape TosaBuilder::broadcast(int a, int b) const {
  Shape out = shape(a);
  assert(out.size() == shape(b).size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::max(out[i], shape(b)[i]);
  return out;
}

int TosaBuilder::binary(Op op, int a, int b) {
  const bool compares = op == Op::kEqual || op == Op::kGreater || op == Op::kGreaterEqual;
  return emit(op, {}, {a, b}, compares ? DType::kBool : type(a), broadcast(a, b));
}

int TosaBuilder::mul(int a, int b, int shift) {
  return emit(Op::kMul, {}, {a, b, constants8({1}, {shift})}, type(a), broadcast(a, b));
}

int TosaBuilder::shift_right(int a, int b, bool round) {
  return emit(Op::kArithmeticRightShift, formats::tosa::ShiftAttr{round}, {a, b}, type(a),
              broadcast(a, b));
}

int TosaBuilder::unary(Op op, int x) {
  return emit(op, {}, {x}, type(x), shape(x));
}

int TosaBuilder::select(int condition, int a, int b) {
  Shape out = shape(condition);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = std::max({out[i], shape(a)[i], shape(b)[i]});
  }
  return emit(Op::kSelect, {}, {condition, a, b}, type(a), out);
}

int TosaBuilder::reduce(Op op, int x, int axis) {
  Shape out = shape(x);
  out[static_cast<size_t>(axis)] = 1;
  return emit(op, formats::tosa::AxisAttr{axis}, {x}, type(x), out);
}

int TosaBuilder::reshape(int x, const Shape& to) {
  if (shape(x) == to) return x;
  return emit(Op::kReshape, {}, {x, list(to)}, type(x), to);
}

int TosaBuilder::transpose(int x, const std::vector<int>& perms) {
  Shape out;
  for (const int dim : perms) out.push_back(shape(x)[static_cast<size_t>(dim)]);
  return transposed(x, perms, out);
}

int TosaBuilder::transposed(int tensor, const std::vector<int>& perms, const Shape& to) {
  return emit(Op::kTranspose, formats::tosa::TransposeAttr{{perms.begin(), perms.end()}}, {tensor},
              type(tensor), to);
}

int TosaBuilder::slice(int x, const Shape& start, const Shape& size) {
  if (size == shape(x)) return x;
  return emit(Op::kSlice, {}, {x, list(start), list(size)}, type(x), size);
}

int TosaBuilder::part(int x, int axis, int64_t start, int64_t count) {
  Shape from(shape(x).size(), 0), size = shape(x);
  from[static_cast<size_t>(axis)] = start;
  size[static_cast<size_t>(axis)] = count;
  return slice(x, from, size);
}

int TosaBuilder::strided(int x, int axis, int64_t start, int64_t count, int64_t step) {
  if (step == 1) return part(x, axis, start, count);
  const auto at = static_cast<size_t>(axis);
  const int64_t there = shape(x)[at] - start;
  int run = part(x, axis, start, std::min(there, count * step));
  if (there < count * step) {
    Shape after(shape(x).size(), 0);
    after[at] = count * step - there;
    run = pad(run, Shape(shape(x).size(), 0), after, 0);
  }
  // Reshapes [.., count * step, ..] to [before, count, step, behind]; index 0 of `step` is
  // selected.
  const Shape whole = shape(run);
  const int64_t before = ir::element_count(Shape(whole.begin(), whole.begin() + axis));
  const int64_t behind = ir::element_count(Shape(whole.begin() + axis + 1, whole.end()));
  run = part(reshape(run, {before, count, step, behind}), 2, 0, 1);
  Shape out = whole;
  out[at] = count;
  return reshape(run, out);
}

int TosaBuilder::concat(const std::vector<int>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  Shape out = shape(parts[0]);
  const auto at = static_cast<size_t>(axis);
  out[at] = 0;
  for (const int part : parts) out[at] += shape(part)[at];
  return emit(Op::kConcat, formats::tosa::AxisAttr{axis}, parts, type(parts[0]), out);
}

int TosaBuilder::pad(int x, const Shape& before, const Shape& after, int32_t value) {
  Shape out = shape(x), pairs;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] += before[i] + after[i];
    pairs.push_back(before[i]);
    pairs.push_back(after[i]);
  }
  if (out == shape(x)) return x;
  const int filling = constants(type(x), {1}, {value});
  return emit(Op::kPad, {}, {x, list(pairs), filling}, type(x), out);
}

int TosaBuilder::tile(int x, const Shape& to) {
  if (shape(x) == to) return x;
  Shape times;
  for (size_t i = 0; i < to.size(); ++i) times.push_back(to[i] / shape(x)[i]);
  return emit(Op::kTile, {}, {x, list(times)}, type(x), to);
}

int TosaBuilder::gather(int values, int indices) {
  const Shape out = {shape(values)[0], shape(indices)[1], shape(values)[2]};
  return emit(Op::kGather, {}, {values, indices}, type(values), out);
}

int TosaBuilder::look_up(int x, const std::vector<int32_t>& table) {
  const auto entries = static_cast<int64_t>(table.size());
  const int64_t count = ir::element_count(shape(x));
  const int values = constants32({1, entries, 1}, table);
  return reshape(gather(values, reshape(x, {1, count})), shape(x));
}

int TosaBuilder::constant(const ir::Value& value, const ir::DimOrder& order) {
  const Shape out = Layouts::in_order(value.type.shape, order);
  Bytes bytes = ir::to_memory(*value.constant, order);
  if (value.type.dtype == ir::DType::kI64) {
    std::vector<int32_t> small;
    for (size_t i = 0; i < bytes.size(); i += 8) {
      const auto wide = static_cast<int64_t>(load_le<uint64_t>(bytes, i));
      small.push_back(static_cast<int32_t>(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX)));
    }
    return constants32(out, small);
  }
  return constant(tosa_type(value.type.dtype), out, std::move(bytes));
}

formats::tosa::Program TosaBuilder::finish() {
  formats::tosa::Program program;
  for (TensorInfo& known : tensors_) {
    if (!known.named) known.name = unique(known.name.empty() ? "c" : known.name + ".of");
  }
  const auto name_of = [&](int tensor) { return tensors_[index(tensor)].name; };
  for (const Step& step : steps_) {
    formats::tosa::Operator op{step.op, step.attr, {}, {name_of(step.result)}, step.location};
    for (const int operand : step.operands) op.inputs.push_back(name_of(operand));
    program.operators.push_back(std::move(op));
  }
  for (TensorInfo& known : tensors_) {
    if (known.is_list) {
      program.shapes.push_back({known.name, known.list});
      continue;
    }
    std::vector<int32_t> shape(known.shape.begin(), known.shape.end());
    program.tensors.push_back({known.name, std::move(shape), known.type, std::move(known.data)});
  }
  for (const int tensor : inputs_) program.inputs.push_back(name_of(tensor));
  for (const int tensor : outputs_) program.outputs.push_back(name_of(tensor));
  return program;
}

}  // namespace thimble::interchange
