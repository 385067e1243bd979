// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/write.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/narrow.h"
#include "base/size_text.h"
#include "engines/neutron/formats/payload.h"

namespace thimble::engine::neutron {
namespace {

namespace payload = formats::neutron;
using container::Header;
using container::IoRecord;
using container::kAbsent;
using container::KernelRecord;

class Writer {
 public:
  Writer(const Network& network, bool prefetch)
      : net_(network), prefetch_(prefetch), offsets_(network.buffers.size(), -1) {}

  Result<EncodedProgram> run() {
    place_shared();
    for (size_t i = 0; i < net_.kernels.size(); ++i) {
      align_size(weights_, container::kBlockAlignment);
      const size_t from = weights_.size();
      records_.push_back(record(static_cast<int>(i)));
      records_.back().prefetch_from = u32(from);
      sections_.push_back(static_cast<int64_t>(container::aligned(u32(weights_.size() - from))));
    }
    align_size(weights_, container::kBlockAlignment);
    if (weights_.size() > container::kBytesMax || net_.scratch_bytes > container::kBytesMax) {
      return unsupported("{} B of weights and {} B of scratch, expected at most {}",
                         with_commas(static_cast<int64_t>(weights_.size())),
                         with_commas(static_cast<int64_t>(net_.scratch_bytes)),
                         with_commas(container::kBytesMax));
    }
    prefetch();
    EncodedProgram encoded;
    encoded.program = assemble();
    encoded.weights = std::move(weights_);
    encoded.prefetch_bytes = prefetch_bytes_;
    const uint32_t hash = container::content_hash(
        reinterpret_cast<const uint8_t*>(encoded.program.data()), u32(encoded.program.size()),
        reinterpret_cast<const uint8_t*>(encoded.weights.data()), u32(encoded.weights.size()));
    std::memcpy(encoded.program.data() + offsetof(Header, content_hash), &hash, sizeof hash);
    return encoded;
  }

 private:
  template <typename T>
  uint32_t constants(const std::vector<T>& values) {
    if (values.empty()) return kAbsent;
    align_size(weights_, sizeof(T));
    const auto offset = u32(weights_.size());
    append(weights_, std::as_bytes(std::span(values)));
    return offset;
  }

  void place_constant(int index) {
    const Buffer& buffer = net_.buffers[static_cast<size_t>(index)];
    int64_t& offset = offsets_[static_cast<size_t>(index)];
    if (buffer.memory == Memory::kWeights && offset < 0) offset = constants(buffer.content);
  }

  /// Places the constants that several kernels read.
  void place_shared() {
    for (size_t i = 0; i < net_.buffers.size(); ++i) {
      const Buffer& buffer = net_.buffers[i];
      if (buffer.life.steps() > 1) place_constant(static_cast<int>(i));
    }
  }

  container::View view(const BufferView& from) const {
    const Buffer& buffer = net_.buffers[static_cast<size_t>(from.buffer)];
    container::View result = {};
    result.memory = buffer.memory;
    result.rank = u8(from.dims.size());
    const bool is_io = buffer.memory == Memory::kInput || buffer.memory == Memory::kOutput;
    result.index = u16(is_io ? buffer.index : 0);
    const int64_t base = buffer.memory == Memory::kWeights
                             ? offsets_[static_cast<size_t>(from.buffer)]
                         : is_io ? 0
                                 : buffer.offset;
    result.offset = u32(base + from.offset);
    for (size_t k = 0; k < container::kRankMax; ++k) {
      const bool there = k < from.dims.size();
      result.dims[k] = there ? u32(from.dims[k]) : 1;
      result.strides[k] = there && from.dims[k] > 1 ? static_cast<int32_t>(from.strides[k]) : 0;
    }
    return result;
  }

  KernelRecord record(int index) {
    const KernelOp& kernel = net_.kernels[static_cast<size_t>(index)];
    for (const BufferView& operand : kernel.operands) place_constant(operand.buffer);
    KernelRecord r = {};
    r.kernel = kernel.kernel;
    r.function = kernel.function;
    r.operand_count = u8(kernel.operands.size());
    r.rounding = u8(kernel.rounding);
    r.reduced = u8(kernel.reduced);
    r.kernel_h = u16(kernel.kernel_h);
    r.kernel_w = u16(kernel.kernel_w);
    r.stride_h = u16(kernel.stride_h);
    r.stride_w = u16(kernel.stride_w);
    r.dilation_h = u16(kernel.dilation_h);
    r.dilation_w = u16(kernel.dilation_w);
    r.pad_top = u16(kernel.pad_top);
    r.pad_left = u16(kernel.pad_left);
    r.a_zero_point = static_cast<int32_t>(kernel.a_zero_point);
    r.b_zero_point = static_cast<int32_t>(kernel.b_zero_point);
    r.y_zero_point = static_cast<int32_t>(kernel.y_zero_point);
    r.min = static_cast<int32_t>(kernel.min);
    r.max = static_cast<int32_t>(kernel.max);
    for (size_t i = 0; i < 3; ++i) {
      r.multiplier[i] = static_cast<int32_t>(kernel.multiplier[i]);
      r.shift[i] = static_cast<int32_t>(kernel.shift[i]);
    }
    r.scale_count = u32(kernel.multipliers.size());
    r.weights = constants(kernel.weights);
    r.bias = constants(kernel.bias);
    r.multipliers = constants(kernel.multipliers);
    r.shifts = constants(kernel.shifts);
    r.table = constants(kernel.table);
    r.data = constants(kernel.data);
    r.fill = static_cast<int32_t>(kernel.fill);
    r.macs = u32(kernel.macs);
    r.cycles = u32(kernel.cycles);
    for (size_t i = 0; i < kernel.operands.size(); ++i) r.operands[i] = view(kernel.operands[i]);
    r.output = view(kernel.output);
    if (kernel.padded) r.padded = view(*kernel.padded);
    return r;
  }

