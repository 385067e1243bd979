// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/ir_random_graph.h"

#include <algorithm>
#include <numeric>

namespace thimble::test {
namespace {

using ir::DType;
using ir::Graph;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Graph make(int op_count) {
    graph_.add_input("x", {DType::kF32, {1, 4, 6, 5}, {}, {}});
    graph_.add_input("q", {DType::kI8, {1, 4, 6, 5}, ir::channels_last_order(), {}});
    graph_.add_input("row", {DType::kF32, {2, 5}, {}, {}});
    graph_.add_input("codes", {DType::kI8, {5}, {}, ir::per_tensor(0.1, -7)});
    graph_.add_input("odd name", {DType::kI32, {2, 2}, {}, {}});
    graph_.add_input("mask", {DType::kBool, {6, 5}, {}, {}});
    graph_.add_input("wide", {DType::kI16, {1, 4, 6, 5}, {}, {}});
    graph_.add_input("series", {DType::kF32, {3, 2, 4}, {}, {}});
    graph_.add_input("steps", {DType::kI8, {3, 2, 4}, {}, {}});
    data_ = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    add_states();
    // Most attempts do not fit and are refused by the factory.
    for (int attempt = 0; attempt < 200 * op_count; ++attempt) {
      if (static_cast<int>(graph_.ops().size()) >= op_count) break;
      const auto kind =
          static_cast<OpKind>(random_.between(0, static_cast<int64_t>(OpKind::kCount) - 1));
      if (kind != OpKind::delegate) try_add(kind);  // the graph does not define a delegate's result
    }
    graph_.add_output(data_.back());
    for (const ValueId id : data_) {
      if (random_.chance(20)) graph_.add_output(id);
    }
    update_states();
    return std::move(graph_);
  }

 private:
  void add_states() {
    for (int64_t i = random_.between(0, 2); i > 0; --i) {
      ir::Tensor content = random_tensor(random_, DType::kF32, {2, 5});
      data_.push_back(
          graph_.add_state("state", std::make_shared<const ir::Tensor>(std::move(content))));
    }
  }

  /// Sets the next value of states at random. A state without one keeps its value.
  void update_states() {
    for (size_t i = 0; i < graph_.states().size(); ++i) {
      const ir::Type type = graph_.type(graph_.states()[i].value);
      for (const ValueId id : data_) {
        const ir::Type& other = graph_.type(id);
        const bool fits = other.dtype == type.dtype && other.shape == type.shape && !other.quant;
        if (fits && random_.chance(40)) graph_.set_next(i, id);
      }
    }
  }

  /// Returns the operands of a recurrent operator on x [T,B,I]; empty if x has another rank.
  std::vector<ValueId> recurrent_operands(OpKind kind, ValueId first) {
    const Shape x = graph_.type(first).shape;
    if (x.size() != 3) return {};
    const bool integer = ir::op_name(kind)[0] == 'q';
    const bool gru = kind == OpKind::gru || kind == OpKind::qgru;
    const bool lstm = kind == OpKind::lstm || kind == OpKind::qlstm;
    const int64_t gates = lstm ? 4 : gru ? 3 : 1;
    const int64_t hidden = channels_, rows = gates * hidden;
    const DType real = integer ? DType::kI8 : DType::kF32;
    std::vector<ValueId> operands = {first, constant(real, {1, x[1], hidden}, 0, 0)};
    if (lstm) operands.push_back(constant(real, {1, x[1], hidden}, 0, 0));
    operands.push_back(constant(real, {rows, x[2]}, 0, 0));
    operands.push_back(constant(real, {rows, hidden}, 0, 0));
    const int biases = !integer || gru ? 2 : 1;
    for (int i = 0; i < biases; ++i) {
      const bool absent = !integer && random_.chance(30);
      operands.push_back(absent ? ir::kNoValue
                                : constant(integer ? DType::kI32 : real, {rows}, -5000, 5000));
    }
    if (!integer) return operands;
    const Shape scales = {2, random_.chance(50) ? gates : rows};
    operands.push_back(constant(DType::kI32, scales, 1 << 30, INT32_MAX));
    operands.push_back(constant(DType::kI32, scales, -12, 2));
    auto table = std::make_shared<ir::Tensor>(ir::zeros(DType::kI16, {513}));
    for (int16_t& entry : table->data<int16_t>()) {
      entry = static_cast<int16_t>(random_.between(-32767, 32767));
    }
    operands.push_back(graph_.add_constant("tanh", std::move(table)));
    return operands;
  }

