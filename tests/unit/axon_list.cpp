// SPDX-License-Identifier: Apache-2.0
#include "axon_list.h"

#include <cstring>

#include "engines/axon/model/model.h"

namespace thimble::axon_test {
namespace {

constexpr uint32_t kSection = axon::kSectionAlignment;

void set_shape(Operand& operand, const Shape& shape) {
  operand.n = static_cast<uint16_t>(shape.n);
  operand.c = static_cast<uint16_t>(shape.c);
  operand.h = static_cast<uint16_t>(shape.h);
  operand.w = static_cast<uint16_t>(shape.w);
}

Operand operand_at(Source source, uint32_t offset, const Shape& shape, uint32_t element_bytes,
                   int32_t zero_point, uint32_t row_stride) {
  Operand operand = {};
  operand.source = source;
  operand.offset = offset;
  operand.element_bytes = static_cast<uint8_t>(element_bytes);
  operand.zero_point = zero_point;
  operand.row_stride = row_stride;
  operand.producer = axon::kNoProducer;
  set_shape(operand, shape);
  return operand;
}

axon::IoRecord io_of(const Operand& operand, int16_t producer) {
  axon::IoRecord io = {};
  io.element_bytes = operand.element_bytes;
  io.source = operand.source;
  io.index = operand.index;
  io.n = operand.n;
  io.c = operand.c;
  io.h = operand.h;
  io.w = operand.w;
  io.offset = operand.offset;
  io.row_stride = operand.row_stride;
  io.scale = 1;
  io.zero_point = operand.zero_point;
  io.producer = producer;
  return io;
}

uint32_t dense_bytes(const axon::IoRecord& io) {
  return uint32_t{io.n} * io.c * io.h * io.w * io.element_bytes;
}

void set_dense_offsets(std::vector<axon::IoRecord>& records) {
  uint32_t at = 0;
  for (axon::IoRecord& io : records) {
    io.dense_offset = at;
    at = axon::aligned(at + dense_bytes(io), 4);
  }
}

template <class Record>
void append(std::vector<uint8_t>& bytes, const std::vector<Record>& records) {
  const auto* const data = reinterpret_cast<const uint8_t*>(records.data());
  bytes.insert(bytes.end(), data, data + records.size() * sizeof(Record));
}

void pad(std::vector<uint8_t>& bytes) {
  bytes.resize(axon::aligned(static_cast<uint32_t>(bytes.size()), kSection));
}

}  // namespace

std::vector<uint8_t> bytes_of(const Tensor& tensor) {
  std::vector<uint8_t> bytes;
  for (const int32_t value : tensor.values) {
    const auto* const data = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), data, data + tensor.element_bytes);
  }
  return bytes;
}

Shape shape_of(const Operand& operand) {
  return {operand.n, operand.c, operand.h, operand.w};
}

List::List() {
  std::strcpy(header.name, "list_0123456789ab");
}

uint32_t List::bytes(const std::vector<uint8_t>& content) {
  constants.resize(axon::aligned(static_cast<uint32_t>(constants.size()), 4));
  const auto at = static_cast<uint32_t>(constants.size());
  constants.insert(constants.end(), content.begin(), content.end());
  return at;
}

uint32_t List::ints(const std::vector<int32_t>& content) {
  const auto* const data = reinterpret_cast<const uint8_t*>(content.data());
  return bytes({data, data + 4 * content.size()});
}

Operand List::external(const Shape& shape, uint32_t element_bytes, int32_t zero_point) {
  Operand operand =
      operand_at(Source::kExternal, 0, shape, element_bytes, zero_point, shape.w * element_bytes);
  operand.index = static_cast<uint16_t>(inputs.size());
  inputs.push_back(io_of(operand, axon::kNoProducer));
  return operand;
}

Operand List::interlayer(const Shape& shape, uint32_t element_bytes, int32_t zero_point,
                         uint32_t gap) {
  const uint32_t stride = axon::npu_row_stride(shape.w, element_bytes) + gap;
  const Operand operand = operand_at(Source::kInterlayer, header.interlayer_bytes, shape,
                                     element_bytes, zero_point, stride);
  header.interlayer_bytes += axon::aligned(stride * shape.n * shape.c * shape.h, kSection);
  return operand;
}

Operand List::constant(const Tensor& tensor) {
  return operand_at(Source::kConstant, bytes(bytes_of(tensor)), tensor.shape, tensor.element_bytes,
                    tensor.zero_point, tensor.shape.w * tensor.element_bytes);
}

Operand List::variable(const Shape& shape, uint32_t element_bytes, int32_t zero_point) {
  const uint32_t stride = axon::npu_row_stride(shape.w, element_bytes);
  Operand operand = operand_at(Source::kPersistent, header.persistent_bytes, shape, element_bytes,
                               zero_point, stride);
  operand.index = static_cast<uint16_t>(variables.size());
  axon::VariableRecord record = {};
  record.offset = header.persistent_bytes;
  record.bytes = stride * shape.n * shape.c * shape.h;
  record.element_bytes = static_cast<uint8_t>(element_bytes);
  record.initial = zero_point;
  variables.push_back(record);
  header.persistent_bytes += axon::aligned(record.bytes, kSection);
  inputs.push_back(io_of(operand, axon::kNoProducer));
  outputs.push_back(io_of(operand, 0));
  return operand;
}

