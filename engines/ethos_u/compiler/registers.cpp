// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/registers.h"

#include <algorithm>

namespace thimble::engine::ethos_u {
namespace {

using namespace thimble::ethos_u;  // NOLINT: names of registers and their values

uint32_t precision_of(int bits) {
  return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

/// Composes the parameter of a register from its fields, by name.
class Fields {
 public:
  Fields(const char* command, Generation generation) : command_(command), generation_(generation) {}
  Fields& put(const char* name, uint32_t value) {
    bits_ |= find_field(command_, name, generation_).put(value);
    return *this;
  }
  [[nodiscard]] uint32_t bits() const { return bits_; }

 private:
  const char* command_;
  Generation generation_;
  uint32_t bits_ = 0;
};

struct OperandRegisters {
  Reg0 region, zero_point, width0, height0, height1;
  Reg1 base0, base1, base2, base3, stride_x, stride_y, stride_c;
};
constexpr OperandRegisters kIfm = {Reg0::IFM_REGION,     Reg0::IFM_ZERO_POINT, Reg0::IFM_WIDTH0_M1,
                                   Reg0::IFM_HEIGHT0_M1, Reg0::IFM_HEIGHT1_M1, Reg1::IFM_BASE0,
                                   Reg1::IFM_BASE1,      Reg1::IFM_BASE2,      Reg1::IFM_BASE3,
                                   Reg1::IFM_STRIDE_X,   Reg1::IFM_STRIDE_Y,   Reg1::IFM_STRIDE_C};
constexpr OperandRegisters kIfm2 = {
    Reg0::IFM2_REGION,     Reg0::IFM2_ZERO_POINT, Reg0::IFM2_WIDTH0_M1, Reg0::IFM2_HEIGHT0_M1,
    Reg0::IFM2_HEIGHT1_M1, Reg1::IFM2_BASE0,      Reg1::IFM2_BASE1,     Reg1::IFM2_BASE2,
    Reg1::IFM2_BASE3,      Reg1::IFM2_STRIDE_X,   Reg1::IFM2_STRIDE_Y,  Reg1::IFM2_STRIDE_C};
constexpr OperandRegisters kOfm = {Reg0::OFM_REGION,     Reg0::OFM_ZERO_POINT, Reg0::OFM_WIDTH0_M1,
                                   Reg0::OFM_HEIGHT0_M1, Reg0::OFM_HEIGHT1_M1, Reg1::OFM_BASE0,
                                   Reg1::OFM_BASE1,      Reg1::OFM_BASE2,      Reg1::OFM_BASE3,
                                   Reg1::OFM_STRIDE_X,   Reg1::OFM_STRIDE_Y,   Reg1::OFM_STRIDE_C};

void write_map(const OperandRegisters& at, const FeatureMap& map, CommandStream* stream) {
  stream->set(at.region, map.region);
  stream->set_address(at.base0, map.base[0]);
  stream->set_address(at.base1, map.base[1]);
  stream->set_address(at.base2, map.base[2]);
  stream->set_address(at.base3, map.base[3]);
  stream->set(at.height0, map.height0 - 1);
  stream->set(at.height1, map.height0 - 1);
  stream->set(at.width0, map.width - 1);
  stream->set_address(at.stride_y, map.stride_y);
  stream->set_address(at.stride_x, map.stride_x);
  stream->set_address(at.stride_c, map.stride_c);
}

class Writer {
 public:
  Writer(const Kernel& kernel, CommandStream* stream)
      : k_(kernel),
        op_(*kernel.op),
        config_(*kernel.program->config),
        u85_(config_.generation == Generation::kU85),
        stream_(*stream) {}

  Status write() {
    swapped_ = u85_ && op_.ifm2_first && op_.kind == NpuOpKind::kElementwise;
    inputs();
    if (op_.kind != NpuOpKind::kElementwise) padding();
    THIMBLE_CHECK(output());
    if (op_.kind == NpuOpKind::kResize) THIMBLE_CHECK(resize());
    if (has_kernel()) kernel();
    weights();
    THIMBLE_CHECK(activation());
    THIMBLE_CHECK(scales());
    block();
    return ok();
  }

 private:
  [[nodiscard]] bool has_kernel() const {
    return op_.kind == NpuOpKind::kConv || op_.kind == NpuOpKind::kDepthwise ||
           op_.kind == NpuOpKind::kPool;
  }
  [[nodiscard]] bool through_accumulator() const {
    return op_.kind == NpuOpKind::kPool && op_.pool == PoolMode::kNone;
  }
  [[nodiscard]] Fields fields(const char* command) const { return {command, config_.generation}; }

  /// Returns which operand of ADD and SUB has a scale, U55 and U65.
  [[nodiscard]] ScaleMode556 scale_mode() const {
    if (!op_.input_scaled || (op_.ifm_scale.shift == 0 && op_.ifm2_scale.shift == 0)) {
      return ScaleMode556::kOpaOpb16;
    }
    // IFM is operand A unless ifm2_first is set.
    return (op_.ifm_scale.shift != 0) != op_.ifm2_first ? ScaleMode556::kOpa32
                                                        : ScaleMode556::kOpb32;
  }

  void input(bool second, const Operand* operand, const FeatureMap* map) {
    const OperandRegisters& at = second ? kIfm2 : kIfm;
    const Element element = operand != nullptr ? operand->element : op_.ifm.element;
    int bits = element.bits;
    if (!second && through_accumulator()) bits = 8;
    Fields precision = fields(second ? "IFM2_PRECISION" : "IFM_PRECISION");
    precision.put("signed", element.is_signed ? 1 : 0).put("precision", precision_of(bits));
    if (operand != nullptr) {
      precision.put("format", static_cast<uint32_t>(map->format));
      write_map(at, *map, &stream_);
      stream_.set(at.zero_point, operand->zero_point);
    } else {
      if (u85_) {
        precision.put("storage", static_cast<uint32_t>(Storage::kNone));
        stream_.set(Reg1::OP_SCALAR, *op_.scalar);
      } else {
        stream_.set(Reg0::IFM2_SCALAR, *op_.scalar);
      }
      stream_.set(at.zero_point, 0);
    }
    if (!second && !u85_) {
      precision.put("scale_mode", static_cast<uint32_t>(scale_mode()));
      precision.put("round", static_cast<uint32_t>(Round556::kDouble));
    }
    stream_.set(second ? Reg0::IFM2_PRECISION : Reg0::IFM_PRECISION, precision.bits());
  }

  void inputs() {
    const Operand* first = &op_.ifm;
    const Operand* second = op_.ifm2 ? &*op_.ifm2 : nullptr;
    const FeatureMap* first_map = &k_.ifm;
    const FeatureMap* second_map = &k_.ifm2;
    const bool two = k_.has_ifm2 || op_.scalar;
    if (swapped_) {
      std::swap(first, second);
      std::swap(first_map, second_map);
    }
    input(false, first, first_map);
    const FeatureMap* deep = first != nullptr ? first_map : second_map;
    stream_.set(Reg0::IFM_DEPTH_M1, deep->depth - 1);
    stream_.set(Reg0::IFM_UPSCALE, static_cast<int64_t>(op_.upscale));
    if (through_accumulator()) {
      input(true, &op_.ifm, &k_.ifm);
    } else if (two) {
      input(true, second, second_map);
    }
    if (op_.kind != NpuOpKind::kElementwise) return;
    if (u85_) {
      stream_.set(Reg0::IFM_BROADCAST, broadcast_mode(first));
      stream_.set(Reg0::IFM2_BROADCAST, two ? broadcast_mode(second) : 0);
    } else if (two) {
      stream_.set(Reg0::IFM2_BROADCAST, broadcast_bits());
    }
  }

  [[nodiscard]] int64_t broadcast_mode(const Operand* operand) const {
    if (operand == nullptr) return 8;
    const Shape4& from = operand->shape;
    const Shape4& to = op_.ofm.shape;
    return (from.h < to.h ? 1 : 0) | (from.w < to.w ? 2 : 0) | (from.c < to.c ? 4 : 0);
  }
  [[nodiscard]] int64_t broadcast_bits() const {
    Fields bits = fields("IFM2_BROADCAST");
    bits.put("operand_order", op_.ifm2_first ? 1 : 0);
    if (op_.scalar) return bits.put("constant", 1).bits();
    const Shape4& from = op_.ifm2->shape;
    const Shape4& to = op_.ifm.shape;
    return bits.put("h", from.h < to.h ? 1 : 0)
        .put("w", from.w < to.w ? 1 : 0)
        .put("c", from.c < to.c ? 1 : 0)
        .bits();
  }

  void padding() {
    const bool window = has_kernel();
    stream_.set(Reg0::IFM_PAD_TOP, k_.input.pad_top);
    stream_.set(Reg0::IFM_PAD_LEFT, window ? op_.window.pad_left : 0);
    stream_.set(Reg0::IFM_PAD_BOTTOM, k_.input.pad_bottom);
    stream_.set(Reg0::IFM_PAD_RIGHT, window ? pad_right(op_) : 0);
  }

  /// Returns true if a window of the kernel contains padding. A kernel of some rows of an operation
  /// with padding may have none.
  [[nodiscard]] bool is_padded() const {
    return k_.input.pad_top + k_.input.pad_bottom + op_.window.pad_left + pad_right(op_) > 0;
  }
  [[nodiscard]] const Requantize& requantize() const {
    return op_.unpadded_requantize && !is_padded() ? *op_.unpadded_requantize : op_.requantize;
  }

  /// Returns true if one OFM_SCALE applies to all channels. On the U85 this is the only choice
  /// without scale records.
  [[nodiscard]] bool global_scale() const {
    if (op_.weights) return false;
    return requantize().global || (u85_ && !is_counted_average());
  }
  [[nodiscard]] bool is_counted_average() const {
    return op_.kind == NpuOpKind::kPool && op_.pool == PoolMode::kAverage && !op_.requantize.global;
  }

  /// Returns the OFM in the axes of its memory.
  [[nodiscard]] FeatureMap stored_output() const {
    FeatureMap map = k_.ofm;
    if (op_.transpose == Transpose::kHwc) return map;
    struct Axis {
      int64_t size, stride;
    };
    const FeatureMap& of = k_.ofm;
    const Axis h = {of.height, of.stride_y}, w = {of.width, of.stride_x};
    const Axis c = {of.depth, of.stride_c};
    Axis rows = h, columns = w, inner = c;
    switch (op_.transpose) {
      case Transpose::kHwc:
        break;
      case Transpose::kWhc:
        rows = w, columns = h;
        break;
      case Transpose::kHcw:
        columns = c, inner = w;
        break;
      case Transpose::kWch:
        rows = w, columns = c, inner = h;
        break;
      case Transpose::kChw:
        rows = c, columns = h, inner = w;
        break;
      case Transpose::kCwh:
        rows = c, inner = h;
        break;
    }
    map.height = map.height0 = rows.size;
    map.width = columns.size;
    map.stride_y = rows.stride, map.stride_x = columns.stride, map.stride_c = inner.stride;
    return map;
  }

  Status output() {
    write_map(kOfm, stored_output(), &stream_);
    stream_.set(Reg0::OFM_ZERO_POINT, op_.ofm.zero_point);
    stream_.set(Reg0::OFM_HEIGHT_M1, k_.rows.size() - 1);
    stream_.set(Reg0::OFM_WIDTH_M1, op_.ofm.shape.w - 1);
    stream_.set(Reg0::OFM_DEPTH_M1, k_.channels.size() - 1);
    Fields precision = fields("OFM_PRECISION");
    precision.put("signed", op_.ofm.element.is_signed ? 1 : 0)
        .put("precision", precision_of(op_.ofm.element.bits))
        .put("format", static_cast<uint32_t>(k_.ofm.format))
        .put("scale_mode", global_scale() ? 1 : 0);
    if (u85_) {
      precision.put("reverse", op_.negate_axis_h ? 1 : op_.negate_axis_w ? 2 : 0);
      precision.put("transpose", static_cast<uint32_t>(op_.transpose));
      precision.put("storage", static_cast<uint32_t>(Storage::kTile2x2));
    } else {
      THIMBLE_TRY(const uint32_t round, round_556());
      precision.put("round", round);
    }
    stream_.set(Reg0::OFM_PRECISION, precision.bits());
    return ok();
  }

  Result<uint32_t> round_556() const {
    switch (requantize().rounding) {
      case Requantize::Rounding::kDouble:
        return static_cast<uint32_t>(Round556::kDouble);
      case Requantize::Rounding::kNatural:
        return static_cast<uint32_t>(Round556::kNatural);
      case Requantize::Rounding::kTruncate:
        return static_cast<uint32_t>(Round556::kTruncate);
      case Requantize::Rounding::kSymmetric:
        break;
    }
    return unsupported("{} does not round symmetrically", config_.name);
  }
  [[nodiscard]] uint32_t round_85() const {
    switch (requantize().rounding) {
      case Requantize::Rounding::kDouble:
        break;
      case Requantize::Rounding::kNatural:
        return static_cast<uint32_t>(Round85::kNatural);
      case Requantize::Rounding::kSymmetric:
        return static_cast<uint32_t>(Round85::kSymmetric);
      case Requantize::Rounding::kTruncate:
        return static_cast<uint32_t>(Round85::kTruncateToZero);
    }
    return static_cast<uint32_t>(Round85::kDoubleSymmetric);
  }

  Status resize() {
    if (!op_.resize_steps) return bad_input("a resize without steps");
    const NpuOp::ResizeSteps& steps = *op_.resize_steps;
    const auto axis = [&](Reg0 scale, Reg0 offset, Reg1 step, const char* name, int64_t n,
                          int64_t d, int64_t start, int64_t block) {
      stream_.set(scale, n - 1);
      stream_.set(offset, start & 0xFFF);
      const int64_t far = (block - 1) * d;
      Fields parameter = fields(name);
      parameter.put("one_step", static_cast<uint32_t>(d / n))
          .put("block_step", static_cast<uint32_t>(far / n));
      stream_.set(step, d % n | far % n << 16, parameter.bits());
    };
    axis(Reg0::RESIZE_X_SCALE_N_M1, Reg0::RESIZE_X_OFFSET, Reg1::RESIZE_X, "RESIZE_X", steps.n_w,
         steps.d_w, steps.offset_w, k_.plan->block.w);
    axis(Reg0::RESIZE_Y_SCALE_N_M1, Reg0::RESIZE_Y_OFFSET, Reg1::RESIZE_Y, "RESIZE_Y", steps.n_h,
         steps.d_h, steps.offset_h, k_.plan->block.h);
    const int64_t read = ((op_.ofm.shape.w - 1) * steps.d_w + steps.offset_w) / steps.n_w + 2;
    stream_.set(Reg0::KERNEL_HEIGHT_M1, op_.ifm.shape.h - 1);
    stream_.set(Reg0::KERNEL_WIDTH_M1, std::min(op_.ifm.shape.w, read) - 1);
    stream_.set(Reg0::IFM2_ZERO_POINT, 0);
    return ok();
  }

  void kernel() {
    const Window& window = op_.window;
    stream_.set(Reg0::KERNEL_HEIGHT_M1, (window.kernel_h - 1) * window.dilation_h);
    stream_.set(Reg0::KERNEL_WIDTH_M1, (window.kernel_w - 1) * window.dilation_w);
    const auto x = static_cast<uint32_t>(window.stride_w - 1);
    const auto y = static_cast<uint32_t>(window.stride_h - 1);
    Fields stride = fields("KERNEL_STRIDE");
    stride.put("stride_x_lsb", x & 1).put("stride_x_msb", x >> 1);
    stride.put("stride_y_lsb", y & 1).put("stride_y_msb", y >> 1);
    stride.put("dilation_x", static_cast<uint32_t>(window.dilation_w - 1));
    stride.put("dilation_y", static_cast<uint32_t>(window.dilation_h - 1));
    stride.put("weight_order", k_.plan->block.part_kernel_first ? 1 : 0);
    stream_.set(Reg0::KERNEL_STRIDE, stride.bits());
  }

  void weights() {
    if (op_.kind != NpuOpKind::kConv && op_.kind != NpuOpKind::kDepthwise) return;
    const WeightPlan& plan = k_.plan->weights;
    if (u85_) {
      Fields format = fields("WEIGHT_FORMAT");
      format.put("fast", plan.fast ? 1 : 0).put("sparse", plan.sparse ? 1 : 0);
      stream_.set(Reg0::WEIGHT_FORMAT, format.bits());
    }
    if (plan.slices.empty()) return;
    const SlicePlan& slice = plan.slices[static_cast<size_t>(k_.slice)];
    const SlicePlace place = slice_place(plan, k_.slice);
    constexpr std::array<std::pair<Reg1, Reg1>, 4> kWeights = {
        std::pair{Reg1::WEIGHT_BASE, Reg1::WEIGHT_LENGTH},
        std::pair{Reg1::WEIGHT1_BASE, Reg1::WEIGHT1_LENGTH},
        std::pair{Reg1::WEIGHT2_BASE, Reg1::WEIGHT2_LENGTH},
        std::pair{Reg1::WEIGHT3_BASE, Reg1::WEIGHT3_LENGTH}};
    constexpr std::array<std::pair<Reg1, Reg1>, 2> kScales = {
        std::pair{Reg1::SCALE_BASE, Reg1::SCALE_LENGTH},
        std::pair{Reg1::SCALE1_BASE, Reg1::SCALE1_LENGTH}};
    stream_.set(Reg0::WEIGHT_REGION, place.region);
    stream_.set(Reg0::SCALE_REGION, place.region);
    const auto write = [&](const auto& registers, const auto& pieces, size_t count) {
      for (size_t i = 0; i < std::min(count, registers.size()); ++i) {
        const auto& [base, length] = registers[i];
        if (pieces[i].bytes > 0) stream_.set_address(base, place.address + pieces[i].offset);
        stream_.set(length, pieces[i].bytes);
      }
    };
    write(kWeights, slice.weights, config_.cores);
    write(kScales, slice.scales, u85_ ? 1 : config_.cores);
  }

  /// Returns the element type of the value before the LUT.
  [[nodiscard]] Element clipped_element() const {
    switch (op_.table.kind) {
      case Table::Kind::k8To8:
      case Table::Kind::k8To16:
      case Table::Kind::k8To32:
        return {8, op_.ifm.element.is_signed};
      case Table::Kind::k16:
      case Table::Kind::kTanh:
      case Table::Kind::kSigmoid:
        return {16, true};
      case Table::Kind::kNone:
        break;
    }
    return op_.ofm.element;
  }

  Result<uint32_t> function_85() const {
    const bool sign = op_.ifm.element.is_signed;
    switch (op_.table.kind) {
      case Table::Kind::kNone:
        return static_cast<uint32_t>(Activation85::kNone);
      case Table::Kind::k8To8:
        return static_cast<uint32_t>(sign ? Activation85::kI8ToI8 : Activation85::kU8ToU8);
      case Table::Kind::k8To16:
        return static_cast<uint32_t>(Activation85::kI8ToI16);
      case Table::Kind::k8To32:
        return static_cast<uint32_t>(Activation85::kI8ToI32);
      case Table::Kind::k16:
        return static_cast<uint32_t>(op_.ofm.element.bits == 32 ? Activation85::kI16ToI32
                                                                : Activation85::kI16ToI16);
      case Table::Kind::kTanh:
        return static_cast<uint32_t>(Activation85::kTanh);
      case Table::Kind::kSigmoid:
        return static_cast<uint32_t>(Activation85::kSigmoid);
    }
    return unsupported("a LUT that the hardware does not support");
  }

  Status activation() {
    const Element element = clipped_element();
    const int bits = std::min<int>(16, element.bits);
    const int32_t low = element.is_signed ? -(1 << (bits - 1)) : 0;
    const int32_t high = element.is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    stream_.set(Reg0::ACTIVATION_MIN, std::clamp(op_.minimum, low, high));
    stream_.set(Reg0::ACTIVATION_MAX, std::clamp(op_.maximum, low, high));
    Fields activation = fields("ACTIVATION");
    if (u85_) {
      THIMBLE_TRY(const uint32_t function, function_85());
      activation.put("function", function).put("clip", element.bits > 16 ? 1 : 0);
      if (!op_.table.content.empty()) {
        activation.put("table",
                       static_cast<uint32_t>(k_.table_slot * 256 / table_bytes(op_.table)));
      }
    } else {
      uint32_t function = static_cast<uint32_t>(Activation556::kNone);
      if (!op_.table.content.empty()) {
        function =
            static_cast<uint32_t>(Activation556::kTable0) + static_cast<uint32_t>(k_.table_slot);
      } else if (op_.table.kind == Table::Kind::kTanh) {
        function = static_cast<uint32_t>(Activation556::kTanh);
      } else if (op_.table.kind == Table::Kind::kSigmoid) {
        function = static_cast<uint32_t>(Activation556::kSigmoid);
      }
      Clip556 clip = Clip556::kOfm;
      if (element.bits < op_.ofm.element.bits) {
        clip = element.bits == 16 ? Clip556::kI16 : element.is_signed ? Clip556::kI8 : Clip556::kU8;
      }
      activation.put("function", function).put("clip", static_cast<uint32_t>(clip));
    }
    stream_.set(Reg0::ACTIVATION, activation.bits());
    return ok();
  }

  [[nodiscard]] std::pair<uint32_t, uint32_t> global_pair() const {
    const Requantize& scale = requantize();
    if (op_.weights || scale.multiplier.empty()) return {1, 0};
    return {static_cast<uint32_t>(scale.multiplier[0]), static_cast<uint32_t>(scale.shift[0])};
  }

  Status scales() {
    const auto [multiplier, shift] = global_pair();
    const bool pool_or_elementwise = !op_.weights;
    if (u85_) {
      Fields ofm = fields("OFM_SCALE");
      ofm.put("shift", shift).put("round", round_85());
      stream_.set(Reg1::OFM_SCALE, multiplier, ofm.bits());
    } else if (pool_or_elementwise) {
      stream_.set(Reg1::OFM_SCALE, multiplier, fields("OFM_SCALE").put("shift", shift).bits());
    }
    if (op_.kind != NpuOpKind::kElementwise) return ok();
    return u85_ ? input_scales_85() : input_scales_556();
  }

  Status input_scales_85() {
    const auto write = [&](Reg1 reg, const char* name, const InputScale& scale) {
      Fields bits = fields(name);
      bits.put("shift", scale.shift).put("double_round", scale.double_round);
      bits.put("round", scale.natural ? 1 : 0);
      stream_.set(reg, scale.multiplier, bits.bits());
    };
    const InputScale unit{};
    const InputScale& first = op_.input_scaled ? op_.ifm_scale : unit;
    const InputScale& second = op_.input_scaled ? op_.ifm2_scale : unit;
    write(Reg1::IFM_SCALE, "IFM_SCALE", swapped_ ? second : first);
    write(Reg1::IFM2_SCALE, "IFM2_SCALE", swapped_ ? first : second);
    return ok();
  }

  Status input_scales_556() {
    if (op_.elementwise != ElementwiseMode::kAdd && op_.elementwise != ElementwiseMode::kSub) {
      return ok();
    }
    InputScale a{}, b{};
    if (op_.input_scaled) {
      a = op_.ifm2_first ? op_.ifm2_scale : op_.ifm_scale;
      b = op_.ifm2_first ? op_.ifm_scale : op_.ifm2_scale;
    }
    const ScaleMode556 mode = scale_mode();
    if (a.shift != 0 && b.shift != 0) {
      return bad_input("{} scales only one operand of an addition, but both have a scale",
                       config_.name);
    }
    const InputScale& general = mode == ScaleMode556::kOpb32 ? b : a;
    stream_.set(Reg1::OPA_SCALE, general.multiplier,
                fields("OPA_SCALE").put("shift", general.shift).bits());
    stream_.set(Reg1::OPB_SCALE, mode == ScaleMode556::kOpaOpb16 ? b.multiplier & 0xFFFF : 0);
    return ok();
  }

  void block() {
    const Block& block = k_.plan->block;
    stream_.set(Reg0::OFM_BLK_HEIGHT_M1, block.h - 1);
    stream_.set(Reg0::OFM_BLK_WIDTH_M1, block.w - 1);
    stream_.set(Reg0::OFM_BLK_DEPTH_M1, block.d - 1);
    Fields accumulator = fields("ACC_FORMAT");
    accumulator.put("format", op_.wide_accumulator ? 1 : 0);
    if (u85_) {
      accumulator.put("input",
                      static_cast<uint32_t>(through_accumulator() ? AccumulatorInput::kIfm2
                                                                  : AccumulatorInput::kReset));
      accumulator.put("microblock", static_cast<uint32_t>(microblock()));
    } else {
      stream_.set(Reg0::IFM_IB_END, block.ib_end);
      stream_.set(Reg0::AB_START, block.ab_start);
      if (k_.has_ifm2 || op_.scalar) stream_.set(Reg0::IFM2_IB_START, block.ib2_start);
    }
    stream_.set(Reg0::ACC_FORMAT, accumulator.bits());
  }
  [[nodiscard]] Microblock microblock() const {
    const Microblocks& unit = k_.plan->block.microblock;
    if (unit.height == 1) {
      return unit.width == 1   ? Microblock::k1x1
             : unit.width == 2 ? Microblock::k1x2
                               : Microblock::k1x4;
    }
    if (unit.height == 4) return Microblock::k4x4;
    return unit.width == 2 ? Microblock::k2x2 : Microblock::k2x4;
  }

  const Kernel& k_;
  const NpuOp& op_;
  const Config& config_;
  bool u85_;
  bool swapped_ = false;
  CommandStream& stream_;
};

}  // namespace

Status write_registers(const Kernel& kernel, CommandStream* stream) {
  return Writer(kernel, stream).write();
}

void write_operation(const Kernel& kernel, CommandStream* stream) {
  const NpuOp& op = *kernel.op;
  switch (op.kind) {
    case NpuOpKind::kConv:
      return stream->run(Operation::CONV, op.weights ? 0 : 1);
    case NpuOpKind::kDepthwise:
      return stream->run(Operation::DEPTHWISE);
    case NpuOpKind::kPool:
      return stream->run(Operation::POOL, static_cast<uint32_t>(op.pool));
    case NpuOpKind::kElementwise:
      return stream->run(Operation::ELEMENTWISE, static_cast<uint32_t>(op.elementwise));
    case NpuOpKind::kResize:
      return stream->run(Operation::RESIZE, static_cast<uint32_t>(op.resize));
    case NpuOpKind::kDma:
      break;
  }
}

}  // namespace thimble::engine::ethos_u