  /// Returns the operands of log_mel or qlog_mel, with samples of their own: values of the graph
  /// rarely have as many in a row.
  std::vector<ValueId> log_mel_operands(OpKind kind) {
    if (kind == OpKind::log_mel) {
      const int64_t n = random_.between(4, 20);
      return {constant(DType::kF32, {channels_, 20}, 0, 0), constant(DType::kF32, {n}, 0, 0),
              constant(DType::kF32, {3, n / 2 + 1}, 0, 0)};
    }
    auto bands = std::make_shared<ir::Tensor>(ir::zeros(DType::kI32, {channels_, 2}));
    for (size_t m = 0; m < static_cast<size_t>(channels_); ++m) {
      bands->data<int32_t>()[2 * m] = static_cast<int32_t>(random_.between(0, 30));
      bands->data<int32_t>()[2 * m + 1] = 3;
    }
    auto weights = std::make_shared<ir::Tensor>(ir::zeros(DType::kI16, {3 * channels_}));
    for (int16_t& weight : weights->data<int16_t>()) {
      weight = static_cast<int16_t>(random_.between(0, INT16_MAX));
    }
    return {constant(DType::kI16, {2, 90}, 0, 0), constant(DType::kI32, {64}, -50000, 50000),
            constant(DType::kI32, {16}, 0, INT32_MAX), graph_.add_constant("c", std::move(bands)),
            graph_.add_constant("c", std::move(weights))};
  }
  /// Sets the attributes whose random numbers are mostly invalid.
  void make_log_mel_valid(OpKind kind, ir::Attrs& attrs) {
    if (kind != OpKind::log_mel && kind != OpKind::qlog_mel) return;
    attrs.set(ir::attr::hop, random_.between(1, 70));
    if (kind == OpKind::log_mel) return;
    for (const auto key : {ir::attr::int_floor, ir::attr::int_eps}) {
      attrs.set(key, random_.between(0, INT32_MAX));
    }
    for (const auto key : {ir::attr::floor_shift, ir::attr::eps_shift}) {
      attrs.set(key, random_.between(0, 31));
    }
    attrs.set(ir::attr::shift, random_.between(-20, 0));
    attrs.set(ir::attr::wide, int64_t{0});
  }

  /// Returns the operands of camera_image or qcamera_image, with a frame of their own.
  std::vector<ValueId> frame_operands(OpKind kind) {
    std::vector<ValueId> operands = {constant(DType::kU8, {1, 4, 4, 3}, 0, 255)};
    if (kind == OpKind::camera_image) return operands;
    for (int table = 0; table < 2; ++table) {
      operands.push_back(constant(DType::kI32, {channels_}, 0, 2));
      operands.push_back(constant(DType::kI32, {channels_}, 0, 2048));
    }
    return operands;
  }
  static void make_frame_valid(OpKind kind, ir::Attrs& attrs) {
    if (kind != OpKind::camera_image && kind != OpKind::qcamera_image) return;
    attrs.set(ir::attr::format, int64_t{1});
    if (kind == OpKind::qcamera_image) return;
    attrs.set(ir::attr::crop, {0, 0, 4, 4});
    attrs.set(ir::attr::size, {2, 3});
    attrs.set(ir::attr::zero_point, int64_t{0});
    attrs.set(ir::attr::scale, 0.5);
  }

  ValueId constant(DType dtype, const Shape& shape, int64_t low, int64_t high) {
    auto tensor = std::make_shared<ir::Tensor>(random_tensor(random_, dtype, shape));
    if (dtype == DType::kI32) {
      for (int32_t& value : tensor->data<int32_t>()) {
        value = static_cast<int32_t>(random_.between(low, high));
      }
    }
    if (dtype == DType::kI64) {
      for (int64_t& value : tensor->data<int64_t>()) value = random_.between(low, high);
    }
    return graph_.add_constant("c", std::move(tensor));
  }

