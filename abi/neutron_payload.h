#pragma once
// The bytes that a Neutron delegate takes, as ExecuTorch's NXP backend writes them: four blocks,
// each padded with zeros to a multiple of 16. docs/neutron.md, "Payload", has a dump.
//
//   header     0 u8 NI inputs of the program, 1 u8 NO outputs, 2 u8 NA input arguments of the call
//              3 NI x u8 format of an input: 1 channels last, 0 as its dimensions are
//              .. NO x u8 format of an output
//              .. NI x u8 input map: which argument of the call it is
//              .. NO x u8 output map: argument NA + map
//              .. u8 version of this header: 0 or 1
//   program    little-endian words: 0 magic, 6 bytes of the program, 7 bytes of the weights,
//              9 scratch bytes; then, by version,
//              0: 10 prefetch bytes, 11 inputs, 12 outputs
//              1: 10 profile bytes (31 bits), 11 debug bytes, 12 prefetch bytes, 13 inputs,
//                 14 outputs
//   weights
//   kernels    up to the end: their size stands nowhere
//
// The program is the vendor's microcode, of which these words are all that is public, or a list of
// kernels of our own (npu/neutron/program.h), which has them at the same places. `read_payload`
// proves that all it answers lies inside the bytes it was given.

#include <cstdint>
#include <cstring>

namespace thimble::abi::neutron {

inline constexpr uint32_t kMicrocodeMagic = 0x64434D6E;   // "nMCd": the vendor's
inline constexpr uint32_t kKernelListMagic = 0x75654E54;  // "TNeu": ours
inline constexpr uint32_t kPayloadAlignment = 16;
inline constexpr uint32_t kPayloadVersionMax = 1;
inline constexpr uint32_t kFirstFormat = 3;      // offset in the header
inline constexpr uint32_t kBlockMax = 1U << 28;  // bytes of any block and any memory

/// Words of the program.
inline constexpr uint32_t kMagicWord = 0;
inline constexpr uint32_t kProgramBytesWord = 6;
inline constexpr uint32_t kWeightBytesWord = 7;
inline constexpr uint32_t kScratchWord = 9;
inline constexpr uint32_t kProfileMask = 0x7FFFFFFF;
/// How many words a program has at least.
constexpr uint32_t program_words(uint32_t version) {
  return version == 0 ? 13 : 15;
}

constexpr uint32_t padded(uint32_t bytes) {
  return (bytes + kPayloadAlignment - 1) & ~(kPayloadAlignment - 1);
}

enum class PayloadFault : uint8_t {
  kNone,
  kMisaligned,    // the bytes are at no multiple of 16
  kTruncated,     // ends before `expected` bytes
  kVersion,       // of the header: neither 0 nor 1, or not 1 for a list of ours
  kInputFormat,   // neither 0 nor 1
  kOutputFormat,  // likewise
  kInputMap,      // not below NA, which is `expected`
  kOutputMap,     // not below NO
  kOutputTwice,   // two outputs are one argument
  kMagic,         // no program
  kProgramBytes,  // fewer than the words it must have, or more than kBlockMax
  kWeightBytes,   // more than kBlockMax
  kMemory,        // scratch, profile, debug or prefetch: more than kBlockMax
  kInputCount,    // the program has other than NI inputs
  kOutputCount,   // the program has other than NO outputs
};

/// What is wrong, and where.
struct PayloadProblem {
  PayloadFault fault = PayloadFault::kNone;
  uint32_t at = 0;  // offset in the payload
  uint32_t found = 0;
  uint32_t expected = 0;
};

struct PayloadView {
  uint32_t input_count = 0, output_count = 0, arg_count = 0;
  uint32_t version = 0;
  uint32_t magic = 0;
  const uint8_t* input_formats = nullptr;
  const uint8_t* output_formats = nullptr;
  const uint8_t* input_map = nullptr;
  const uint8_t* output_map = nullptr;
  const uint8_t* program = nullptr;  // 16-byte aligned, as are the next two
  const uint8_t* weights = nullptr;
  const uint8_t* kernels = nullptr;
  uint32_t program_bytes = 0, weight_bytes = 0, kernel_bytes = 0;  // the last with its padding
  uint32_t scratch_bytes = 0, profile_bytes = 0, debug_bytes = 0, prefetch_bytes = 0;
};

/// Memory that a call wants besides its tensors: what the program says, each at a multiple of 16,
/// and the addresses of tensors that the driver is given, 8 bytes each on every machine.
inline uint32_t call_bytes(const PayloadView& view) {
  return padded(8 * (view.input_count + view.output_count + 3)) + padded(view.scratch_bytes) +
         padded(view.profile_bytes) + padded(view.debug_bytes) + padded(view.prefetch_bytes);
}

namespace payload_detail {

/// Reads and remembers the first thing that is wrong.
class Reader {
 public:
  Reader(const uint8_t* data, uint32_t bytes, PayloadProblem& problem)
      : data_(data), bytes_(bytes), problem_(problem) {}

