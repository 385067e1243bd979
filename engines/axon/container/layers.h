// SPDX-License-Identifier: Apache-2.0
#pragma once
// Container of a layer list for the AXON NPU: inputs, outputs, persistent variables, layers and
// their constants in one block of bytes. A layer list describes computations at addresses that the
// compiler has planned. The vendor's tools translate it to the hardware's commands; it contains all
// information that they need. docs/nordic-axon.md, "Container", describes each byte.
//
// All numbers are little-endian. Sections start at multiples of 16, in this order: Header, inputs,
// outputs (IoRecord), variables (VariableRecord), layers (LayerRecord), constants. Tensors are
// [N][C][H][W], W innermost. Elements of a row are contiguous, rows are row_stride bytes apart, and
// a plane begins after the h rows of the plane before. Rows that a layer writes begin at multiples
// of 4.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace thimble::axon {

inline constexpr char kDelegateId[] = "ThimbleAxonModel";

inline constexpr uint32_t kMagic = 0x4E584154;  // "TAXN"
inline constexpr uint16_t kVersion = 1;
inline constexpr uint32_t kSectionAlignment = 16;
inline constexpr uint32_t kRowAlignment = 4;  // of rows that layers write
inline constexpr uint32_t kInputsMax = 8;     // the vendor's tools accept one external input
inline constexpr uint32_t kOutputsMax = 20;
inline constexpr uint32_t kLayerInputsMax = 4;
inline constexpr uint32_t kLayersMax = 4096;
inline constexpr uint32_t kVariablesMax = 64;
inline constexpr uint32_t kNameBytes = 64;
inline constexpr uint32_t kBytesMax = 1U << 28;  // upper bound of any section and any memory
inline constexpr uint32_t kShiftMax = 30;
inline constexpr uint32_t kAbsent = 0xFFFFFFFF;  // offset of an absent constant
inline constexpr int16_t kNoProducer = -1;

/// Operation of a layer: one row of operations.def each.
enum class Operation : uint8_t {
#define AXON_OPERATION(name, number, list_name, report_name) k##name = (number),
#include "engines/axon/container/operations.def"
#undef AXON_OPERATION
};

enum class Activation : uint8_t {
  kNone = 0,
  kRelu = 1,            // clamps below at the zero point of the output
  kPrepareSoftmax = 2,  // result is int32 with 12 fractional bits, for kSoftmax; changes no value
  kLeakyRelu = 3,       // each multiplier is a pair {negative, positive}, chosen by the sum's sign
};

/// Memory of an operand. Offsets are relative to its start.
enum class Source : uint8_t {
  kNone = 0,
  kExternal = 1,    // input number `index` of the call: dense, read only
  kInterlayer = 2,  // memory that belongs to the layer list during a run
  kPersistent = 3,  // variables; the caller keeps their content from run to run
  kConstant = 4,    // the container's constants
};

/// Axis of a concat or softmax.
enum class Axis : uint8_t { kChannel = 0, kHeight = 1, kWidth = 2 };

struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;  // sizeof(Header)
  uint32_t bytes;         // size of the container
  uint8_t input_count;
  uint8_t output_count;
  uint16_t layer_count;
  uint16_t variable_count;
  uint16_t reserved0;
  uint32_t interlayer_bytes;  // a multiple of 16
  uint32_t persistent_bytes;  // a multiple of 16
  uint32_t constant_bytes;    // a multiple of 16
  uint32_t io_offset;         // inputs, then outputs
  uint32_t variables_offset;
  uint32_t layers_offset;
  uint32_t constants_offset;
  uint32_t cycles;  // estimated NPU cycles of one run: the sum of all layers
  uint32_t reserved1;
  uint64_t content_hash;  // content_hash() of the container
  char name[kNameBytes];  // a lower-case C identifier, zero-padded, at least one zero
};
static_assert(sizeof(Header) == 128 && offsetof(Header, content_hash) == 56);

/// An input or output. An input with Source::kPersistent is a variable's content before the run, an
/// output with it the content after. Each variable has one input and at most one output, so the
/// caller can keep its content like other states of the model. An input with Source::kExternal is
/// read from the caller's memory.
struct IoRecord {
  uint8_t element_bytes;  // 1, 2 or 4; signed integers
  Source source;          // inputs: kExternal, kPersistent; outputs: kInterlayer, kPersistent
  uint16_t index;         // kExternal: index of the input; kPersistent: index of the variable
  uint16_t n, c, h, w;
  uint32_t dense_offset;  // offset if all inputs (outputs) were dense in one buffer, 4-byte aligned
  uint32_t offset;        // in the source's memory; 0 for kExternal
  uint32_t row_stride;    // in the source's memory, in bytes
  double scale;           // real = scale * (q - zero_point)
  int32_t zero_point;
  int16_t producer;  // outputs: the layer that writes it; inputs: kNoProducer
  uint16_t reserved0;
  uint32_t multiplier;  // the vendor's form of `scale`: multiplier / 2^shift quantizes inputs and
  uint8_t shift;        // dequantizes outputs; both 0 if not given
  uint8_t reserved1[7];
};
static_assert(sizeof(IoRecord) == 56 && offsetof(IoRecord, scale) == 24);

