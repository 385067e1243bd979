// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/vendor/layers_to_ir.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

namespace thimble::engine::axon {
namespace {

namespace isa = thimble::axon;
using formats::axon::IrDimensions;
using formats::axon::IrLayer;
using isa::Operation;
using isa::Source;

/// Operation numbers of the IR equal those of the container, except for this one.
constexpr uint32_t kPersistentVariable = 8;

IrDimensions dimensions_of(const isa::Operand& operand) {
  return {operand.h, operand.w, operand.c, operand.element_bytes, operand.n};
}

/// A scale as multiplier / 2^shift, as fine as both and the zero point's share fit 31 bits: the
/// vendor's own choice.
struct LayerScale {
  uint32_t multiplier = 0;
  uint8_t shift = 0;
};
LayerScale finest(double scale, int32_t zero_point, int shift_end) {
  LayerScale best{1, 8};
  for (int shift = 8; shift < shift_end; ++shift) {
    const double multiplier = std::nearbyint(std::ldexp(scale, shift));
    const double offset = std::ldexp(std::abs(zero_point), shift);
    if (multiplier >= 0x1p31 || offset >= 0x1p31) break;
    best = {static_cast<uint32_t>(multiplier), static_cast<uint8_t>(shift)};
  }
  return best;
}

class Converter {
 public:
  Converter(const isa::Container& container, const std::string& name)
      : container_(container), header_(container.header()) {
    result_.file.name = name;
  }

  Result<IrOfLayers> convert() {
    number_layers();
    THIMBLE_CHECK(add_variables());
    if (copy_ >= 0) THIMBLE_CHECK(add_copy_of_input());
    for (uint32_t i = 0; i < header_.layer_count; ++i) {
      if (index_.at(i) < first_layer()) continue;
      THIMBLE_CHECK(add_layer(i));
    }
    prepare_extensions();
    keep_inputs();
    THIMBLE_CHECK(describe_interface());
    return std::move(result_);
  }

 private:
  [[nodiscard]] int first_layer() const { return header_.variable_count + (copy_ >= 0 ? 1 : 0); }

  /// Returns the number of layer operands that read the network's input.
  [[nodiscard]] int external_readers() const {
    int readers = 0;
    for (uint32_t i = 0; i < header_.layer_count; ++i) {
      const isa::LayerRecord layer = container_.layer(i);
      for (uint32_t input = 0; input < layer.input_count; ++input) {
        if (layer.inputs[input].source == Source::kExternal) ++readers;
      }
    }
    return readers;
  }

  /// Only the first layer that reads the network's input gets correct data (docs/nordic-axon.md,
  /// D8). With several readers, a copy is added and all of them read the copy.
  Status add_copy_of_input() {
    isa::IoRecord input{};
    for (uint32_t i = 0; i < header_.layer_count; ++i) {
      const isa::LayerRecord reader = container_.layer(i);
      for (uint32_t k = 0; k < reader.input_count; ++k) {
        if (reader.inputs[k].source != Source::kExternal) continue;
        THIMBLE_TRY([[maybe_unused]] const int16_t copy, producer(reader.inputs[k], i));
        input = container_.input(reader.inputs[k].index);
      }
    }
    const IrDimensions all = {input.h, input.w, input.c, input.element_bytes, input.n};
    add_copy(formats::axon::kIrExternal, all, static_cast<int8_t>(input.zero_point));
    return ok();
  }

  /// Adds a copy (a slice of the whole tensor) and returns its layer index.
  int16_t add_copy(int16_t from, const IrDimensions& all, int8_t zero_point) {
    return add_slice(from, all, 0, all, zero_point);
  }

  /// Adds a slice of `from` with dimensions `to` that begins at `channel`; returns its layer index.
  int16_t add_slice(int16_t producer, const IrDimensions& from, uint32_t channel,
                    const IrDimensions& to, int8_t zero_point) {
    IrLayer layer;
    layer.operation = static_cast<uint32_t>(Operation::kStridedSlice);
    layer.inputs = {producer};
    layer.input_dimensions[0] = from;
    layer.output = to;
    layer.filter.byte_width = 4;
    layer.stride_x = layer.stride_y = layer.dilation_x = layer.dilation_y = 1;
    layer.input_zero_point = layer.output_zero_point = zero_point;
    for (const uint32_t number : {channel, 0U, 0U, channel + to.channels, uint32_t{to.height},
                                  uint32_t{to.width}, 1U, 1U, 1U}) {
      append_le(layer.weights, number);
    }
    set_scale(layer, {1, 0});
    result_.file.layers.push_back(std::move(layer));
    return static_cast<int16_t>(result_.file.layers.size() - 1);
  }

