#pragma once
// A partition for the AXON NPU as Thimble stores it: inputs, outputs, persistent variables, layers
// and their constants, in one run of bytes. It is a list of what is to be computed, on addresses
// that the compiler has planned; what silicon does with it is the vendor's tools' affair, and all
// that they need to be told is in here. docs/nordic-axon.md, "Container", has each byte.
//
// All numbers are little-endian, sections start at multiples of 16, in this order: Header, inputs,
// outputs (IoRecord), variables (VariableRecord), layers (LayerRecord), constants. Tensors are
// [N][C][H][W], W innermost; elements of a row are dense, rows are row_stride bytes apart, planes
// follow each other after h rows. Rows that a layer writes begin at multiples of 4.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace thimble::axon {

inline constexpr char kDelegateId[] = "ThimbleAxonModel";

inline constexpr uint32_t kMagic = 0x4E584154;  // "TAXN"
inline constexpr uint16_t kVersion = 1;
inline constexpr uint32_t kSectionAlignment = 16;
inline constexpr uint32_t kRowAlignment = 4;  // of rows that layers write
inline constexpr uint32_t kInputsMax = 8;     // of those, the vendor's tools take one as external
inline constexpr uint32_t kOutputsMax = 20;
inline constexpr uint32_t kLayerInputsMax = 4;
inline constexpr uint32_t kLayersMax = 4096;
inline constexpr uint32_t kVariablesMax = 64;
inline constexpr uint32_t kNameBytes = 64;
inline constexpr uint32_t kBytesMax = 1U << 28;  // of any section and any memory
inline constexpr uint32_t kShiftMax = 30;
inline constexpr uint32_t kAbsent = 0xFFFFFFFF;  // an offset that leads nowhere
inline constexpr int16_t kNoProducer = -1;

/// What a layer computes. Values below 100 run on the NPU; the rest are extensions of the core's.
enum class Operation : uint8_t {
  kFullyConnected = 0,
  kConv2d = 1,
  kDepthwise = 2,
  kPointwise = 3,
  kAveragePool = 4,
  kMaxPool = 5,
  kAdd = 6,
  kChannelPad = 7,
  kVariableRead = 8,  // a copy; nothing to do if the output lies where the variable is
  kConcat = 9,
  kStridedSlice = 10,
  kMultiply = 11,
  kMean = 13,
  kVariableAssign = 20,  // a copy to the variable
  kSoftmax = 100,
  kSigmoid = 101,
  kTanh = 102,
  kReshape = 103,
  kSpaceToBatch = 104,
  kBatchToSpace = 105,
  kResizeNearest = 106,
};

enum class Activation : uint8_t {
  kNone = 0,
  kRelu = 1,            // not below the zero point of the output
  kPrepareSoftmax = 2,  // int32 with 12 fractional bits, for kSoftmax; changes no value
  kLeakyRelu = 3,       // two multipliers for each one: {negative, positive}, by the sign
};

/// Where an operand is. Offsets count from the start of that memory.
enum class Source : uint8_t {
  kNone = 0,
  kExternal = 1,    // the caller's input number `index`: dense, read only
  kInterlayer = 2,  // memory that is the partition's during a run
  kPersistent = 3,  // variables, whose content the caller keeps from run to run
  kConstant = 4,    // the container's constants
};

/// Axes, of concat and softmax.
enum class Axis : uint8_t { kChannel = 0, kHeight = 1, kWidth = 2 };

struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;  // sizeof(Header)
  uint32_t bytes;         // of the whole container
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
  uint32_t cycles;  // estimated, of one run on the NPU: the sum of the layers'
  uint32_t reserved1;
  uint64_t content_hash;  // content_hash() of the container
  char name[kNameBytes];  // a C identifier in lower case, zero-padded, at least one zero
};
static_assert(sizeof(Header) == 128 && offsetof(Header, content_hash) == 56);

/// An input or output. An input of Source::kPersistent is a variable's content before the run, an
/// output of it the content after: each variable has one of both, and so the caller keeps it, as
/// the model's other states. An input of Source::kExternal is read where the caller has it.
struct IoRecord {
  uint8_t element_bytes;  // 1, 2 or 4; signed integers
  Source source;          // inputs: kExternal, kPersistent; outputs: kInterlayer, kPersistent
  uint16_t index;         // kExternal: its number among the inputs; kPersistent: the variable
  uint16_t n, c, h, w;
  uint32_t
      dense_offset;     // if all inputs (outputs) lay dense in one buffer, each at a multiple of 4
  uint32_t offset;      // in the source's memory; 0 for kExternal
  uint32_t row_stride;  // there, in bytes
  double scale;         // real = scale * (q - zero_point)
  int32_t zero_point;
  int16_t producer;  // outputs: the layer that makes it; inputs: kNoProducer
  uint16_t reserved0;
  uint32_t multiplier;  // scale as the vendor writes it: inputs are quantized, outputs dequantized
  uint8_t shift;        // by multiplier / 2^shift; 0 and 0 if nobody asked
  uint8_t reserved1[7];
};
static_assert(sizeof(IoRecord) == 56 && offsetof(IoRecord, scale) == 24);