  /// Assigns prefetch slots: two slots alternate at the start and the end of the prefetch memory.
  /// Its size is the largest sum of two consecutive sections. The constants of a kernel are copied
  /// to one slot while the kernel before reads the other.
  void prefetch() {
    int64_t before = 0;
    std::vector<size_t> prefetching;  // kernels with a section
    for (size_t i = 0; i < records_.size(); ++i) {
      if (sections_[i] > 0) prefetching.push_back(i);
    }
    if (!prefetch_) {
      for (KernelRecord& record : records_) record.prefetch_from = 0;
      return;
    }
    for (const size_t i : prefetching) {
      prefetch_bytes_ = std::max(prefetch_bytes_, before + sections_[i]);
      before = sections_[i];
    }
    for (size_t i = 0; i < records_.size(); ++i) {
      if (sections_[i] == 0) records_[i].prefetch_from = 0;
    }
    for (size_t n = 0; n < prefetching.size(); ++n) {
      KernelRecord& record = records_[prefetching[n]];
      record.prefetch_bytes = u32(sections_[prefetching[n]]);
      record.prefetch_to = u32(n % 2 == 0 ? 0 : prefetch_bytes_ - sections_[prefetching[n]]);
    }
  }

  static IoRecord io(const NetworkIo& tensor) {
    const ir::Type& type = tensor.type;
    IoRecord r = {};
    r.rank = u8(std::max<size_t>(1, type.shape.size()));
    r.channels_last = u8(ir::is_contiguous(type.dim_order) ? 0 : 1);
    for (size_t k = 0; k < container::kRankMax; ++k) {
      r.dims[k] = k < type.shape.size() ? u32(type.shape[k]) : 1;
    }
    const bool known = type.quant && type.quant->axis < 0;
    r.scale = known ? static_cast<float>(type.quant->scale[0]) : 0;
    r.zero_point = known ? type.quant->zero_point[0] : 0;
    r.bytes = u32(type.elements());
    return r;
  }

  std::vector<std::byte> assemble() const {
    Header header = {};
    header.magic = container::kMagic;
    header.version = container::kVersion;
    header.kernel_count = u32(records_.size());
    header.cycles = u32(net_.cycles());
    header.weight_bytes = u32(weights_.size());
    header.scratch_bytes = u32(net_.scratch_bytes);
    header.profile_bytes = 0;
    header.prefetch_bytes = u32(prefetch_bytes_);
    header.input_count = u32(net_.inputs.size());
    header.output_count = u32(net_.outputs.size());
    std::vector<std::byte> file(sizeof(Header));
    header.io_offset = u32(file.size());
    for (const NetworkIo& tensor : net_.inputs) append_record(file, io(tensor));
    for (const NetworkIo& tensor : net_.outputs) append_record(file, io(tensor));
    align_size(file, container::kBlockAlignment);
    header.kernels_offset = u32(file.size());
    for (const KernelRecord& record : records_) append_record(file, record);
    header.program_bytes = u32(file.size());
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }

  const Network& net_;
  bool prefetch_;
  std::vector<int64_t> offsets_;  // by buffer: offset in the weights block
  std::vector<std::byte> weights_;
  std::vector<KernelRecord> records_;
  std::vector<int64_t> sections_;  // by kernel: bytes of the block that only it reads
  int64_t prefetch_bytes_ = 0;
};

}  // namespace

Result<EncodedProgram> write(const Network& network, bool prefetch) {
  return Writer(network, prefetch).run();
}

Result<std::vector<std::byte>> payload_of(const Network& network, const EncodedProgram& encoded) {
  payload::Payload result;
  const auto format = [](const NetworkIo& tensor) {
    return ir::is_contiguous(tensor.type.dim_order) ? payload::MemoryOrder::kRowMajor
                                                    : payload::MemoryOrder::kChannelsLast;
  };
  for (const NetworkIo& tensor : network.inputs) {
    result.input_map.push_back(u8(result.input_map.size()));
    result.input_formats.push_back(format(tensor));
  }
  for (const NetworkIo& tensor : network.outputs) {
    result.output_map.push_back(u8(result.output_map.size()));
    result.output_formats.push_back(format(tensor));
  }
  result.arg_count = u8(network.inputs.size());
  result.program = encoded.program;
  result.weights = encoded.weights;
  return payload::write_payload(result);
}

}  // namespace thimble::engine::neutron