  /// The vendor's compiler requires a writer for each variable. A variable that only the caller
  /// fills is written by a copy of itself.
  void keep_inputs() {
    for (uint32_t v = 0; v < header_.variable_count; ++v) {
      if (result_.file.layers[v].inputs[0] >= 0) continue;
      const IrLayer variable = result_.file.layers[v];
      const int16_t copy =
          add_copy(static_cast<int16_t>(v), variable.output, variable.output_zero_point);
      result_.file.layers[v].inputs[0] = copy;
    }
  }

  [[nodiscard]] bool has_reader(int layer) const {
    return std::ranges::any_of(result_.file.layers, [&](const IrLayer& reader) {
      return std::ranges::find(reader.inputs, layer) != reader.inputs.end();
    });
  }

  /// Numbers the layers of the IR. Variables come first; a variable read maps to its variable.
  void number_layers() {
    copy_ = external_readers() > 1 ? header_.variable_count : -1;
    int next = first_layer();
    for (uint32_t i = 0; i < header_.layer_count; ++i) {
      const isa::LayerRecord layer = container_.layer(i);
      if (layer.operation == Operation::kVariableRead) {
        index_[i] =
            layer.output.source == Source::kPersistent ? layer.output.index : layer.inputs[0].index;
      } else if (layer.operation == Operation::kVariableAssign) {
        index_[i] = -1;
      } else {
        next += pads_only_behind(layer) ? 1 : 0;
        index_[i] = next++;
      }
    }
  }

  /// Returns true for a channel pad without channels in front. The vendor's compiler then drops the
  /// first channel (docs/nordic-axon.md, D9), so one channel is added in front and sliced off.
  static bool pads_only_behind(const isa::LayerRecord& layer) {
    return layer.operation == Operation::kChannelPad && layer.pad_top == 0;
  }

  [[nodiscard]] Error refusal(uint32_t layer, const std::string& why) const {
    return unsupported("AXON layer {} of {}: {}", layer, header_.name, why);
  }

  Result<int16_t> producer(const isa::Operand& operand, uint32_t layer) {
    if (operand.source == Source::kExternal) {
      if (external_ && *external_ != operand.index) {
        return refusal(layer, "a second network input; the vendor's compiler supports one");
      }
      external_ = operand.index;
      return copy_ >= 0 ? static_cast<int16_t>(copy_) : formats::axon::kIrExternal;
    }
    if (operand.source == Source::kPersistent && operand.producer == isa::kNoProducer) {
      return static_cast<int16_t>(operand.index);
    }
    const auto found = index_.find(static_cast<uint32_t>(operand.producer));
    if (operand.producer < 0 || found == index_.end() || found->second < 0) {
      return refusal(
          layer, fmt::format("the producer of its input is unknown (layer {})", operand.producer));
    }
    return static_cast<int16_t>(found->second);
  }

  /// Returns the layer that assigns the variable or writes its output there; -1 if there is none.
  Result<int16_t> writer_of(uint32_t variable) {
    for (uint32_t i = 0; i < header_.layer_count; ++i) {
      const isa::LayerRecord layer = container_.layer(i);
      if (layer.output.source != Source::kPersistent || layer.output.index != variable) continue;
      if (layer.operation == Operation::kVariableRead) continue;
      if (layer.operation == Operation::kVariableAssign) return producer(layer.inputs[0], i);
      return static_cast<int16_t>(index_.at(i));
    }
    return int16_t{-1};
  }

  /// Returns the first operand or output that refers to the variable.
  [[nodiscard]] std::optional<isa::Operand> shape_of(uint32_t variable) const {
    for (uint32_t i = 0; i < header_.layer_count; ++i) {
      const isa::LayerRecord layer = container_.layer(i);
      for (uint32_t input = 0; input < layer.input_count; ++input) {
        const isa::Operand& operand = layer.inputs[input];
        if (operand.source == Source::kPersistent && operand.index == variable) return operand;
      }
      const isa::Operand& output = layer.output;
      if (output.source == Source::kPersistent && output.index == variable) return output;
    }
    return std::nullopt;
  }

