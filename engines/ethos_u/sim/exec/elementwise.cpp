// SPDX-License-Identifier: Apache-2.0
// ELEMENTWISE: one or two operands, broadcast or scalar. Each has its own zero point and, for
// operations such as ADD, its own scale.

#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {
namespace {

using Mode = ElementwiseMode;

/// Reads rows of one operand with the zero point subtracted.
class Operand {
 public:
  Operand(const FeatureMap& map, uint8_t broadcast, bool is_scalar, int32_t scalar, Memory& memory)
      : reader_(map, memory), broadcast_(broadcast), is_scalar_(is_scalar), scalar_(scalar) {}

  bool row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* out) {
    const int64_t zero = reader_.map().zero_point;
    if (is_scalar_) {
      for (uint32_t i = 0; i < n; ++i) out[i] = scalar_ - zero;
      return true;
    }
    const uint32_t from_y = (broadcast_ & 1) != 0 ? 0 : y;
    const uint32_t from_x = (broadcast_ & 2) != 0 ? 0 : x;
    const bool one = (broadcast_ & 4) != 0;
    int32_t values[kRow];
    if (!reader_.row(from_y, from_x, one ? 0 : c, one ? 1 : n, values)) return false;
    for (uint32_t i = 0; i < n; ++i) out[i] = values[one ? 0 : i] - zero;
    return true;
  }

 private:
  Reader reader_;
  uint8_t broadcast_;
  bool is_scalar_;
  int64_t scalar_;
};

uint32_t leading_zeros(int64_t value) {
  auto word = static_cast<uint32_t>(value);
  uint32_t count = 0;
  for (; count < 32 && (word & 0x80000000U) == 0; ++count) word <<= 1;
  return count;
}

uint32_t distance(int64_t value) {
  return static_cast<uint32_t>(value < 0 ? 0 : value > 63 ? 63 : value);
}

int64_t shift_right(int64_t a, int64_t b, Rounding rounding) {
  const uint32_t by = distance(b);
  if (by > 62) return a < 0 ? -1 : 0;
  return (a + rounding_term(a < 0, by, rounding, 0)) >> by;
}

int64_t low_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

bool scales_inputs(Mode mode) {
  return mode == Mode::kAdd || mode == Mode::kSub || mode == Mode::kMin || mode == Mode::kMax ||
         mode == Mode::kAbs || (mode >= Mode::kCmpEq && mode <= Mode::kCmpGt);
}

class Elementwise {
 public:
  explicit Elementwise(const Context& context)
      : operation_(context.operation),
        memory_(context.memory),
        mode_(static_cast<Mode>(operation_.mode)),
        u85_(context.config.generation == Generation::kU85),
        output_(context.config, operation_, memory_),
        first_(operation_.ifm, operation_.broadcast, operation_.broadcast == 8, operation_.scalar,
               memory_),
        second_(operation_.ifm2, operation_.broadcast2, operation_.ifm2_scalar, operation_.scalar,
                memory_),
        input_rounding_(u85_ ? Rounding::kDouble : rounding556(operation_.ifm_scale.round)) {}

  Fault run() {
    if (!output_.ready()) return memory_.fault();
    const FeatureMap& ofm = operation_.ofm;
    for (uint32_t y = 0; y < ofm.height; ++y) {
      for (uint32_t x = 0; x < ofm.width; ++x) {
        for (uint32_t c = 0; c < ofm.depth; c += kRow) {
          if (!row(y, x, c, ofm.depth - c < kRow ? ofm.depth - c : kRow)) return memory_.fault();
        }
      }
    }
    return {};
  }

 private:
  bool row(uint32_t y, uint32_t x, uint32_t c, uint32_t n) {
    int64_t a[kRow], b[kRow] = {}, result[kRow];
    if (!first_.row(y, x, c, n, a)) return false;
    if (operation_.has_ifm2 && !second_.row(y, x, c, n, b)) return false;
    if (u85_) {
      for (uint32_t i = 0; i < n; ++i) result[i] = compute85(a[i], b[i]);
    } else {
      for (uint32_t i = 0; i < n; ++i) {
        result[i] = operation_.ifm2_first ? compute556(b[i], a[i]) : compute556(a[i], b[i]);
      }
    }
    // The hardware has one multiplier. With 32-bit operands it computes the product, so only the
    // shift of OFM_SCALE is applied.
    if (mode_ == Mode::kMul && operation_.ifm.bits == 32) {
      const Scale& scale = operation_.ofm_scale;
      for (uint32_t i = 0; operation_.global_scale && i < n; ++i) {
        result[i] = scale_by(result[i], 1, scale.shift, output_.rounding(), scale.double_round);
      }
      return output_.row(y, x, c, n, result);
    }
    const bool scaled =
        operation_.global_scale && !(mode_ == Mode::kLrelu && !u85_) && mode_ != Mode::kShr;
    return scaled ? output_.global_row(y, x, c, n, result) : output_.row(y, x, c, n, result);
  }

