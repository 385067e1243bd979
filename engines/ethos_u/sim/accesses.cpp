// SPDX-License-Identifier: Apache-2.0
// Memory accesses of a whole operation.

#include "engines/ethos_u/sim/footprint.h"

namespace thimble::ethos_u::sim {
namespace {

uint32_t table_bytes_556(const KernelOperation& operation) {
  return operation.ofm.bits == 8 ? 256 : operation.ofm.bits == 16 ? 2048 : 1024;
}

uint32_t table_bytes_85(const KernelOperation& operation) {
  switch (static_cast<Activation85>(operation.activation)) {
    case Activation85::kU8ToU8:
    case Activation85::kI8ToI8:
      return 256;
    case Activation85::kI8ToI16:
      return 512;
    case Activation85::kI8ToI32:
      return 1024;
    default:
      return 2048;
  }
}

void add_strided(uint8_t region, uint64_t first, uint64_t run, SpanAxis outer, SpanAxis inner,
                 Footprint* footprint) {
  Span span;
  span.region = region;
  span.first = static_cast<int64_t>(first);
  span.run = static_cast<int64_t>(run);
  span.axis[0] = outer;
  span.axis[1] = inner;
  footprint->add(span);
}

/// Adds the rows that indices can address: all up to the largest index.
void add_indexed(const DmaOperation& dma, uint8_t region, uint64_t first, int64_t stride0,
                 int64_t stride1, Footprint* footprint) {
  add_strided(region, first, dma.length, {stride1, dma.size1},
              {stride0, uint64_t{dma.index_maximum} + 1}, footprint);
}

}  // namespace

bool uses_table(const Config& config, const KernelOperation& operation, uint32_t* address,
                uint32_t* bytes) {
  if (config.generation == Generation::kU85) {
    *bytes = table_bytes_85(operation);
    *address = operation.table * *bytes;
    return operation.activation != 0;
  }
  constexpr auto kFirst = static_cast<uint32_t>(Activation556::kTable0);
  if (operation.activation < kFirst) return false;
  *bytes = table_bytes_556(operation);
  *address = (operation.activation - kFirst) * 256;
  return true;
}

bool overwrites_tables(const Config& config, const KernelOperation& operation) {
  uint32_t address, bytes;
  return config.banks == 16 && !uses_table(config, operation, &address, &bytes);
}

uint64_t table_offset(const Config& config, uint64_t address) {
  if (config.generation == Generation::kU85) return address;
  const uint64_t start = uint64_t{config.banks} * 1024 - kLutBytes;
  return address >= start ? address - start : address;
}

void accesses_of(const Config& config, const KernelOperation& operation, Accesses* accesses) {
  Footprint& reads = accesses->reads;
  Footprint& writes = accesses->writes;
  reads.clear();
  writes.clear();
  if (operation.broadcast != 8) add_box(operation.ifm, whole(operation.ifm), &reads);
  if (operation.has_ifm2 && !operation.ifm2_scalar) {
    add_box(operation.ifm2, whole(operation.ifm2), &reads);
  }
  for (const Range& range : operation.weights) reads.add_range(range);
  for (const Range& range : operation.scales) reads.add_range(range);
  uint32_t address = 0, bytes = 0;
  if (uses_table(config, operation, &address, &bytes)) {
    reads.add_bytes(kTableRegion, address, bytes);
  }
  if (operation.accumulator_output) {
    add_box(operation.ofm, in_memory(operation, whole(operation.ofm)), &writes);
  }
  if (overwrites_tables(config, operation)) writes.add_bytes(kTableRegion, 0, kLutBytes);
}

void accesses_of(const Config& config, const DmaOperation& dma, Accesses* accesses) {
  Footprint& reads = accesses->reads;
  Footprint& writes = accesses->writes;
  reads.clear();
  writes.clear();
  const uint64_t source = dma.source_internal ? table_offset(config, dma.source) : dma.source;
  const uint64_t destination =
      dma.destination_internal ? table_offset(config, dma.destination) : dma.destination;
  const uint8_t from = dma.source_internal ? kTableRegion : dma.source_region;
  const uint8_t to = dma.destination_internal ? kTableRegion : dma.destination_region;
  const uint64_t rows = dma.dimensions > 1 || dma.gather || dma.scatter ? dma.size0 : 1;
  const uint64_t planes = dma.dimensions > 2 ? dma.size1 : 1;
  if (dma.gather) {
    add_indexed(dma, from, source, dma.source_stride0, dma.source_stride1, &reads);
  } else {
    add_strided(from, source, dma.length, {dma.source_stride1, planes}, {dma.source_stride0, rows},
                &reads);
  }
  if (dma.scatter) {
    add_indexed(dma, to, destination, dma.destination_stride0, dma.destination_stride1, &writes);
  } else {
    add_strided(to, destination, dma.length, {dma.destination_stride1, planes},
                {dma.destination_stride0, rows}, &writes);
  }
  if (dma.gather || dma.scatter) {
    const auto row_bytes = static_cast<int64_t>(4 * rows);
    add_strided(dma.index_region, dma.index, 4 * rows, {row_bytes + dma.index_skip, planes}, {},
                &reads);
  }
}

}  // namespace thimble::ethos_u::sim
