// SPDX-License-Identifier: Apache-2.0
// Checks a kernel. Views must be inside their memories and have the kernel's shapes, windows must
// have sizes, strides and dilations above 0 and bounded padding, and constants must exist. No
// result may overwrite data that is still read. Prefetched weights must be inside their memories.

#include "engines/neutron/container/check_kernel.h"

#include "engines/neutron/container/view.h"
#include "engines/neutron/container/window.h"

namespace thimble::neutron {
namespace {

constexpr int32_t kZeroPointMax = 1919;      // (q - zero point) * 2^20 must fit 32 bits
constexpr int32_t kMulZeroPointMax = 32767;  // (a - zero point) * (b - zero point) must fit too
constexpr int64_t kPadBehindMax = 65535;

struct KernelCheck {
  const Program& program;
  const Header& header;
  const uint8_t* weights;
  KernelRecord record;
  bool is_partly_prefetched = false;  // a range of constants is only partly prefetched

  [[nodiscard]] const View& a() const { return record.operands[0]; }
  [[nodiscard]] const View& b() const { return record.operands[1]; }
  [[nodiscard]] const View& y() const { return record.output; }

  /// Records that the kernel reads [first, end) of the weights block.
  void record_read(int64_t first, int64_t end) {
    const int64_t from = record.prefetch_from;
    const int64_t to = from + record.prefetch_bytes;
    const bool inside = first >= from && end <= to;
    const bool outside = end <= from || first >= to;
    is_partly_prefetched = is_partly_prefetched || !(inside || outside);
  }
  /// Returns true if the weights block has `bytes` at `offset`, a multiple of `alignment`. Records
  /// the read.
  bool check_constants(uint32_t offset, uint64_t bytes, uint32_t alignment) {
    const uint32_t room = header.weight_bytes;
    if (offset % alignment != 0 || offset > room || bytes > room - offset) return false;
    record_read(offset, offset + static_cast<int64_t>(bytes));
    return true;
  }
  [[nodiscard]] int32_t constant(uint32_t offset, uint32_t index) const {
    int32_t value;
    memcpy(&value, weights + offset + 4 * index, sizeof value);
    return value;
  }
};

// --- Views -------------------------------------------------------------------------------------

bool is_well_formed(const View& view) {
  if (view.rank == 0 || view.rank > kRankMax) return false;
  for (uint32_t k = 0; k < kRankMax; ++k) {
    if (view.dims[k] == 0 || view.dims[k] > kBytesMax) return false;
    if (k >= view.rank && (view.dims[k] != 1 || view.strides[k] != 0)) return false;
  }
  return elements_of(view) <= kBytesMax;
}

/// Returns the size of the view's memory in bytes; 0 if the memory does not exist.
uint32_t room_of(const KernelCheck& check, const View& view) {
  const Header& header = check.header;
  if (view.memory == Memory::kInput) {
    return view.index < header.input_count ? check.program.input(view.index).bytes : 0;
  }
  if (view.memory == Memory::kOutput) {
    return view.index < header.output_count ? check.program.output(view.index).bytes : 0;
  }
  if (view.index != 0) return 0;
  if (view.memory == Memory::kScratch) return header.scratch_bytes;
  return view.memory == Memory::kWeights ? header.weight_bytes : 0;
}

bool is_inside(const KernelCheck& check, const View& view) {
  if (!is_well_formed(view)) return false;
  const Extent extent = extent_of(view);
  return extent.first >= 0 && extent.end <= int64_t{room_of(check, view)};
}

/// Unused views must be zero, so that each kernel has only one encoding.
bool is_unused(const View& view) {
  static constexpr View kUnused = {};
  return memcmp(&view, &kUnused, sizeof view) == 0;
}

bool check_read_view(KernelCheck& check, const View& view) {
  if (!is_inside(check, view)) return false;
  if (view.memory == Memory::kWeights) {
    const Extent extent = extent_of(view);
    check.record_read(extent.first, extent.end);
  }
  return true;
}

bool check_written_view(const KernelCheck& check, const View& view) {
  const bool writable = view.memory == Memory::kOutput || view.memory == Memory::kScratch;
  return writable && is_inside(check, view) && is_injective(view);
}

// --- Numbers -----------------------------------------------------------------------------------

bool is_scale(int32_t multiplier, int32_t shift) {
  return multiplier >= 0 && shift >= -31 && shift <= 30;
}

bool has_scale(const KernelRecord& record, uint32_t which) {
  return is_scale(record.multiplier[which], record.shift[which]);
}

/// Checks the scales: one in the record, or in the weights block one per channel or one for all.
Status check_scales(KernelCheck& check, uint32_t channels) {
  const KernelRecord& record = check.record;
  const uint32_t count = record.scale_count;
  if (count == 0) return has_scale(record, 2) ? Status::kOk : Status::kBadScale;
  const uint64_t bytes = 4 * uint64_t{count};
  if ((count != 1 && count != channels) || !check.check_constants(record.multipliers, bytes, 4) ||
      !check.check_constants(record.shifts, bytes, 4)) {
    return Status::kBadScale;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_scale(check.constant(record.multipliers, i), check.constant(record.shifts, i))) {
      return Status::kBadScale;
    }
  }
  return Status::kOk;
}

bool is_zero_point(int32_t value, int32_t most) {
  return value >= -most && value <= most;
}

/// Checks the fields that all kernels have.
bool has_numbers(const KernelRecord& record) {
  const int32_t most = record.kernel == Kernel::kMul ? kMulZeroPointMax : kZeroPointMax;
  const bool spare = record.reserved0[0] == 0 && record.reserved0[1] == 0 &&
                     record.reserved0[2] == 0 && record.reserved1 == 0;
  return spare && record.rounding <= 1 && record.function <= Function::kRescale &&
         is_zero_point(record.a_zero_point, most) && is_zero_point(record.b_zero_point, most) &&
         is_zero_point(record.y_zero_point, kZeroPointMax) && record.min >= -128 &&
         record.min <= record.max && record.max <= 127;
}

/// Checks the table for the kernel's result. Kernels that only copy have none; kTable must have
/// one.
bool check_table(KernelCheck& check) {
  const KernelRecord& record = check.record;
  const bool must = record.kernel == Kernel::kTable;
  if (record.table == kAbsent) return !must && record.function == Function::kNone;
  return (must || record.kernel < Kernel::kSoftmax) && check.check_constants(record.table, 256, 1);
}

// --- Windows -----------------------------------------------------------------------------------

struct WindowSide {
  uint32_t size, outputs;  // in elements
  uint32_t kernel, stride, dilation, pad;
};

WindowSide rows_of(const KernelCheck& check) {
  const KernelRecord& r = check.record;
  return {check.a().dims[1], check.y().dims[1], r.kernel_h, r.stride_h, r.dilation_h, r.pad_top};
}
WindowSide columns_of(const KernelCheck& check) {
  const KernelRecord& r = check.record;
  return {check.a().dims[2], check.y().dims[2], r.kernel_w, r.stride_w, r.dilation_w, r.pad_left};
}

bool is_window(const WindowSide& w) {
  return w.kernel != 0 && w.stride != 0 && w.dilation != 0;
}

/// Returns true if the last window ends in the image or at most kPadBehindMax after it.
bool fits_window(const WindowSide& w) {
  if (!is_window(w)) return false;
  const int64_t last = (int64_t{w.outputs} - 1) * w.stride - w.pad;
  const int64_t end = last + (int64_t{w.kernel} - 1) * w.dilation + 1;
  return end - w.size <= kPadBehindMax;
}

/// Returns true if every window contains at least one element of the image.
bool is_covered(const WindowSide& w) {
  for (uint32_t i = 0; i < w.outputs; ++i) {
    const auto start = static_cast<int32_t>(int64_t{i} * w.stride - w.pad);
    const Taps taps = taps_at(start, w.kernel, w.dilation, w.size);
    if (taps.from == taps.to) return false;
  }
  return true;
}

/// Returns true if the output is not larger than a transposed convolution allows: its padding at
/// the end is at least 0, its output_padding less than stride or dilation.
bool fits_transposed_window(const WindowSide& w) {
  if (!is_window(w)) return false;
  const int64_t extra = (w.stride > w.dilation ? w.stride : w.dilation) - 1;
  const int64_t end = (int64_t{w.size} - 1) * w.stride + (int64_t{w.kernel} - 1) * w.dilation + 1;
  return int64_t{w.outputs} <= end - w.pad + extra;
}

// --- Kernels -----------------------------------------------------------------------------------

bool are_images(const KernelCheck& check) {
  return check.a().rank == 4 && check.y().rank == 4 && check.a().dims[0] == check.y().dims[0];
}

uint64_t window_size(const KernelRecord& record) {
  return uint64_t{record.kernel_h} * record.kernel_w;
}

Status check_weighted(KernelCheck& check, uint64_t weights, uint32_t channels) {
  const KernelRecord& record = check.record;
  const bool constants =
      check.check_constants(record.weights, weights, 1) &&
      (record.bias == kAbsent || check.check_constants(record.bias, 4 * uint64_t{channels}, 4));
  return constants ? check_scales(check, channels) : Status::kBadKernel;
}

Status check_convolution(KernelCheck& check) {
  const KernelRecord& record = check.record;
  const bool depthwise = record.kernel == Kernel::kConv2DDepthwise;
  const bool transposed = record.kernel == Kernel::kTransposeConv2D;
  const uint32_t in = check.a().dims[3];
  const uint32_t out = check.y().dims[3];
  if (!are_images(check) || (depthwise && in != out)) return Status::kBadView;
  const auto fits = transposed ? fits_transposed_window : fits_window;
  if (!fits(rows_of(check)) || !fits(columns_of(check))) return Status::kBadKernel;
  const bool plain = window_size(record) == 1 && record.pad_top == 0 && record.pad_left == 0;
  if (record.kernel == Kernel::kConv2DPointwise && !plain) return Status::kBadKernel;
  const uint64_t each = limited_product(limited_product(out, depthwise ? 1 : in), record.kernel_h);
  return check_weighted(check, limited_product(each, record.kernel_w), out);
}

Status check_fully_connected(KernelCheck& check) {
  const View& a = check.a();
  const View& y = check.y();
  if (a.rank != 2 || y.rank != 2 || a.dims[0] != y.dims[0]) return Status::kBadView;
  return check_weighted(check, limited_product(a.dims[1], y.dims[1]), y.dims[1]);
}

Status check_matmul(KernelCheck& check) {
  const View& a = check.a();
  const View& b = check.b();
  const View& y = check.y();
  const bool shape = a.rank == 3 && b.rank == 3 && y.rank == 3 && a.dims[0] == y.dims[0] &&
                     b.dims[0] == y.dims[0] && a.dims[1] == y.dims[1] && b.dims[2] == y.dims[2] &&
                     a.dims[2] == b.dims[1];
  if (!shape) return Status::kBadView;
  return has_scale(check.record, 2) ? Status::kOk : Status::kBadScale;
}

/// Checks an elementwise kernel.
Status check_elementwise(KernelCheck& check) {
  const bool two = check.record.operand_count == 2;
  const bool shape = same_dims(check.a(), check.y()) && (!two || same_dims(check.b(), check.y()));
  return shape ? Status::kOk : Status::kBadView;
}

/// Checks an elementwise kernel and its scales; 0, 1, 2 in `factors` are those of a, b, y.
template <size_t kCount>
Status check_scaled(KernelCheck& check, const uint32_t (&factors)[kCount]) {
  for (const uint32_t which : factors) {
    if (!has_scale(check.record, which)) return Status::kBadScale;
  }
  return check_elementwise(check);
}
Status check_sum(KernelCheck& check) {
  return check_scaled(check, {0, 1, 2});
}
Status check_prelu(KernelCheck& check) {
  return check_scaled(check, {1, 2});
}
Status check_product(KernelCheck& check) {
  return check_scaled(check, {2});
}

Status check_pool(KernelCheck& check) {
  if (!are_images(check) || check.a().dims[3] != check.y().dims[3]) return Status::kBadView;
  const WindowSide rows = rows_of(check);
  const WindowSide columns = columns_of(check);
  const bool dilated = rows.dilation != 1 || columns.dilation != 1;
  if (!fits_window(rows) || !fits_window(columns) || !is_covered(rows) || !is_covered(columns)) {
    return Status::kBadKernel;
  }
  return dilated && check.record.kernel == Kernel::kAvgPool ? Status::kBadKernel : Status::kOk;
}

Status check_reduction(KernelCheck& check) {
  const View& a = check.a();
  const View& y = check.y();
  const KernelRecord& record = check.record;
  const uint32_t reduced = record.reduced;
  const bool global = record.kernel == Kernel::kGlobalAvgPool;
  if (reduced == 0 || reduced > a.rank || (global && reduced != 2)) return Status::kBadKernel;
  const uint32_t kept = a.rank - reduced;
  bool shape = y.rank == (kept == 0 ? 1 : kept);
  for (uint32_t k = 0; k < y.rank; ++k) shape = shape && y.dims[k] == (kept == 0 ? 1 : a.dims[k]);
  if (!shape) return Status::kBadView;
  const bool mean = record.kernel <= Kernel::kReduceMean;
  return !mean || has_scale(record, 2) ? Status::kOk : Status::kBadScale;
}

/// Differences of quantized values times 2^shift must fit 5 integer and 26 fractional bits.
Status check_softmax(KernelCheck& check) {
  const KernelRecord& record = check.record;
  if (!same_dims(check.a(), check.y())) return Status::kBadView;
  const int32_t shift = record.shift[2];
  if (record.multiplier[2] < 0 || shift < 0 || shift > 31) return Status::kBadScale;
  if (record.fill > 0) return Status::kBadKernel;
  const int64_t furthest = -int64_t{record.fill};
  return furthest << shift <= int64_t{31} << 26 ? Status::kOk : Status::kBadKernel;
}

Status check_copy(KernelCheck& check) {
  return same_dims(check.a(), check.y()) ? Status::kOk : Status::kBadView;
}

Status check_pad(KernelCheck& check) {
  if (!same_dims(check.a(), check.y()) || !check_written_view(check, check.record.padded))
    return Status::kBadView;
  const int32_t fill = check.record.fill;
  return fill == static_cast<int8_t>(fill) ? Status::kOk : Status::kBadKernel;
}

Status check_mirror(KernelCheck& check) {
  const View& a = check.a();
  const View& y = check.y();
  if (a.rank != y.rank) return Status::kBadView;
  if (!check.check_constants(check.record.data, 4 * uint64_t{a.rank}, 4)) return Status::kBadKernel;
  for (uint32_t k = 0; k < a.rank; ++k) {
    const int64_t before = check.constant(check.record.data, k);
    const int64_t behind = int64_t{y.dims[k]} - a.dims[k] - before;
    const int64_t most = int64_t{a.dims[k]} - 1;
    if (before < 0 || before > most || behind < 0 || behind > most) return Status::kBadKernel;
  }
  return Status::kOk;
}

bool are_within(const KernelCheck& check, uint32_t offset, uint32_t count, int32_t most) {
  for (uint32_t i = 0; i < count; ++i) {
    const int32_t value = check.constant(offset, i);
    if (value < 0 || value > most) return false;
  }
  return true;
}

Status check_resize(KernelCheck& check) {
  const View& a = check.a();
  const View& y = check.y();
  if (!are_images(check) || a.dims[3] != y.dims[3]) return Status::kBadView;
  const uint32_t data = check.record.data;
  const uint32_t tables = check.record.kernel == Kernel::kResizeBilinear ? 2 : 1;
  const uint64_t bytes = 4 * uint64_t{tables} * (uint64_t{y.dims[1]} + y.dims[2]);
  if (!check.check_constants(data, bytes, 4)) return Status::kBadKernel;
  const uint32_t columns = data + 4 * tables * y.dims[1];
  bool good = are_within(check, data, y.dims[1], static_cast<int32_t>(a.dims[1] - 1)) &&
              are_within(check, columns, y.dims[2], static_cast<int32_t>(a.dims[2] - 1));
  if (tables == 2) {
    good = good && are_within(check, data + 4 * y.dims[1], y.dims[1], 2048) &&
           are_within(check, columns + 4 * y.dims[2], y.dims[2], 2048);
  }
  return good ? Status::kOk : Status::kBadKernel;
}

Status check_shape(KernelCheck& check) {
  switch (check.record.kernel) {
#define NEUTRON_KERNEL(name, number, operands, check_function, run) \
  case Kernel::k##name:                                             \
    return check_function(check);
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
  }
  return Status::kBadKernel;
}

/// Returns the number of operands; 0 for an unknown kernel.
uint32_t operands_of(Kernel kernel) {
  switch (kernel) {
#define NEUTRON_KERNEL(name, number, operands, check, run) \
  case Kernel::k##name:                                    \
    return operands;
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
  }
  return 0;
}

// --- Memory hazards ----------------------------------------------------------------------------

bool overlaps(const KernelRecord& record) {
  const bool in_place = may_be_in_place(record.kernel);
  for (uint32_t i = 0; i < record.operand_count; ++i) {
    const View& operand = record.operands[i];
    if (in_place && same_elements(operand, record.output)) continue;
    if (!are_disjoint(operand, record.output)) return true;
    if (record.kernel == Kernel::kPad && !are_disjoint(operand, record.padded)) return true;
  }
  return false;
}

Status check_prefetch(const KernelCheck& check, uint32_t index) {
  const KernelRecord& record = check.record;
  const uint64_t bytes = record.prefetch_bytes;
  if (bytes == 0) return Status::kOk;
  const bool inside = record.prefetch_from + bytes <= check.header.weight_bytes &&
                      record.prefetch_to + bytes <= check.header.prefetch_bytes &&
                      (record.prefetch_from | record.prefetch_to) % kBlockAlignment == 0;
  if (!inside || check.is_partly_prefetched) return Status::kBadPrefetch;
  // This copy starts when the previous kernel with prefetched weights starts.
  for (uint32_t i = index; i-- > 0;) {
    const KernelRecord before = check.program.kernel(i);
    if (before.prefetch_bytes == 0) continue;
    const bool apart = record.prefetch_to + bytes <= before.prefetch_to ||
                       before.prefetch_to + before.prefetch_bytes <= record.prefetch_to;
    return apart ? Status::kOk : Status::kBadPrefetch;
  }
  return Status::kOk;
}

}  // namespace

Status check_kernel(const Program& program, const Header& header, const uint8_t* weights,
                    uint32_t index) {
  KernelCheck check = {program, header, weights, program.kernel(index)};
  const KernelRecord& record = check.record;
  const uint32_t operands = operands_of(record.kernel);
  if (operands == 0 || record.operand_count != operands || !has_numbers(record)) {
    return Status::kBadKernel;
  }
  if (!check_read_view(check, check.a()) || (operands == 2 && !check_read_view(check, check.b())) ||
      !check_written_view(check, check.y())) {
    return Status::kBadView;
  }
  if ((operands == 1 && !is_unused(check.b())) ||
      (record.kernel != Kernel::kPad && !is_unused(record.padded))) {
    return Status::kBadView;
  }
  if (!check_table(check)) return Status::kBadKernel;
  const Status status = check_shape(check);
  if (status != Status::kOk) return status;
  if (overlaps(record)) return Status::kBadOverlap;
  return check_prefetch(check, index);
}

}  // namespace thimble::neutron