  bool fail(PayloadFault fault, uint32_t at, uint32_t found, uint32_t expected) {
    problem_ = {fault, at, found, expected};
    return false;
  }
  bool has(uint32_t bytes) {
    return bytes <= bytes_ || fail(PayloadFault::kTruncated, bytes_, bytes_, bytes);
  }
  /// Each of the bytes is below the limit.
  bool below(PayloadFault fault, uint32_t at, uint32_t count, uint32_t limit) {
    for (uint32_t i = at; i < at + count; ++i) {
      if (data_[i] >= limit) return fail(fault, i, data_[i], limit);
    }
    return true;
  }
  bool distinct(uint32_t at, uint32_t count) {
    for (uint32_t i = at; i < at + count; ++i) {
      if (memchr_before(at, i)) return fail(PayloadFault::kOutputTwice, i, data_[i], 0);
    }
    return true;
  }
  [[nodiscard]] uint32_t word(uint32_t index) const {
    uint32_t word;
    std::memcpy(&word, data_ + program_at_ + 4 * index, sizeof word);
    return word;
  }
  bool size(PayloadFault fault, uint32_t index, uint32_t mask, uint32_t& value) {
    value = word(index) & mask;
    return value <= kBlockMax || fail(fault, program_at_ + 4 * index, value, kBlockMax);
  }
  bool count(PayloadFault fault, uint32_t index, uint32_t expected) {
    const uint32_t found = word(index);
    return found == expected || fail(fault, program_at_ + 4 * index, found, expected);
  }
  void program_is_at(uint32_t at) { program_at_ = at; }

 private:
  [[nodiscard]] bool memchr_before(uint32_t from, uint32_t index) const {
    while (from != index && data_[from] != data_[index]) ++from;
    return from != index;
  }
  const uint8_t* data_;
  uint32_t bytes_;
  PayloadProblem& problem_;
  uint32_t program_at_ = 0;
};

inline bool read_header(Reader& reader, const uint8_t* data, PayloadView& view,
                        uint32_t& header_bytes) {
  if (!reader.has(kFirstFormat)) return false;
  const uint32_t inputs = view.input_count = data[0];
  const uint32_t outputs = view.output_count = data[1];
  view.arg_count = data[2];
  const uint32_t output_formats = kFirstFormat + inputs;
  const uint32_t input_map = output_formats + outputs;
  const uint32_t output_map = input_map + inputs;
  const uint32_t version = output_map + outputs;
  header_bytes = version + 1;
  if (!reader.has(header_bytes)) return false;
  view.input_formats = data + kFirstFormat;
  view.output_formats = data + output_formats;
  view.input_map = data + input_map;
  view.output_map = data + output_map;
  view.version = data[version];
  return reader.below(PayloadFault::kVersion, version, 1, kPayloadVersionMax + 1) &&
         reader.below(PayloadFault::kInputFormat, kFirstFormat, inputs, 2) &&
         reader.below(PayloadFault::kOutputFormat, output_formats, outputs, 2) &&
         reader.below(PayloadFault::kInputMap, input_map, inputs, view.arg_count) &&
         reader.below(PayloadFault::kOutputMap, output_map, outputs, outputs) &&
         reader.distinct(output_map, outputs);
}

inline bool read_sizes(Reader& reader, PayloadView& view) {
  constexpr uint32_t kAll = 0xFFFFFFFF;
  if (!reader.size(PayloadFault::kProgramBytes, kProgramBytesWord, kAll, view.program_bytes) ||
      !reader.size(PayloadFault::kWeightBytes, kWeightBytesWord, kAll, view.weight_bytes) ||
      !reader.size(PayloadFault::kMemory, kScratchWord, kAll, view.scratch_bytes)) {
    return false;
  }
  uint32_t next = kScratchWord + 1;
  if (view.version != 0 &&
      (!reader.size(PayloadFault::kMemory, next++, kProfileMask, view.profile_bytes) ||
       !reader.size(PayloadFault::kMemory, next++, kAll, view.debug_bytes))) {
    return false;
  }
  return reader.size(PayloadFault::kMemory, next, kAll, view.prefetch_bytes) &&
         reader.count(PayloadFault::kInputCount, next + 1, view.input_count) &&
         reader.count(PayloadFault::kOutputCount, next + 2, view.output_count);
}

}  // namespace payload_detail

/// Whether the bytes are a payload; if not, `problem` says why.
[[nodiscard]] inline bool read_payload(const uint8_t* data, uint32_t bytes, PayloadView& view,
                                       PayloadProblem& problem) {
  view = {};
  payload_detail::Reader reader(data, bytes, problem);
  if (reinterpret_cast<uintptr_t>(data) % kPayloadAlignment != 0) {
    return reader.fail(PayloadFault::kMisaligned, 0, 0, kPayloadAlignment);
  }
  uint32_t header_bytes;
  if (!payload_detail::read_header(reader, data, view, header_bytes)) return false;
  const uint32_t program_at = padded(header_bytes);
  if (!reader.has(program_at + 4)) return false;
  reader.program_is_at(program_at);
  view.program = data + program_at;
  view.magic = reader.word(kMagicWord);
  const bool ours = view.magic == kKernelListMagic;
  if (!ours && view.magic != kMicrocodeMagic) {
    return reader.fail(PayloadFault::kMagic, program_at, view.magic, kMicrocodeMagic);
  }
  if (ours && view.version == 0) {
    return reader.fail(PayloadFault::kVersion, header_bytes - 1, 0, 1);
  }
  const uint32_t words = program_words(view.version);
  if (!reader.has(program_at + 4 * words) || !payload_detail::read_sizes(reader, view))
    return false;
  if (view.program_bytes < 4 * words) {
    return reader.fail(PayloadFault::kProgramBytes, program_at + 4 * kProgramBytesWord,
                       view.program_bytes, 4 * words);
  }
  const uint32_t weights_at = program_at + padded(view.program_bytes);
  const uint32_t kernels_at = weights_at + padded(view.weight_bytes);
  if (!reader.has(kernels_at)) return false;
  view.weights = data + weights_at;
  view.kernels = data + kernels_at;
  view.kernel_bytes = bytes - kernels_at;
  return true;
}

}  // namespace thimble::abi::neutron