  /// Returns one entry per element of a row (`dims` = 1), or per channel of a group norm.
  ValueId norm_parameter(std::string_view op, std::string_view name, const Shape& x) {
    if (x.empty() || random_.chance(30)) return ir::kNoValue;
    const bool grouped = op.find("group_norm") != std::string_view::npos;
    const Shape shape = {grouped && x.size() > 1 ? x[1] : x.back()};
    if (op[0] != 'q') return constant(DType::kF32, shape, 0, 0);
    return constant(name == "w" ? DType::kI16 : DType::kI32, shape, -50000, 50000);
  }

  /// Returns a parameter operand; its name determines type and shape. `x` is the first operand.
  ValueId parameter(OpKind kind, std::string_view name, const Shape& x) {
    const bool integer = ir::op_name(kind)[0] == 'q';
    const bool wide = ir::op_name(kind).ends_with("16");
    if (kind == OpKind::prelu || kind == OpKind::qprelu || kind == OpKind::qprelu16) {
      const DType code = wide ? DType::kI16 : DType::kI8;
      return constant(integer ? code : DType::kF32, {x.empty() ? 1 : x.back()}, 0, 0);
    }
    if (ir::op_name(kind).find("_norm") != std::string_view::npos && kind != OpKind::batch_norm) {
      return norm_parameter(ir::op_name(kind), name, x);
    }
    if (name == "w") {
      const bool linear =
          kind == OpKind::linear || kind == OpKind::qlinear || kind == OpKind::qlinear16;
      const bool transposed = ir::op_name(kind).find("conv_transpose2d") != std::string_view::npos;
      Shape shape = linear ? Shape{channels_, x.empty() ? 1 : x.back()}
                           : Shape{channels_, x.size() > 1 ? x[1] : 1, random_.between(1, 3),
                                   random_.between(1, 3)};
      if (transposed) std::swap(shape[0], shape[1]);
      return constant(integer ? DType::kI8 : DType::kF32, shape, 0, 0);
    }
    if (name == "b") {
      if (random_.chance(30)) return ir::kNoValue;
      if (wide) return constant(DType::kI64, {channels_}, -5000, 5000);
      return constant(integer ? DType::kI32 : DType::kF32, {channels_}, -5000, 5000);
    }
    if (kind == OpKind::dequantize_channels) {  // along axis 0
      const Shape channels = {x.empty() ? 1 : x[0]};
      if (name == "zero_point") return ir::kNoValue;
      return constant(DType::kF32, channels, 0, 0);
    }
    const Shape per_channel = random_.chance(50) ? Shape{channels_} : Shape{1};
    if (name == "mult") return constant(DType::kI32, per_channel, 1 << 30, INT32_MAX);
    if (name == "shift" && integer) return constant(DType::kI32, per_channel, -12, 2);
    if (name == "table" && wide) return constant(DType::kI16, {513}, 0, 0);
    if (name == "table") return constant(DType::kI8, {256}, 0, 0);
    if (name.ends_with("_low")) return constant(DType::kI32, {3}, 0, 0);
    if (name.ends_with("_weight")) return constant(DType::kI32, {3}, 0, 2048);
    if (name == "index") {
      const Shape shape = kind == OpKind::gather ? numbers(2, 1, 2) : x;
      return constant(DType::kI32, shape, -3, 3);
    }
    if (name == "exp_table") return constant(DType::kI32, {256}, 1, 1 << 20);
    return constant(DType::kF32, {x.size() > 1 ? x[1] : 1}, 0, 0);  // parameters of batch_norm
  }

  std::vector<int64_t> numbers(size_t count, int64_t low, int64_t high) {
    std::vector<int64_t> result(count);
    for (int64_t& value : result) value = random_.between(low, high);
    return result;
  }