/// A persistent variable: dense or with rows at multiples of 4, as its readers say.
struct VariableRecord {
  uint32_t offset;  // in the persistent memory, a multiple of 4
  uint32_t bytes;
  uint8_t element_bytes;  // 1 or 2
  uint8_t reserved[3];
  int32_t initial;  // each element at first: the zero point
};
static_assert(sizeof(VariableRecord) == 16);

/// What a layer reads or writes.
struct Operand {
  Source source;
  uint8_t element_bytes;
  int16_t producer;     // the layer that makes it (concat by address: the concat); or kNoProducer
  uint32_t offset;      // kExternal: from the input's first byte; a multiple of element_bytes
  uint32_t row_stride;  // bytes from row to row
  uint16_t n, c, h, w;
  int32_t zero_point;
  Axis view_axis;  // the operand is a piece of what the producer makes: from here along the axis
  uint8_t is_view;
  uint16_t view_offset;
  uint16_t index;  // kExternal: which input; kPersistent: which variable
  uint16_t reserved;
};
static_assert(sizeof(Operand) == 32);

/// Offsets of weights, bias, multipliers, shifts and attributes are in the constants, at multiples
/// of 4 (weights, shifts: any), or kAbsent. What each operation has there: docs/nordic-axon.md.
struct LayerRecord {
  Operation operation;
  Activation activation;
  uint8_t input_count;
  Axis axis;
  uint16_t kernel_h, kernel_w;
  uint8_t stride_y, stride_x;
  uint8_t dilation_y, dilation_x;
  uint8_t pad_top, pad_left, pad_bottom, pad_right;  // kChannelPad: top front, bottom behind
  uint32_t weights;                                  // int8: OIHW, CHW (depthwise), [out][in]
  uint32_t weight_bytes;
  uint32_t bias;               // int32 [channels]; zero point of the input folded in
  uint32_t multipliers;        // int32 [scale_shift_count], twice as many for leaky ReLU; kAdd: 2
  uint32_t shifts;             // int8 [scale_shift_count]
  uint16_t scale_shift_count;  // 0, 1 or the number of output channels
  uint16_t attribute_count;
  uint32_t attributes;          // int32 [attribute_count]
  uint32_t dequant_multiplier;  // real value of an output: the vendor's form, as in IoRecord
  uint8_t dequant_shift;
  uint8_t reserved0[3];
  uint32_t cycles;  // estimated
  uint32_t reserved1[2];
  Operand inputs[kLayerInputsMax];  // those from input_count on are all zero
  Operand output;
};
static_assert(sizeof(LayerRecord) == 224 && offsetof(LayerRecord, inputs) == 64);

enum class Status : uint8_t {
  kOk,
  kMisaligned,   // the bytes are at no multiple of 16
  kTruncated,    // shorter than the header says
  kNoContainer,  // another magic
  kBadVersion,   // of a later writer
  kBadHeader,    // counts, sections or names
  kBadIo,        // an input or output
  kBadVariable,
  kBadOperand,    // an operand of a layer: out of its memory, misaligned, or not its operation's
  kBadLayer,      // shape, kernel or attributes do not fit the operation
  kBadScale,      // multipliers, shifts; or zero point * 2^shift is no int32
  kBadOverlap,    // a layer writes over what it reads
  kBadOperation,  // none that this version knows
};

/// Sections, inputs, outputs and variables alone: all that someone touches who does not execute
/// layers. `data` is 16-byte aligned.
[[nodiscard]] Status check_interface(const uint8_t* data, uint32_t bytes);

/// Proves that every access of a run lies inside the memories that the header announces, the
/// container's constants and the inputs. `data` is 16-byte aligned.
[[nodiscard]] Status check(const uint8_t* data, uint32_t bytes);
/// The same; `layer` then is the layer at fault, if it is one.
[[nodiscard]] Status check(const uint8_t* data, uint32_t bytes, uint32_t& layer);

/// FNV-1a of 64 bits over the container, the field content_hash taken as zero.
[[nodiscard]] uint64_t content_hash(const uint8_t* data, uint32_t bytes);

const char* status_text(Status status);

/// Reads what check() has accepted.
class Container {
 public:
  explicit Container(const uint8_t* data = nullptr) : data_(data) {}
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
  const uint8_t* data_;
};

constexpr uint32_t aligned(uint32_t bytes, uint32_t to) {
  return (bytes + to - 1) / to * to;
}
/// The row stride that the NPU writes.
constexpr uint32_t npu_row_stride(uint32_t w, uint32_t element_bytes) {
  return aligned(w * element_bytes, kRowAlignment);
}

}  // namespace thimble::axon