/// A persistent variable. Its operands define whether rows are dense or begin at multiples of 4.
struct VariableRecord {
  uint32_t offset;  // in the persistent memory, a multiple of 4
  uint32_t bytes;
  uint8_t element_bytes;  // 1 or 2
  uint8_t reserved[3];
  int32_t initial;  // initial value of each element: the zero point
};
static_assert(sizeof(VariableRecord) == 16);

/// A tensor that a layer reads or writes.
struct Operand {
  Source source;
  uint8_t element_bytes;
  int16_t producer;     // the layer that writes it (for a concat in place: the concat), or none
  uint32_t offset;      // kExternal: from the input's first byte; a multiple of element_bytes
  uint32_t row_stride;  // bytes from row to row
  uint16_t n, c, h, w;
  int32_t zero_point;
  // If is_view is 1, the operand is a part of the producer's output that begins at view_offset
  // along view_axis.
  Axis view_axis;
  uint8_t is_view;
  uint16_t view_offset;
  uint16_t index;  // kExternal: index of the input; kPersistent: index of the variable
  uint16_t reserved;
};
static_assert(sizeof(Operand) == 32);

/// Offsets of weights, bias, multipliers, shifts and attributes are relative to the constants and
/// multiples of 4 (weights and shifts: any), or kAbsent. docs/nordic-axon.md lists the constants of
/// each operation.
struct LayerRecord {
  Operation operation;
  Activation activation;
  uint8_t input_count;
  Axis axis;
  uint16_t kernel_h, kernel_w;
  uint8_t stride_y, stride_x;
  uint8_t dilation_y, dilation_x;
  uint8_t pad_top, pad_left, pad_bottom, pad_right;  // kChannelPad: top before, bottom after
  uint32_t weights;                                  // int8: OIHW, CHW (depthwise), [out][in]
  uint32_t weight_bytes;
  uint32_t bias;               // int32 [channels]; zero point of the input folded in
  uint32_t multipliers;        // int32 [scale_shift_count]; twice that for leaky ReLU; kAdd: 2
  uint32_t shifts;             // int8 [scale_shift_count]
  uint16_t scale_shift_count;  // 0, 1 or the number of output channels
  uint16_t attribute_count;
  uint32_t attributes;          // int32 [attribute_count]
  uint32_t dequant_multiplier;  // output scale in the vendor's form, as in IoRecord
  uint8_t dequant_shift;
  uint8_t reserved0[3];
  uint32_t cycles;  // estimated
  uint32_t reserved1[2];
  Operand inputs[kLayerInputsMax];  // entries from input_count on are zero
  Operand output;
};
static_assert(sizeof(LayerRecord) == 224 && offsetof(LayerRecord, inputs) == 64);

enum class Status : uint8_t {
#define AXON_STATUS(name, number, text) k##name = (number),
#include "engines/axon/container/status.def"
#undef AXON_STATUS
};

/// Checks header, sections, inputs, outputs and variables. This is sufficient for code that does
/// not execute layers. `data` must be 16-byte aligned.
[[nodiscard]] Status check_interface(const uint8_t* data, uint32_t bytes);

/// Checks that every memory access of a run is inside the memories given by the header, the
/// container's constants and the inputs. `data` must be 16-byte aligned.
[[nodiscard]] Status check(const uint8_t* data, uint32_t bytes);
/// As above; if a layer is invalid, `layer` is its index.
[[nodiscard]] Status check(const uint8_t* data, uint32_t bytes, uint32_t& layer);

/// Returns the 64-bit FNV-1a hash of the container with the field content_hash set to zero.
[[nodiscard]] uint64_t content_hash(const uint8_t* data, uint32_t bytes);

const char* status_text(Status status);

/// Read access to a container that check() has accepted.
class Container {
 public:
  Container() = default;
  explicit Container(const uint8_t* data) : data_(data) {}
  [[nodiscard]] Header header() const { return read<Header>(0); }
  [[nodiscard]] IoRecord input(uint32_t index) const {
    return read<IoRecord>(header().io_offset + index * static_cast<uint32_t>(sizeof(IoRecord)));
  }
  [[nodiscard]] IoRecord output(uint32_t index) const {
    return input(header().input_count + index);
  }
  [[nodiscard]] VariableRecord variable(uint32_t index) const {
    return read<VariableRecord>(header().variables_offset +
                                index * static_cast<uint32_t>(sizeof(VariableRecord)));
  }
  [[nodiscard]] LayerRecord layer(uint32_t index) const {
    return read<LayerRecord>(header().layers_offset +
                             index * static_cast<uint32_t>(sizeof(LayerRecord)));
  }
  [[nodiscard]] const uint8_t* constants() const { return data_ + header().constants_offset; }
  [[nodiscard]] const uint8_t* data() const { return data_; }

 private:
  template <class Record>
  [[nodiscard]] Record read(uint32_t offset) const {
    Record record;
    memcpy(&record, data_ + offset, sizeof record);
    return record;
  }
  const uint8_t* data_ = nullptr;
};

constexpr uint32_t aligned(uint32_t bytes, uint32_t to) {
  return (bytes + to - 1) / to * to;
}
/// Returns the row stride in bytes of rows that the NPU writes.
constexpr uint32_t npu_row_stride(uint32_t w, uint32_t element_bytes) {
  return aligned(w * element_bytes, kRowAlignment);
}

}  // namespace thimble::axon