  ir::AttrValue integers(std::string_view name, const Shape& x) {
    if (name == "dims") {
      std::vector<int64_t> dims(x.size());
      std::iota(dims.begin(), dims.end(), 0);
      for (size_t i = dims.size(); i > 1; --i) {
        std::swap(dims[i - 1], dims[static_cast<size_t>(random_.between(0, int64_t(i) - 1))]);
      }
      if (random_.chance(50) && !dims.empty()) dims.pop_back();
      return dims;
    }
    if (name == "shape") {
      Shape shape = x;
      std::reverse(shape.begin(), shape.end());
      if (random_.chance(50)) shape.insert(shape.begin(), random_.between(1, 2));
      return random_.chance(50) ? shape : x;
    }
    if (name == "before" || name == "after") return numbers(x.size(), 0, 1);
    if (name == "padding") return numbers(4, 0, 1);
    if (name == "output_padding") return numbers(2, 0, 1);
    return numbers(2, 1, name == "kernel" ? 3 : 2);
  }

  ir::AttrValue integer(std::string_view name, const Shape& x) {
    const int64_t size = x.empty() ? 1 : x.back();
    if (name == "dim") return random_.between(0, std::max<int64_t>(0, int64_t(x.size()) - 1));
    if (name == "dims") return int64_t{1};
    if (name == "start") return random_.between(0, size - 1);
    if (name == "end" || name == "step") return random_.between(1, size);
    if (name == "groups") return int64_t{1};
    if (name == "axis") return int64_t{0};
    if (name == "relation") return random_.between(0, 5);
    // No i64: its arithmetic differs from that in 32 bits, which passes make of it.
    if (name == "type") return random_.between(0, 4);
    if (name == "function") return random_.between(0, 4);
    if (name == "rounding") return random_.between(0, 1);
    if (name.ends_with("mult")) return random_.between(1 << 30, INT32_MAX);
    if (name == "cell") return random_.between(0, 2);
    if (name.ends_with("_bits")) return random_.between(0, 15);
    if (name == "diff_min") return random_.between(-63, 0);
    if (name.ends_with("shift")) return random_.between(-20, 25);
    if (name == "min") return random_.between(-128, 0);
    return random_.between(-128, 127);
  }

  ir::AttrValue attribute(const ir::AttrInfo& info, const Shape& x) {
    switch (info.kind) {
      case ir::AttrInfo::Kind::kInts:
        return integers(info.name, x);
      case ir::AttrInfo::Kind::kBool:
        return random_.between(0, 1);
      case ir::AttrInfo::Kind::kInt:
        return integer(info.name, x);
      case ir::AttrInfo::Kind::kDouble:
        break;
    }
    if (info.name == "value") return static_cast<double>(random_.between(0, 1));
    return info.name == "min" ? random_.real(-4, 0) : random_.real(0.001, 4);
  }

  ir::Source source() {
    ir::Source source;
    if (random_.chance(50)) source.file = "dir/net \"1\".py";
    if (random_.chance(50)) source.line = static_cast<int>(random_.between(1, 999));
    if (random_.chance(30)) source.text = "x = f(\\x)\t# \n \x7f \xc3\xa4";
    if (random_.chance(30)) source.module = "features.0";
    if (random_.chance(30)) source.target = "aten.x.default";
    if (!source.module.empty()) source.node = "x_1";
    return source;
  }

  /// Makes the attributes consistent with one rounding mode.
  void make_rounding_consistent(const ir::OpInfo& info, ir::Attrs& attrs) {
    if (info.attr("bytes") == nullptr) return;
    attrs.set(ir::attr::bytes, int64_t{1});
    if (info.attr("leaky") != nullptr) attrs.set(ir::attr::leaky, int64_t{0});
    const bool sums = info.attr("a_mult") != nullptr;
    const bool own_numbers = sums || info.attr("mult") != nullptr;
    const bool even = own_numbers && random_.chance(30);
    if (info.name == "qavg_pool2d" && !even) {
      for (const auto key : {ir::attr::x_zp, ir::attr::y_zp, ir::attr::mult, ir::attr::shift})
        attrs.set(key, int64_t{0});
    }
    if (!even) {
      attrs.set(ir::attr::rounding, random_.between(0, 1));
      return;
    }
    attrs.set(ir::attr::rounding, int64_t{2});
    attrs.set(sums ? ir::attr::y_shift : ir::attr::shift, random_.between(0, 23));
    if (!sums) return;
    for (const auto key : {ir::attr::a_mult, ir::attr::b_mult})
      attrs.set(key, random_.between(0, INT16_MAX));
    for (const auto key : {ir::attr::a_shift, ir::attr::b_shift}) attrs.set(key, int64_t{0});
    attrs.set(ir::attr::y_mult, int64_t{1});
  }