  Status add_variables() {
    for (uint32_t v = 0; v < header_.variable_count; ++v) {
      const isa::VariableRecord variable = container_.variable(v);
      const std::optional<isa::Operand> shape = shape_of(v);
      if (!shape) return unsupported("AXON variable {} of {} is not used", v, header_.name);
      IrLayer layer;
      layer.operation = kPersistentVariable;
      THIMBLE_TRY(const int16_t writer, writer_of(v));
      layer.inputs = {writer};
      layer.input_dimensions[0] = layer.output = dimensions_of(*shape);
      layer.input_zero_point = static_cast<int8_t>(variable.initial);
      layer.output_zero_point = static_cast<int8_t>(variable.initial);
      layer.stride_x = layer.stride_y = layer.dilation_x = layer.dilation_y = 1;
      set_scale(layer, finest(1.0, 0, 25));
      result_.file.layers.push_back(std::move(layer));
    }
    return ok();
  }

  static void set_scale(IrLayer& layer, LayerScale scale) {
    layer.multipliers = {static_cast<int32_t>(scale.multiplier)};
    layer.shifts = {static_cast<int8_t>(scale.shift)};
  }

  template <typename T>
  [[nodiscard]] std::vector<T> constants(uint32_t offset, uint64_t count) const {
    if (offset == isa::kAbsent) return {};
    std::vector<T> values(static_cast<size_t>(count));
    std::memcpy(values.data(), container_.constants() + offset, values.size() * sizeof(T));
    return values;
  }

  /// Returns the bytes of a constant operand without gaps between rows, as the IR stores them.
  [[nodiscard]] Bytes dense(const isa::Operand& operand) const {
    Bytes bytes;
    const uint32_t rows = uint32_t{operand.n} * operand.c * operand.h;
    const uint32_t row_bytes = uint32_t{operand.w} * operand.element_bytes;
    for (uint32_t row = 0; row < rows; ++row) {
      const uint8_t* const start =
          container_.constants() + operand.offset + size_t{row} * operand.row_stride;
      append(bytes, std::as_bytes(std::span(start, row_bytes)));
    }
    return bytes;
  }

  Status add_operands(const isa::LayerRecord& record, uint32_t index, IrLayer& layer) {
    for (uint32_t i = 0; i < record.input_count; ++i) {
      const isa::Operand& operand = record.inputs[i];
      if (operand.source == Source::kConstant) continue;
      const size_t slot = layer.inputs.size();
      THIMBLE_TRY(const int16_t from, producer(operand, index));
      layer.inputs.push_back(from);
      layer.input_dimensions[slot] = dimensions_of(operand);
      if (operand.is_view != 0) {
        layer.input_splits[slot] = {static_cast<uint8_t>(operand.view_axis), operand.view_offset};
      }
    }
    if (layer.inputs.empty()) return refusal(index, "all operands are constant");
    return ok();
  }

  /// Add and multiply may have one constant operand. The IR stores it as weights of the second
  /// operand.
  void add_constant_operand(const isa::LayerRecord& record, IrLayer& layer) {
    for (uint32_t i = 0; i < record.input_count; ++i) {
      const isa::Operand& operand = record.inputs[i];
      if (operand.source != Source::kConstant) continue;
      layer.weights = dense(operand);
      layer.filter = dimensions_of(operand);
      layer.input_zero_point = static_cast<int8_t>(operand.zero_point);
      if (i == 0 && layer.multipliers.size() == 2) {
        std::swap(layer.multipliers[0], layer.multipliers[1]);
      }
    }
  }

  void add_weights(const isa::LayerRecord& record, IrLayer& layer) {
    const isa::Operand& in = record.inputs[0];
    layer.weights = constants<std::byte>(record.weights, record.weight_bytes);
    switch (record.operation) {
      case Operation::kFullyConnected: {
        const auto wide = static_cast<uint16_t>(uint32_t{in.c} * in.h * in.w);
        const auto outputs = static_cast<uint16_t>(uint32_t{layer.output.channels} *
                                                   layer.output.height * layer.output.width);
        layer.input_dimensions[0] = {1, wide, 1, in.element_bytes, in.n};
        layer.output = {1, outputs, 1, layer.output.byte_width, layer.output.batches};
        layer.filter = {outputs, wide, 1, 1, 1};
        break;
      }
      case Operation::kStridedSlice:
        layer.weights = constants<std::byte>(record.attributes, 9 * sizeof(int32_t));
        layer.filter.byte_width = 4;
        break;
      case Operation::kSpaceToBatch:
      case Operation::kBatchToSpace:
        add_block(record, layer);
        break;
      case Operation::kMean:
        layer.filter = {static_cast<uint16_t>(in.h / record.output.h),
                        static_cast<uint16_t>(in.w / record.output.w), 1, 1, 1};
        layer.stride_y = static_cast<uint8_t>(std::min<int>(layer.filter.height, 255));
        layer.stride_x = static_cast<uint8_t>(std::min<int>(layer.filter.width, 255));
        break;
      default:
        layer.filter = {record.kernel_h, record.kernel_w, in.c, 1, 1};
    }
  }

