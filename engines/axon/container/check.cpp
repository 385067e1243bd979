// SPDX-License-Identifier: Apache-2.0
// Checks the whole container except its hash; texts of the statuses.

#include "engines/axon/container/check_layer.h"
#include "engines/axon/container/layers.h"

namespace thimble::axon {

Status check(const uint8_t* data, uint32_t bytes, uint32_t& layer) {
  layer = kAbsent;
  Status status = check_interface(data, bytes);
  if (status != Status::kOk) return status;
  const Container container(data);
  const Header header = container.header();
  uint32_t cycles = 0;
  for (uint32_t i = 0; i < header.layer_count && status == Status::kOk; ++i) {
    status = check_layer(container, header, i);
    cycles += container.layer(i).cycles;
    if (status != Status::kOk) layer = i;
  }
  if (status != Status::kOk) return status;
  return cycles == header.cycles ? Status::kOk : Status::kBadHeader;
}

Status check(const uint8_t* data, uint32_t bytes) {
  uint32_t layer;
  return check(data, bytes, layer);
}

uint64_t content_hash(const uint8_t* data, uint32_t bytes) {
  constexpr uint64_t kBasis = 0xCBF29CE484222325;
  constexpr uint64_t kPrime = 0x100000001B3;
  constexpr uint32_t kAt = offsetof(Header, content_hash);
  uint64_t hash = kBasis;
  for (uint32_t i = 0; i < bytes; ++i) {
    const bool own = i - kAt < sizeof(Header::content_hash);
    hash = (hash ^ (own ? 0 : data[i])) * kPrime;
  }
  return hash;
}

const char* status_text(Status status) {
  switch (status) {
#define AXON_STATUS(name, number, text) \
  case Status::k##name:                 \
    return text;
#include "engines/axon/container/status.def"
#undef AXON_STATUS
  }
  return "unknown status";
}

}  // namespace thimble::axon
