// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/formats/payload.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "engines/ethos_u/container/payload.h"

namespace thimble::formats::ethos_u {
namespace {

namespace abi = thimble::abi::ethos_u;

constexpr size_t kRank = 6;

/// Appends a number of a table; the format stores 31 bits and a sign for each number.
Status append_number(Bytes& bytes, std::string_view what, int64_t value) {
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
    return unsupported("EthosUBackend payload: {} {} does not fit 31 bits", what, value);
  }
  append_le(bytes, static_cast<uint32_t>(value));
  return ok();
}

Result<Bytes> table_of(std::string_view what, const std::vector<PayloadTensor>& tensors) {
  Bytes table;
  if (tensors.size() > abi::kIoMax) {
    return unsupported("EthosUBackend payload: {} {}, at most {}", tensors.size(), what,
                       abi::kIoMax);
  }
  append_le(table, static_cast<uint32_t>(tensors.size()));
  for (const PayloadTensor& tensor : tensors) {
    if (tensor.shape.size() > kRank) {
      return unsupported("EthosUBackend payload: {} of {} dimensions, at most {}", what,
                         tensor.shape.size(), kRank);
    }
    for (size_t i = tensor.shape.size(); i < kRank; ++i) append_le(table, uint32_t{1});
    for (const int64_t size : tensor.shape) THIMBLE_CHECK(append_number(table, "a size of", size));
    THIMBLE_CHECK(append_number(table, "an element size of", tensor.element_bytes));
    THIMBLE_CHECK(append_number(table, "an offset of", tensor.offset));
    THIMBLE_CHECK(append_number(table, "a region of", tensor.region));
  }
  return table;
}

void append_block(Bytes& bytes, abi::Block block, ByteView content, bool external) {
  const auto* const name =
      reinterpret_cast<const std::byte*>(abi::kBlockNames[static_cast<size_t>(block)]);
  bytes.insert(bytes.end(), name, name + abi::kNameBytes);
  append_le(bytes, static_cast<uint32_t>(content.size()));
  append_le(bytes, uint8_t{external});
  bytes.resize(bytes.size() + abi::kHeaderBytes - abi::kExternalOffset - 1);
  append(bytes, content);
  bytes.resize((bytes.size() + abi::kPayloadAlignment - 1) / abi::kPayloadAlignment *
               abi::kPayloadAlignment);
}

Status append_data(Bytes& bytes, abi::Block block, const Bytes& data,
                   const std::optional<std::string>& key) {
  if (key && key->size() != abi::kKeyBytes) {
    return bad_input("EthosUBackend payload: a key of {} characters, expected {}", key->size(),
                     abi::kKeyBytes);
  }
  if (data.size() > std::numeric_limits<int32_t>::max()) {
    return unsupported("EthosUBackend payload: {} bytes of data, at most 2 GiB", data.size());
  }
  append_block(bytes, block, key ? as_byte_view(*key) : ByteView(data), key.has_value());
  return ok();
}

std::vector<PayloadTensor> tensors_of(const abi::IoTable& table) {
  std::vector<PayloadTensor> tensors;
  for (uint32_t i = 0; i < table.count; ++i) {
    const abi::IoEntry entry = table.entry(i);
    PayloadTensor tensor;
    tensor.shape.assign(std::begin(entry.shape), std::end(entry.shape));
    tensor.element_bytes = entry.element_bytes;
    tensor.offset = entry.offset;
    tensor.region = entry.region;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void take_data(const abi::BlockContent& piece, Bytes& data, std::optional<std::string>& key) {
  const auto* const first = reinterpret_cast<const std::byte*>(piece.data);
  const ByteView content(first, piece.bytes);
  if (piece.external) {
    key = std::string(as_text(content));
  } else {
    data.assign(content.begin(), content.end());
  }
}

}  // namespace

Result<Bytes> write_payload(const EthosUPayload& payload) {
  Bytes bytes;
  append_block(bytes, abi::Block::kBegin, {}, false);
  THIMBLE_CHECK(append_data(bytes, abi::Block::kCommands, payload.commands, payload.commands_key));
  THIMBLE_CHECK(append_data(bytes, abi::Block::kWeights, payload.weights, payload.weights_key));
  Bytes scratch;
  THIMBLE_CHECK(append_number(scratch, "scratch of", payload.scratch_bytes));
  append_block(bytes, abi::Block::kScratch, scratch, false);
  THIMBLE_TRY(const Bytes inputs, table_of("inputs", payload.inputs));
  append_block(bytes, abi::Block::kInputs, inputs, false);
  THIMBLE_TRY(const Bytes outputs, table_of("outputs", payload.outputs));
  append_block(bytes, abi::Block::kOutputs, outputs, false);
  append_block(bytes, abi::Block::kEnd, {}, false);
  return bytes;
}

Result<EthosUPayload> read_payload(ByteView bytes) {
  // The device's reader requires this alignment.
  struct alignas(abi::kPayloadAlignment) Block {
    std::byte bytes[abi::kPayloadAlignment];
  };
  if (bytes.size() > std::numeric_limits<int32_t>::max()) {
    return bad_input("EthosUBackend payload: {} bytes, expected less than 2 GiB", bytes.size());
  }
  std::vector<Block> copy(bytes.size() / sizeof(Block) + 1);
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  abi::PayloadView view;
  const auto* const data = reinterpret_cast<const uint8_t*>(copy.data());
  if (abi::read_payload(data, static_cast<uint32_t>(bytes.size()), view) !=
      thimble::abi::Status::kOk) {
    return bad_input("EthosUBackend payload: {} bytes are not a valid payload of seven blocks",
                     bytes.size());
  }
  EthosUPayload payload;
  take_data(view.commands, payload.commands, payload.commands_key);
  take_data(view.weights, payload.weights, payload.weights_key);
  payload.scratch_bytes = view.scratch_bytes;
  payload.inputs = tensors_of(view.inputs);
  payload.outputs = tensors_of(view.outputs);
  return payload;
}

std::string external_key(std::string_view tag, ByteView data) {
  Bytes all;
  append(all, as_byte_view(tag));
  all.push_back(std::byte{0});
  append(all, data);
  return sha256(all);
}

}  // namespace thimble::formats::ethos_u