  void add_block(const isa::LayerRecord& record, IrLayer& layer) {
    const auto numbers = constants<int32_t>(record.attributes, 6);
    layer.filter = {static_cast<uint16_t>(numbers[0]), static_cast<uint16_t>(numbers[1]), 0, 0, 0};
    layer.pad_top = static_cast<uint8_t>(numbers[2]);
    layer.pad_bottom = static_cast<uint8_t>(numbers[3]);
    layer.pad_left = static_cast<uint8_t>(numbers[4]);
    layer.pad_right = static_cast<uint8_t>(numbers[5]);
    set_scale(layer, finest(1.0, 0, 25));
  }

  void add_scales(const isa::LayerRecord& record, IrLayer& layer) {
    const uint64_t count = record.scale_shift_count;
    const bool leaky = record.activation == isa::Activation::kLeakyRelu;
    const bool add = record.operation == Operation::kAdd;
    layer.shifts = constants<int8_t>(record.shifts, count);
    layer.multipliers = constants<int32_t>(record.multipliers, add ? 2 : leaky ? 2 * count : count);
    // In the IR, convolutions have one multiplier per channel, even with one common shift.
    const bool convolution = record.operation == Operation::kConv2d ||
                             record.operation == Operation::kDepthwise ||
                             record.operation == Operation::kPointwise;
    if (convolution && count == 1) {
      const std::vector<int32_t> one = layer.multipliers;
      for (uint32_t c = 1; c < record.output.c; ++c) {
        layer.multipliers.insert(layer.multipliers.end(), one.begin(), one.end());
      }
    }
    const uint64_t outputs =
        record.operation == Operation::kFullyConnected ? layer.output.width : layer.output.channels;
    const bool weighted = record.operation <= Operation::kPointwise;
    layer.bias = constants<int32_t>(record.bias, weighted ? outputs : 1);
    // In the IR, every layer with weights has a bias.
    if (weighted && layer.bias.empty()) layer.bias.resize(outputs);
    layer.output_multiplier = record.dequant_multiplier;
    layer.output_shift = record.dequant_shift;
  }

  /// Sets the scales that the vendor's tools write for operations without scales in the container.
  static void add_fixed_scales(Operation operation, IrLayer& layer) {
    switch (operation) {
      case Operation::kSigmoid:
      case Operation::kSoftmax:
        return set_scale(layer, finest(256.0, -128, 31));
      case Operation::kTanh:
        return set_scale(layer, finest(128.0, 0, 31));
      case Operation::kReshape:
        return set_scale(layer, finest(1.0, 0, 28));
      case Operation::kMaxPool:
        layer.output_zero_point = 0;
        return set_scale(layer, {1, 0});
      case Operation::kConcat:
      case Operation::kStridedSlice:
      case Operation::kChannelPad:
      case Operation::kResizeNearest:
        return set_scale(layer, {1, 0});
      default:
        return;
    }
  }

