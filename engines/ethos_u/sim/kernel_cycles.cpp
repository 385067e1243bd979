// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/kernel_cycles.h"

#include "engines/ethos_u/sim/jobs.h"

namespace thimble::ethos_u::sim {
namespace {

#define ETHOS_U_TIMING(name, value, source) [[maybe_unused]] constexpr double name = value;
#include "engines/ethos_u/sim/timing.def"

struct OutputRate {
  const char* config;
  double unary32, binary32, mul32, mul, add, max_pool, other, table;
};
constexpr OutputRate kOutputRates[] = {
#define ETHOS_U_OUTPUT_RATE(config, u32, b32, m32, mul, add, pool, other, table) \
  {config, u32, b32, m32, mul, add, pool, other, table},
#include "engines/ethos_u/sim/timing.def"
};
struct OutputRate85 {
  const char* config;
  double ofm8, ofm16, ofm32, narrow32, binary32, plain, swapped;
};
constexpr OutputRate85 kOutputRates85[] = {
#define ETHOS_U_OUTPUT_RATE85(config, o8, o16, o32, n32, b32, plain, swapped) \
  {config, o8, o16, o32, n32, b32, plain, swapped},
#include "engines/ethos_u/sim/timing.def"
};

template <typename Row, uint32_t kCount>
const Row& row_of(const Row (&rows)[kCount], const char* config) {
  for (const Row& row : rows) {
    if (same_text(row.config, config)) return row;
  }
  return rows[0];
}

double larger(double a, double b) {
  return a > b ? a : b;
}
double smaller(double a, double b) {
  return a < b ? a : b;
}
uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
double pieces(uint32_t size, uint32_t step) {
  const uint32_t count = (size + step - 1) / step;
  return count;
}

bool is_pool(const KernelOperation& operation, PoolMode mode) {
  return operation.code == Operation::POOL && operation.mode == static_cast<uint16_t>(mode);
}
bool is_elementwise(const KernelOperation& operation, ElementwiseMode mode) {
  return operation.code == Operation::ELEMENTWISE && operation.mode == static_cast<uint16_t>(mode);
}
bool second_map(const KernelOperation& operation) {
  return operation.has_ifm2 && !operation.ifm2_scalar;
}

/// Returns the microblock in use. 2x2 becomes 1x4 if the OFM has one row of even width.
Microblocks steps_of(const Config& config, const KernelOperation& operation) {
  Microblocks block = microblock_of(config, operation);
  if (config.generation != Generation::kU85 && block.height == 2 &&
      operation.code == Operation::CONV && operation.ofm.height == 1 &&
      operation.ofm.width % 2 == 0 && operation.kernel.height == 1) {
    block.height = 1;
    block.width = 4;
  }
  return block;
}

struct BlockSteps {
  double positions, depths;  // number of microblocks
};

double weights_per_cycle(const Config& config, const KernelOperation& operation) {
  if (!operation.fast_weights) {
    return kWeightsPerCycle * (config.generation == Generation::kU85 ? config.cores : 1);
  }
  // Weights of two or four bits are indices into the LUT of the stream; weights of eight bits are
  // raw.
  const double weights = double(operation.kernel.height) * operation.kernel.width *
                         operation.ifm.depth * operation.ofm.depth;
  const double bits = 8.0 * static_cast<double>(operation.weights[0].length) / weights;
  return bits > 6 ? kFastRawWeightsPerCycle : kFastWeightsPerCycle;
}

/// Returns the cycles lost when a block is a single microblock and must wait for its accumulator.
double delay_of(const Config& config, const KernelOperation& operation, const BlockSteps& steps,
                double kernel_steps) {
  if (steps.positions > 1) return 0;
  const bool wide = operation.accumulator == static_cast<uint8_t>(Accumulator::kI40);
  const double delay = config.macs == 32            ? (wide ? kDelaySmallWide : kDelaySmall)
                       : wide && config.macs <= 128 ? kDelayWide
                                                    : kDelay;
  if (steps.depths == 1) return delay * kernel_steps;
  return kernel_steps > 1 ? delay * (kernel_steps - 1) * steps.depths : 0;
}

/// Returns the MAC cycles of a block for a sub-kernel of `elements` elements.
double piece_cycles(const Config& config, const KernelOperation& operation,
                    const Microblocks& microblock, const BlockSteps& steps, uint32_t slice,
                    double elements) {
  const double bits = operation.ifm.bits;
  const double weights = 32.0 * microblock.depth / weights_per_cycle(config, operation);
  if (operation.code == Operation::POOL && !is_pool(operation, PoolMode::kReduceSum)) {
    const double width = config.macs == 32 ? 1 : bits / 8;
    const double cycles = larger(kStepCycles, elements) * steps.positions * steps.depths;
    // Four elements of a window are processed at a time. Vela's factor bits / 2 equals kStepCycles
    // * bits / 8.
    return cycles * width * (config.macs == 32 ? 1 : kStepCycles) +
           delay_of(config, operation, steps, 1);
  }
  if (operation.code == Operation::DEPTHWISE) {
    const double kernel_steps = pieces(static_cast<uint32_t>(elements), 4);
    const double cycles = larger(weights, kStepCycles * steps.positions * bits / 8);
    return cycles * kernel_steps * steps.depths + delay_of(config, operation, steps, kernel_steps);
  }
  const double half = operation.sparse ? 2 : 1;
  if (operation.kernel.part_kernel_first && operation.code == Operation::CONV) {
    const double kernel_steps = pieces(static_cast<uint32_t>(elements), bits == 16 ? 2 : 4);
    const double eighths = pieces(slice, 8);
    return (larger(weights, kStepCycles * steps.positions) * kernel_steps * steps.depths / half +
            delay_of(config, operation, steps, kernel_steps)) *
           eighths;
  }
  const bool u85 = config.generation == Generation::kU85;
  const uint32_t eight_channels = slice / 8;
  const double step = (u85 ? eight_channels : kStepCycles) * steps.positions;
  return larger(weights, step) * elements * steps.depths * (u85 ? bits / 8 : 1) / half +
         delay_of(config, operation, steps, elements);
}

double multiply_cycles(const Config& config, const KernelOperation& operation) {
  if (operation.code == Operation::ELEMENTWISE || operation.code == Operation::RESIZE) return 0;
  const FeatureMap& ofm = operation.ofm;
  const Microblocks microblock = steps_of(config, operation);
  const BlockSteps steps = {
      pieces(least(operation.block_width, ofm.width), microblock.width) *
          pieces(least(operation.block_height, ofm.height), microblock.height),
      pieces(least(operation.block_depth, ofm.depth), microblock.depth)};
  const bool mixes = operation.code == Operation::CONV || is_pool(operation, PoolMode::kReduceSum);
  const uint32_t slice = mixes ? least(ifm_slice_depth(config, operation), operation.ifm.depth)
                               : least(operation.block_depth, ofm.depth);
  constexpr auto kPiece = static_cast<uint32_t>(kSubKernel);
  double cycles = 0;
  for (uint32_t y = 0; y < operation.kernel.height; y += kPiece) {
    for (uint32_t x = 0; x < operation.kernel.width; x += kPiece) {
      const uint32_t elements =
          least(operation.kernel.height - y, kPiece) * least(operation.kernel.width - x, kPiece);
      cycles += piece_cycles(config, operation, microblock, steps, slice, elements);
    }
  }
  if (mixes) cycles *= pieces(operation.ifm.depth, slice);
  return config.generation == Generation::kU85 ? cycles : cycles / operation.cores;
}

double output_rate_556(const Config& config, const KernelOperation& operation) {
  const OutputRate& rate = row_of(kOutputRates, config.name);
  const bool elementwise = operation.code == Operation::ELEMENTWISE;
  const bool mul = is_elementwise(operation, ElementwiseMode::kMul);
  double cycles = rate.other;
  if (elementwise && operation.ifm.bits == 32) {
    cycles = operation.has_ifm2 ? rate.binary32 : rate.unary32;
  } else if (mul && operation.ofm.bits == 32) {
    cycles = rate.mul32;
  } else if (mul ||
             (!elementwise && operation.accumulator == static_cast<uint8_t>(Accumulator::kI40))) {
    cycles = rate.mul;
  } else if (is_elementwise(operation, ElementwiseMode::kAdd) ||
             is_elementwise(operation, ElementwiseMode::kSub)) {
    cycles = rate.add;
  } else if (is_pool(operation, PoolMode::kMax)) {
    cycles = rate.max_pool;
  }
  return operation.activation != 0 ? larger(cycles, rate.table) : cycles;
}

double output_rate_85(const Config& config, const KernelOperation& operation) {
  if (is_elementwise(operation, ElementwiseMode::kDiv)) return kDivideCycles;
  const OutputRate85& rate = row_of(kOutputRates85, config.name);
  const bool wide_in = operation.ifm.bits == 32;
  double cycles = operation.ofm.bits == 32   ? rate.ofm32
                  : operation.ofm.bits == 16 ? rate.ofm16
                                             : rate.ofm8;
  if (operation.ofm.storage == Storage::kChained && (wide_in || operation.ofm.bits == 32)) {
    cycles = rate.narrow32;
  } else if (operation.code == Operation::ELEMENTWISE && operation.has_ifm2 && wide_in) {
    cycles = operation.ofm.bits == 32 ? rate.binary32 : rate.narrow32;
  }
  const Transpose transpose = operation.transpose;
  const bool swapped = transpose == Transpose::kWhc || transpose == Transpose::kWch ||
                       transpose == Transpose::kCwh || operation.reverse == Reverse::kW;
  if (swapped) return larger(cycles, rate.swapped);
  const bool further = operation.activation != 0 || transpose != Transpose::kHwc ||
                       operation.reverse != Reverse::kNone;
  return further ? larger(cycles, rate.plain) : cycles;
}

const MemoryTiming& memory_of(const System& system, uint32_t port) {
  return port == 0 ? system.sram : system.external;
}

/// Access pattern of a map: block by block, through the whole map.
struct AccessPattern {
  bool read;
  uint32_t width, depth;  // of a block
  uint32_t cores = 1;
};

/// Returns the number of consecutive bytes in one access. The output stage writes rows of 16
/// channels.
uint32_t run_of(const FeatureMap& map, const AccessPattern& walk) {
  const uint32_t elem = map.bits / 8U;
  const uint32_t depth = least(walk.depth, map.depth);
  const uint32_t width = least(walk.width, map.width);
  if (map.format == Format::kNhcwb16) return 16 * elem * width;
  const bool dense = map.stride_x == static_cast<int64_t>(depth) * elem;
  if (dense && (walk.read || depth <= 16)) return depth * elem * width;
  if (walk.read) return depth * elem;
  return least(least(static_cast<uint32_t>(kRowWriteMost), 16 * elem * walk.cores), depth * elem);
}

/// Returns the bytes that bursts transfer per byte used.
double burst_waste(const FeatureMap& map, const MemoryTiming& memory, const AccessPattern& walk) {
  const uint32_t whole = run_of(map, walk);
  const uint32_t run = whole < kBeat ? static_cast<uint32_t>(kBeat) : whole;
  return run >= memory.burst ? 1.0 : double(memory.burst) / run;
}

/// Counts the rows (or columns) of the IFM that all blocks read; overlaps count repeatedly.
double rows_read(uint32_t ofm, uint32_t block, uint32_t stride, uint32_t size, uint32_t pad,
                 Upscale upscale, uint32_t ifm) {
  double sum = 0;
  for (uint32_t at = 0; at < ofm; at += block) {
    const int64_t end = ofm - at < block ? ofm : at + block;
    int64_t low = int64_t{at} * stride - pad;
    int64_t high = (end - 1) * stride - pad + size;
    if (upscale != Upscale::kNone) low /= 2, high = (high + 1) / 2;
    if (low < 0) low = 0;
    if (high > int64_t{ifm}) high = ifm;
    if (high > low) sum += static_cast<double>(high - low);
  }
  return sum;
}

double ifm_elements(const KernelOperation& operation) {
  const FeatureMap& ifm = operation.ifm;
  const Kernel& kernel = operation.kernel;
  if (operation.code == Operation::ELEMENTWISE || operation.code == Operation::RESIZE) {
    return double(ifm.height) * ifm.width * ifm.depth;
  }
  const double rows = rows_read(operation.ofm.height, operation.block_height, kernel.stride_y,
                                (kernel.height - 1) * kernel.dilation_y + 1, kernel.pad_top,
                                operation.upscale, ifm.height);
  const double columns = rows_read(operation.ofm.width, operation.block_width, kernel.stride_x,
                                   (kernel.width - 1) * kernel.dilation_x + 1, kernel.pad_left,
                                   operation.upscale, ifm.width);
  const bool mixes = operation.code == Operation::CONV || is_pool(operation, PoolMode::kReduceSum);
  const double again = mixes ? pieces(operation.ofm.depth, operation.block_depth) : 1;
  return rows * columns * ifm.depth * again;
}

bool in_memory(const FeatureMap& map) {
  return map.storage != Storage::kChained && map.storage != Storage::kNone;
}

void add_map(const System& system, MemoryMode mode, const FeatureMap& map, double elements,
             const AccessPattern& walk, PortBytes* bytes) {
  if (!in_memory(map)) return;
  const uint32_t port = port_of(mode, map.region);
  const uint32_t element_bytes = map.bits / 8;
  bytes->of[port] += elements * element_bytes * burst_waste(map, memory_of(system, port), walk);
}

AccessPattern ifm_access_pattern(const Config& config, const KernelOperation& operation) {
  const uint32_t slice = operation.code == Operation::CONV ? ifm_slice_depth(config, operation)
                                                           : operation.block_depth;
  return {true, operation.block_width * operation.kernel.stride_x, slice};
}
AccessPattern ofm_access_pattern(const KernelOperation& operation) {
  return {false, operation.block_width, operation.block_depth, operation.cores};
}

void add_traffic(const Config& config, const System& system, MemoryMode mode,
                 const KernelOperation& operation, KernelCycles* cycles) {
  const FeatureMap& ofm = operation.ofm;
  if (operation.broadcast != 8) {
    add_map(system, mode, operation.ifm, ifm_elements(operation),
            ifm_access_pattern(config, operation), &cycles->read);
  }
  if (second_map(operation)) {
    const FeatureMap& map = operation.ifm2;
    add_map(system, mode, map, double(map.height) * map.width * map.depth,
            {true, operation.block_width, operation.block_depth}, &cycles->read);
  }
  if (operation.accumulator_output) {
    add_map(system, mode, ofm, double(ofm.height) * ofm.width * ofm.depth,
            ofm_access_pattern(operation), &cycles->written);
  }
  const double again =
      pieces(ofm.height, operation.block_height) * pieces(ofm.width, operation.block_width);
  for (const Range& range : operation.weights) {
    cycles->read.of[port_of(mode, range.region)] += again * static_cast<double>(range.length);
  }
  for (const Range& range : operation.scales) {
    cycles->read.of[port_of(mode, range.region)] += again * static_cast<double>(range.length);
  }
}

/// Returns the latency and transfer cycles of one block of a map.
double block_transfer(const System& system, MemoryMode mode, const FeatureMap& map, double elements,
                      const AccessPattern& walk) {
  if (!in_memory(map)) return 0;
  const MemoryTiming& memory = memory_of(system, port_of(mode, map.region));
  const uint32_t element_bytes = map.bits / 8;
  return (walk.read ? memory.read_latency : memory.write_latency) +
         elements * element_bytes * burst_waste(map, memory, walk) / memory.bytes_per_cycle;
}

}  // namespace

uint32_t port_of(MemoryMode mode, uint8_t region) {
  if (mode == MemoryMode::kSramOnly) return 0;
  if (region == 0) return 1;
  return mode == MemoryMode::kDedicatedSram && region != 2 ? 1 : 0;
}

double KernelCycles::compute() const {
  return larger(larger(multiply, output), issue) * blocks;
}

KernelCycles kernel_cycles(const Config& config, const System& system, MemoryMode mode,
                           const KernelOperation& operation) {
  KernelCycles cycles;
  const FeatureMap& ofm = operation.ofm;
  const uint32_t height = least(operation.block_height, ofm.height);
  const uint32_t width = least(operation.block_width, ofm.width);
  const uint32_t depth = least(operation.block_depth, ofm.depth);
  const double elements = double(height) * width * depth;
  const double rate = config.generation == Generation::kU85 ? output_rate_85(config, operation)
                                                            : output_rate_556(config, operation);
  cycles.multiply = multiply_cycles(config, operation);
  cycles.output = rate * elements;
  if (operation.scales[0].length != 0) {
    const MemoryTiming& memory = memory_of(system, port_of(mode, operation.scales[0].region));
    cycles.output = larger(cycles.output, kScaleRecord * depth * memory.read_latency / kScaleBurst);
  }
  const Microblocks step = steps_of(config, operation);
  const double steps =
      pieces(height, step.height) * pieces(width, step.width) * pieces(depth, step.depth);
  cycles.blocks = pieces(ofm.height, step.height) * pieces(ofm.width, step.width) *
                  pieces(ofm.depth, step.depth) / steps;
  add_traffic(config, system, mode, operation, &cycles);
  const bool mixes = operation.code == Operation::CONV;
  const double ifm_block = ifm_elements(operation) / pieces(ofm.height, operation.block_height) /
                           pieces(ofm.width, operation.block_width) /
                           pieces(ofm.depth, operation.block_depth);
  const AccessPattern walk = ifm_access_pattern(config, operation);
  const double first = mixes ? smaller(1, double(walk.depth) / operation.ifm.depth) : 1;
  cycles.fill = operation.broadcast == 8
                    ? 0
                    : block_transfer(system, mode, operation.ifm, ifm_block * first, walk);
  const double write = block_transfer(system, mode, ofm, elements, ofm_access_pattern(operation));
  const double difference = cycles.fill > write ? cycles.fill - write : write - cycles.fill;
  cycles.issue =
      ((cycles.blocks > 1 ? difference : 0) + cycles.multiply + cycles.output) / kIssueOverlap;
  if (operation.code == Operation::ELEMENTWISE) {
    cycles.issue = (larger(cycles.fill, write) + cycles.output) / kIssueOverlap;
  }
  cycles.drain = smaller(cycles.multiply, cycles.output) + write;
  const bool macs = operation.code == Operation::CONV || operation.code == Operation::DEPTHWISE;
  cycles.macs = !macs ? 0
                      : uint64_t{operation.kernel.height} * operation.kernel.width * ofm.height *
                            ofm.width * ofm.depth * (mixes ? operation.ifm.depth : 1);
  return cycles;
}

DmaCycles dma_cycles(const System& system, MemoryMode mode, const DmaOperation& operation) {
  DmaCycles cycles;
  const double bytes = static_cast<double>(operation.length) * operation.size0 * operation.size1;
  double read = 0, write = 0;
  if (!operation.source_internal) {
    const uint32_t port = port_of(mode, operation.source_region);
    cycles.read.of[port] += bytes;
    read = memory_of(system, port).read_latency;
  }
  if (!operation.destination_internal) {
    const uint32_t port = port_of(mode, operation.destination_region);
    cycles.written.of[port] += bytes;
    write = memory_of(system, port).write_latency;
  }
  cycles.latency = larger(read, write);  // the first write follows the first read
  return cycles;
}

}  // namespace thimble::ethos_u::sim