  int64_t compute85(int64_t a, int64_t b) const {
    const auto rounding = [](const Scale& scale) {
      return scale.round != 0 ? Rounding::kNatural : Rounding::kDouble;
    };
    const Scale& first = operation_.ifm_scale;
    const Scale& second = operation_.ifm2_scale;
    if (mode_ == Mode::kLrelu) {
      const Scale& scale = a < 0 ? second : first;
      return scale_by(a, scale, rounding(scale));
    }
    if (scales_inputs(mode_)) {
      a = scale_by(a, first, rounding(first));
      b = scale_by(b, second, rounding(second));
    }
    return combine(a, b);
  }

  /// Computes the result of U55 and U65. A and B are operands as the registers name them.
  int64_t compute556(int64_t a, int64_t b) const {
    if (mode_ == Mode::kLrelu) {
      return a < 0 ? scale_by(a, operation_.ofm_scale, output_.rounding()) : a;
    }
    if (mode_ != Mode::kAdd && mode_ != Mode::kSub) return combine(a, b);
    const uint32_t k = operation_.ifm.bits == 8 ? 20 : 15;
    const Scale& scale = operation_.ifm_scale;
    switch (static_cast<ScaleMode556>(operation_.ifm_scale_mode)) {
      case ScaleMode556::kOpaOpb16:
        a = scale_by(a, scale.multiplier, scale.shift, input_rounding_, 0);
        b *= operation_.ifm2_scale.multiplier;
        break;
      case ScaleMode556::kOpa32:
        a = scale_by(a, scale.multiplier, scale.shift, input_rounding_, k);
        b *= int64_t{1} << (k - 1);
        break;
      case ScaleMode556::kOpb32:
        b = scale_by(b, scale.multiplier, scale.shift, input_rounding_, k);
        a *= int64_t{1} << (k - 1);
        break;
    }
    return combine(a, b);
  }

  int64_t combine(int64_t a, int64_t b) const {
    switch (mode_) {
      case Mode::kMul:
        return low_product(a, b);
      case Mode::kAdd:
        return a + b;
      case Mode::kSub:
        return a - b;
      case Mode::kMin:
        return a < b ? a : b;
      case Mode::kMax:
        return a > b ? a : b;
      case Mode::kLrelu:
        return a;
      case Mode::kAbs:
        return a < 0 ? -a : a;
      case Mode::kClz:
        return leading_zeros(a);
      case Mode::kShr:
        return shift_right(a, b, output_.rounding());
      case Mode::kShl:
        return wrap(low_product(a, int64_t{1} << (distance(b) & 31)), 32);
      case Mode::kLsr: {
        const uint64_t mask = (uint64_t{1} << operation_.ifm.bits) - 1;
        return static_cast<int64_t>((static_cast<uint64_t>(a) & mask) >> distance(b));
      }
      case Mode::kDiv:
        return b == 0 ? 0 : a / b;
      case Mode::kCmpEq:
        return a == b ? -1 : 0;  // comparisons return a mask
      case Mode::kCmpNe:
        return a != b ? -1 : 0;
      case Mode::kCmpGe:
        return a >= b ? -1 : 0;
      case Mode::kCmpGt:
        return a > b ? -1 : 0;
      case Mode::kAnd:
        return a & b;
      case Mode::kOr:
        return a | b;
      case Mode::kXor:
        return a ^ b;
      case Mode::kNot:
        return ~a;
      case Mode::kAndNot:
        return a & ~b;
    }
    return 0;
  }

  const KernelOperation& operation_;
  Memory& memory_;
  Mode mode_;
  bool u85_;
  Output output_;
  Operand first_, second_;
  Rounding input_rounding_;
};

}  // namespace

Fault execute_elementwise(const Context& context) {
  return Elementwise(context).run();
}

}  // namespace thimble::ethos_u::sim