  Status add_layer(uint32_t index) {
    const isa::LayerRecord record = container_.layer(index);
    IrLayer layer;
    layer.operation = static_cast<uint32_t>(record.operation);
    layer.output = dimensions_of(record.output);
    layer.concat_axis = static_cast<uint8_t>(record.axis);
    layer.stride_x = std::max<uint8_t>(record.stride_x, 1);
    layer.stride_y = std::max<uint8_t>(record.stride_y, 1);
    layer.dilation_x = std::max<uint8_t>(record.dilation_x, 1);
    layer.dilation_y = std::max<uint8_t>(record.dilation_y, 1);
    layer.pad_left = record.pad_left;
    layer.pad_right = record.pad_right;
    layer.pad_top = record.pad_top;
    layer.pad_bottom = record.pad_bottom;
    layer.input_zero_point = static_cast<int8_t>(record.inputs[0].zero_point);
    layer.output_zero_point = static_cast<int8_t>(record.output.zero_point);
    // The library's softmax preparation clamps products to 32 bits before it shifts them
    // (docs/nordic-axon.md, D10). Without it, the layer's results are correct.
    const bool prepares = record.activation == isa::Activation::kPrepareSoftmax;
    layer.activation = prepares ? 0 : static_cast<uint32_t>(record.activation);
    THIMBLE_CHECK(add_operands(record, index, layer));
    add_weights(record, layer);
    add_scales(record, layer);
    add_fixed_scales(record.operation, layer);
    add_constant_operand(record, layer);
    if (record.operation == Operation::kResizeNearest) layer.attributes = {0, 0};
    const IrDimensions wanted = layer.output;
    const bool behind = pads_only_behind(record);
    if (behind) layer.pad_top = 1, ++layer.output.channels;
    const IrDimensions made = layer.output;
    const int8_t zero_point = layer.output_zero_point;
    result_.file.layers.push_back(std::move(layer));
    if (behind) {
      const auto pad = static_cast<int16_t>(result_.file.layers.size() - 1);
      add_slice(pad, made, 1, wanted, zero_point);
    }
    return ok();
  }

  /// The output scale of a layer selects the variant of the extension after it. Any other scale
  /// than these selects one that is wrong for several channels (docs/nordic-axon.md, D3).
  void prepare_extensions() {
    constexpr LayerScale kTwelveFractionalBits{1U << 29, 17};
    constexpr LayerScale kForSoftmax{1U << 29, 29};
    for (const IrLayer& layer : result_.file.layers) {
      const auto operation = static_cast<Operation>(layer.operation);
      const bool softmax = operation == Operation::kSoftmax;
      if (!softmax && operation != Operation::kSigmoid && operation != Operation::kTanh) continue;
      if (layer.inputs[0] < 0) continue;
      IrLayer& before = result_.file.layers[static_cast<size_t>(layer.inputs[0])];
      const LayerScale scale = softmax ? kForSoftmax : kTwelveFractionalBits;
      before.output_multiplier = scale.multiplier;
      before.output_shift = scale.shift;
    }
  }

  Status describe_interface() {
    formats::axon::IrFile& file = result_.file;
    if (!external_) {
      return unsupported("{}: no network input; the vendor's compiler requires one", header_.name);
    }
    const isa::IoRecord input = container_.input(*external_);
    const LayerScale quantize = input.shift != 0 || input.multiplier != 0
                                    ? LayerScale{input.multiplier, input.shift}
                                    : finest(1.0 / input.scale, 0, 20);
    file.input = {quantize.multiplier, quantize.shift, static_cast<int8_t>(input.zero_point)};
    for (uint32_t i = 0; i < header_.output_count; ++i) {
      const isa::IoRecord output = container_.output(i);
      const LayerScale scale = output.shift != 0 || output.multiplier != 0
                                   ? LayerScale{output.multiplier, output.shift}
                                   : finest(output.scale, output.zero_point, 30);
      const bool variable = output.source == Source::kPersistent;
      int maker = variable ? output.index : index_.at(static_cast<uint32_t>(output.producer));
      // The vendor's compiler uses only layers without readers as outputs, so a copy is added.
      if (!variable && has_reader(maker)) {
        const IrLayer& made = result_.file.layers[static_cast<size_t>(maker)];
        maker = add_copy(static_cast<int16_t>(maker), made.output, made.output_zero_point);
      }
      result_.outputs.push_back(maker);
      IrLayer& layer = file.layers[static_cast<size_t>(maker)];
      if (layer.output_multiplier == 0) {
        layer.output_multiplier = scale.multiplier;
        layer.output_shift = scale.shift;
      }
      if (!variable) {
        file.output = {scale.multiplier, scale.shift, static_cast<int8_t>(output.zero_point)};
      }
    }
    file.interlayer_limit_bytes = isa::kBytesMax;
    file.psum_limit_bytes = isa::kBytesMax;
    return ok();
  }

  const isa::Container container_;
  const isa::Header header_;
  std::map<uint32_t, int> index_;  // maps layers of the container to layers of the IR; -1: none
  std::optional<uint16_t> external_;
  int copy_ = -1;  // index of the layer that copies the network's input; -1: none
  IrOfLayers result_;
};

}  // namespace

Result<IrOfLayers> layers_to_ir(const thimble::axon::Container& container,
                                const std::string& name) {
  return Converter(container, name).convert();
}

}  // namespace thimble::engine::axon