LayerRecord& List::layer(Operation operation, const std::vector<Operand>& from,
                         const Operand& output) {
  LayerRecord record = {};
  record.operation = operation;
  record.input_count = static_cast<uint8_t>(from.size());
  for (size_t i = 0; i < from.size() && i < axon::kLayerInputsMax; ++i) record.inputs[i] = from[i];
  record.output = output;
  record.kernel_h = record.kernel_w = 1;
  record.stride_y = record.stride_x = record.dilation_y = record.dilation_x = 1;
  record.weights = record.bias = record.multipliers = record.shifts = axon::kAbsent;
  record.attributes = axon::kAbsent;
  record.cycles = 10;
  layers.push_back(record);
  return layers.back();
}

Operand List::last() const {
  Operand operand = layers.back().output;
  operand.producer = static_cast<int16_t>(layers.size() - 1);
  return operand;
}

void List::output(const Operand& operand) {
  outputs.push_back(io_of(operand, static_cast<int16_t>(layers.size() - 1)));
}

std::vector<uint8_t> List::build() {
  set_dense_offsets(inputs);
  set_dense_offsets(outputs);
  constants.resize(axon::aligned(static_cast<uint32_t>(constants.size()), kSection));
  header.magic = axon::kMagic;
  header.version = axon::kVersion;
  header.header_bytes = sizeof(axon::Header);
  header.input_count = static_cast<uint8_t>(inputs.size());
  header.output_count = static_cast<uint8_t>(outputs.size());
  header.layer_count = static_cast<uint16_t>(layers.size());
  header.variable_count = static_cast<uint16_t>(variables.size());
  header.constant_bytes = static_cast<uint32_t>(constants.size());
  header.cycles = 0;
  for (const LayerRecord& layer : layers) header.cycles += layer.cycles;
  std::vector<uint8_t> all(sizeof header);
  header.io_offset = static_cast<uint32_t>(all.size());
  append(all, inputs);
  append(all, outputs);
  pad(all);
  header.variables_offset = static_cast<uint32_t>(all.size());
  append(all, variables);
  pad(all);
  header.layers_offset = static_cast<uint32_t>(all.size());
  append(all, layers);
  pad(all);
  header.constants_offset = static_cast<uint32_t>(all.size());
  append(all, constants);
  header.bytes = static_cast<uint32_t>(all.size());
  std::memcpy(all.data(), &header, sizeof header);
  header.content_hash = axon::content_hash(all.data(), header.bytes);
  std::memcpy(all.data(), &header, sizeof header);
  return all;
}

void scale(List& list, LayerRecord& layer, const std::vector<int32_t>& multipliers,
           const std::vector<uint8_t>& shifts) {
  layer.multipliers = list.ints(multipliers);
  layer.shifts = list.bytes(shifts);
  layer.scale_shift_count = static_cast<uint16_t>(shifts.size());
}

axon::Status check_bytes(const std::vector<uint8_t>& bytes) {
  const AlignedBytes data{ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  return axon::check(data.data(), static_cast<uint32_t>(data.size()));
}

std::vector<Tensor> execute(const std::vector<uint8_t>& bytes, const std::vector<Tensor>& inputs) {
  const AlignedBytes data{ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  const axon::Container container(data.data());
  const axon::Header header = container.header();
  const AlignedBytes interlayer(header.interlayer_bytes), persistent(header.persistent_bytes);
  std::memset(interlayer.data(), 0xA5, interlayer.size());
  std::memset(persistent.data(), 0x5A, persistent.size());
  std::vector<AlignedBytes> in, out;
  std::vector<const uint8_t*> in_data;
  std::vector<uint8_t*> out_data;
  for (const Tensor& tensor : inputs) {
    const std::vector<uint8_t> dense = bytes_of(tensor);
    in.emplace_back(ByteView(reinterpret_cast<const std::byte*>(dense.data()), dense.size()));
    in_data.push_back(in.back().data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    out.emplace_back(size_t{dense_bytes(container.output(i))});
    out_data.push_back(out.back().data());
  }
  axon::run({container, in_data.data(), out_data.data(), interlayer.data(), persistent.data()});
  std::vector<Tensor> results;
  for (uint32_t i = 0; i < header.output_count; ++i) {
    const axon::IoRecord io = container.output(i);
    Tensor tensor = {{io.n, io.c, io.h, io.w}, io.element_bytes, io.zero_point, {}};
    for (uint32_t at = 0; at < dense_bytes(io); at += io.element_bytes) {
      int32_t value = 0;  // sign-extended below
      std::memcpy(&value, out[i].data() + at, io.element_bytes);
      const uint32_t unused = 32 - 8 * uint32_t{io.element_bytes};
      tensor.values.push_back(static_cast<int32_t>(static_cast<uint32_t>(value) << unused) >>
                              unused);
    }
    results.push_back(tensor);
  }
  return results;
}

}  // namespace thimble::axon_test