  void try_add(OpKind kind) {
    const ir::OpInfo& info = ir::op_info(kind);
    // Two random values rarely have the same type, which most operators require.
    const auto partner = [&](ValueId side) {
      std::vector<ValueId> alike;
      for (const ValueId id : data_) {
        if (graph_.type(id).dtype == graph_.type(side).dtype) alike.push_back(id);
      }
      return alike[static_cast<size_t>(random_.between(0, int64_t(alike.size()) - 1))];
    };
    const auto data = [&] {
      return data_[static_cast<size_t>(random_.between(0, int64_t(data_.size()) - 1))];
    };
    const size_t constants_before = graph_.value_count();
    channels_ = random_.between(1, 4);
    const ValueId first = data();
    const Shape x = graph_.type(first).shape;
    std::vector<ValueId> operands{first};
    const bool recurrent = info.operands.size() > 1 && info.operands[1].name == "h0";
    if (recurrent) operands = recurrent_operands(kind, first);
    if (kind == OpKind::log_mel || kind == OpKind::qlog_mel) operands = log_mel_operands(kind);
    if (kind == OpKind::camera_image || kind == OpKind::qcamera_image) {
      operands = frame_operands(kind);
    }
    if (operands.empty()) return;
    const bool two_sided =
        kind == OpKind::where || (info.operands.size() == 2 && info.operands[0].name == "a");
    for (size_t i = operands.size(); i < info.operands.size(); ++i) {
      // Few pairs of shapes can be multiplied, but every matrix by its own transpose.
      const bool by_itself = info.attr("transpose_b") != nullptr && random_.chance(50);
      operands.push_back(by_itself   ? first
                         : two_sided ? partner(first)
                                     : parameter(kind, info.operands[i].name, x));
    }
    if (info.operands[0].variadic && random_.chance(70)) operands.push_back(data());
    ir::Attrs attrs;
    for (const ir::AttrInfo& attr : info.attrs) {
      if (!attr.default_value || random_.chance(50)) attrs.set_value(attr.id, attribute(attr, x));
    }
    make_rounding_consistent(info, attrs);
    make_log_mel_valid(kind, attrs);
    make_frame_valid(kind, attrs);
    Graph::ResultHint hint;
    if (random_.chance(30)) hint.name = "v";
    if (random_.chance(30)) hint.dim_order = ir::channels_last_order();
    if (random_.chance(30)) hint.quant = ir::per_tensor(random_.real(1e-6, 10), -3);
    const auto added = graph_.add(kind, operands, attrs, source(), hint);
    // The constants of a refused operator remain as unused values.
    if (added.ok() && graph_.value_count() > constants_before) data_.push_back(*added);
  }

  Random random_;
  Graph graph_;
  std::vector<ValueId> data_;
  int64_t channels_ = 1;
};

}  // namespace

ir::Tensor random_tensor(Random& random, DType dtype, const Shape& shape) {
  ir::Tensor tensor = ir::zeros(dtype, shape);
  if (dtype == DType::kF32) {
    for (float& value : tensor.data<float>()) value = static_cast<float>(random.real(-8, 8));
    return tensor;
  }
  const int64_t high = dtype == DType::kBool ? 1 : 255;
  for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random.between(0, high));
  return tensor;
}

Graph random_graph(uint64_t seed, int op_count) {
  return Maker(seed).make(op_count);
}

std::vector<ir::Tensor> random_inputs(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<ir::Tensor> inputs;
  for (const ValueId id : graph.inputs()) {
    inputs.push_back(random_tensor(random, graph.type(id).dtype, graph.type(id).shape));
  }
  return inputs;
}

}  // namespace thimble::test
