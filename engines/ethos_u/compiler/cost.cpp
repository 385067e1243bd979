// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/cost.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::find_row;
using thimble::ethos_u::kOutputCycles556;
using thimble::ethos_u::kOutputCycles85;
using thimble::ethos_u::MemoryTiming;

const MemoryTiming& timing(const System& system, Memory memory) {
  return memory == Memory::kSram ? system.sram : system.external;
}

bool is_plain_pool(const OpShape& shape) {
  return shape.kind == NpuOpKind::kPool && !shape.is_reduce_sum();
}

/// Fraction of a kernel's first read and last write that does not overlap with neighbouring
/// kernels.
constexpr double kExposedShare = 0.7;
/// Part of that which adds to the cycles of a kernel that the SRAM limits.
constexpr double kExposedToTransfers = 0.7;
/// U65 and U85, from Vela's estimate: outstanding bursts, and the usable fraction of their
/// bandwidth.
constexpr double kRecordBursts = 2, kMapBursts = 16, kManyMapBursts = 32, kBurstShare = 0.8;
constexpr int64_t kRecordBytes = 10;

/// Returns the cycles to read bytes of the external memory with `bursts` outstanding bursts.
double waited_cycles(const System& system, double bytes, double bursts) {
  const MemoryTiming& memory = system.external;
  return bytes / std::min(memory.bytes_per_cycle,
                          kBurstShare * bursts * memory.burst / memory.read_latency);
}

class Model {
 public:
  Model(const Config& config, const System& system, const OpShape& shape, const Block& block,
        const OperandStorage& storage)
      : config_(config), system_(system), shape_(shape), block_(block), storage_(storage) {
    u85_ = config.generation == Generation::kU85;
    unit_ = block.microblock;
    // A single row of even width is computed four columns at a time.
    const bool conv = shape.kind == NpuOpKind::kConv;
    if (!u85_ && unit_.height == 2 && conv && shape.ofm.h == 1 && shape.ofm.w % 2 == 0 &&
        shape.window.kernel_h == 1) {
      unit_ = {1, 4, unit_.depth};
    }
    h_ = std::min(shape.ofm.h, block.h);
    w_ = std::min(shape.ofm.w, block.w);
    d_ = std::min(shape.ofm.c, block.d);
    ifm_h_ = std::min(shape.ifm.h, block.ifm_h);
    ifm_w_ = std::min(shape.ifm.w, block.ifm_w);
    ifm_d_ = std::min(shape.ifm.c, block.ifm_d);
  }

  KernelCost cost() {
    KernelCost result;
    shape_.kind == NpuOpKind::kElementwise ? elementwise(&result) : blocks(&result);
    memory(&result);
    result.latency_penalty = latency_penalty();
    return result;
  }

 private:
  /// Returns the MAC cycles of one block for one sub-kernel (at most 8x8).
  [[nodiscard]] double sub_kernel(int64_t elements) const {
    const int64_t across = divide_up(h_, unit_.height) * divide_up(w_, unit_.width);
    const int64_t deep = divide_up(d_, unit_.depth);
    const int64_t bytes = shape_.ifm_bits / 8;
    const int64_t rate = shape_.fast_rate > 0 ? shape_.fast_rate : 8 * (u85_ ? config_.cores : 1);
    const int64_t decode = 32 * unit_.depth / rate;
    const int64_t half = shape_.sparse ? 2 : 1;
    int64_t steps = 1, cycles = 0;
    if (is_plain_pool(shape_)) {
      cycles = std::max<int64_t>(4, elements) * across * deep;
      if (config_.macs != 32) cycles = cycles * shape_.ifm_bits / 2;
    } else if (shape_.kind == NpuOpKind::kDepthwise) {
      steps = divide_up(elements, 4);
      cycles = std::max(decode, 4 * across * bytes) * steps * deep;
    } else if (block_.part_kernel_first) {
      steps = divide_up(elements, shape_.ifm_bits == 16 ? 2 : 4);
      cycles = std::max(decode, 4 * across) * steps * deep / half * divide_up(ifm_d_, 8);
    } else if (u85_) {
      steps = elements;
      cycles = std::max(decode, ifm_d_ / 8 * across) * steps * deep * bytes / half;
    } else {
      steps = elements;
      cycles = std::max(decode, 4 * across) * steps * deep;
    }
    return static_cast<double>(cycles + delay(steps, across, deep));
  }

  /// Returns the wait cycles of consecutive microblocks that use the same accumulators.
  [[nodiscard]] int64_t delay(int64_t steps, int64_t across, int64_t deep) const {
    const bool smallest = !u85_ && config_.macs == 32;
    const bool wide = shape_.wide_accumulator;
    int64_t each = wide && config_.macs <= 128 ? 3 : 2;
    if (smallest) each = wide ? 7 : 3;
    int64_t cycles = 0;
    if (across == 1) {
      if (deep == 1) {
        cycles = each * steps;
      } else if (steps > 1) {
        cycles = each * (steps - 1) * deep;
      }
    }
    if (smallest && wide && deep > 1 && (h_ == 1 || w_ == 1)) cycles += each * deep;
    const bool repeats = shape_.kind == NpuOpKind::kConv && block_.part_kernel_first;
    return repeats ? cycles * divide_up(ifm_d_, 8) : cycles;
  }

  [[nodiscard]] double multiply() const {
    if (shape_.kind == NpuOpKind::kResize) return 0;
    double cycles = 0;
    const Window& window = shape_.window;
    for (int64_t y = 0; y < window.kernel_h; y += 8) {
      for (int64_t x = 0; x < window.kernel_w; x += 8) {
        cycles += sub_kernel(std::min<int64_t>(8, window.kernel_h - y) *
                             std::min<int64_t>(8, window.kernel_w - x));
      }
    }
    if (shape_.kind == NpuOpKind::kConv || shape_.is_reduce_sum()) {
      cycles *= static_cast<double>(divide_up(shape_.ifm.c, ifm_d_));
    }
    return u85_ ? cycles : cycles / config_.cores;
  }

  [[nodiscard]] double output_per_element() const {
    if (u85_) {
      const auto& row = *find_row(kOutputCycles85, config_.name);
      double cycles = shape_.ofm_bits == 8    ? row.ofm8
                      : shape_.ofm_bits == 16 ? row.ofm16
                      : shape_.ofm_bits == 32 ? row.ofm32
                                              : row.ofm64;
      if (shape_.kind == NpuOpKind::kElementwise) {
        if (shape_.elementwise == ElementwiseMode::kDiv) return 33;
        if ((shape_.binary || shape_.scalar) && shape_.ifm_bits == 32) {
          cycles = shape_.ofm_bits == 32 ? row.binary32 : row.narrowed32;
        }
      }
      const double moved = shape_.swapped ? 2 * row.table : row.table;
      return shape_.table || shape_.transposed ? std::max(cycles, moved) : cycles;
    }
    const auto& row = *find_row(kOutputCycles556, config_.name);
    double cycles = row.other;
    if (shape_.kind == NpuOpKind::kElementwise) {
      const bool add = shape_.elementwise == ElementwiseMode::kAdd ||
                       shape_.elementwise == ElementwiseMode::kSub;
      const bool mul = shape_.elementwise == ElementwiseMode::kMul;
      if (shape_.ifm_bits == 32) {
        cycles = shape_.binary || shape_.scalar ? row.binary32 : row.unary32;
      } else if (mul) {
        cycles = shape_.ofm_bits == 32 ? row.mul32 : row.mul;
      } else if (add) {
        cycles = row.add;
      }
    } else if (shape_.wide_accumulator) {
      cycles = row.mul;
    } else if (is_plain_pool(shape_) && shape_.pool == PoolMode::kMax) {
      cycles = row.max_pool;
    }
    return shape_.table ? std::max(cycles, row.table) : cycles;
  }

  /// Returns the bytes for which the memory is busy, including the waste of short bursts.
  [[nodiscard]] double transfer(bool reading, Memory memory, Format format, int bits,
                                const Shape4& block, const Shape4& map, double elements,
                                bool dense = true) const {
    const int64_t bytes = bits / 8;
    int64_t burst = 0;
    if (format == Format::kNhcwb16) {
      burst = 16 * bytes * block.w;
    } else if (dense && map.c * bytes == block.c && (reading || block.c <= 16)) {
      burst = bytes * block.w * block.c;
    } else {
      burst = bytes * block.c;
      if (!reading) burst = std::min<int64_t>({64, 16 * bytes, burst});
    }
    const int64_t longest = timing(system_, memory).burst;
    burst = std::clamp<int64_t>(burst, 1, longest);
    return elements * static_cast<double>(bytes) * static_cast<double>(longest) /
           static_cast<double>(burst);
  }

  [[nodiscard]] Shape4 ifm_block() const { return {ifm_h_, ifm_w_, ifm_d_}; }
  [[nodiscard]] Shape4 ofm_block() const { return {h_, w_, d_}; }

  [[nodiscard]] double read_block() const {
    const MemoryTiming& memory = timing(system_, storage_.ifm);
    const auto elements = static_cast<double>(ifm_block().elements());
    return memory.read_latency + transfer(true, storage_.ifm, storage_.ifm_format, shape_.ifm_bits,
                                          ifm_block(), shape_.ifm, elements, storage_.ifm_dense) /
                                     memory.bytes_per_cycle;
  }
  [[nodiscard]] double write_block() const {
    const MemoryTiming& memory = timing(system_, storage_.ofm);
    const auto elements = static_cast<double>(ofm_block().elements());
    return memory.write_latency + transfer(false, storage_.ofm, storage_.ofm_format,
                                           shape_.ofm_bits, ofm_block(), shape_.ofm, elements,
                                           storage_.ofm_dense) /
                                      memory.bytes_per_cycle;
  }

  void blocks(KernelCost* cost) {
    const auto units = [&](int64_t h, int64_t w, int64_t d) {
      return divide_up(h, unit_.height) * divide_up(w, unit_.width) * divide_up(d, unit_.depth);
    };
    // Blocks at the edges count by their microblocks.
    const double count = static_cast<double>(units(shape_.ofm.h, shape_.ofm.w, shape_.ofm.c)) /
                         static_cast<double>(units(h_, w_, d_));
    double output = std::ceil(output_per_element() * static_cast<double>(ofm_block().elements()));
    if (shape_.kind == NpuOpKind::kConv || shape_.kind == NpuOpKind::kDepthwise) {
      const double bias =
          10.0 * static_cast<double>(d_) * timing(system_, storage_.weights).read_latency / 256;
      output = std::max(output, bias);
    }
    double multiply_cycles = multiply();
    const double between = count > 1 ? std::abs(write_block() - read_block()) : 0;
    const double issue = (between + multiply_cycles + output) / 4;
    multiply_cycles = std::max(multiply_cycles, issue);
    output = std::max(output, issue);
    cost->compute = std::max(multiply_cycles, output) * count;
    double first = read_block();
    if (shape_.kind == NpuOpKind::kConv || shape_.kind == NpuOpKind::kDepthwise) {
      first = std::max(first, 0.5 * timing(system_, storage_.weights).read_latency);
    }
    cost->exposed = kExposedShare * (first + write_block() + std::min(multiply_cycles, output));
  }

  void elementwise(KernelCost* cost) {
    const auto elements = static_cast<double>(shape_.ofm.elements());
    const double output = output_per_element();
    const double block = std::max(write_block(), read_block());
    const auto whole = static_cast<double>(block_.h * block_.w * block_.d);
    const double issue = (block / whole + output) / 4;
    cost->compute = std::ceil(std::max(issue, output) * elements);
    cost->exposed = kExposedShare * (read_block() + write_block());
  }

  [[nodiscard]] double waited(double bytes, double bursts) const {
    return waited_cycles(system_, bytes, bursts);
  }

  /// Returns the outstanding bursts of the weight reader.
  [[nodiscard]] double weight_bursts() const {
    return config_.macs <= 256 ? 16 : config_.macs == 512 ? 32 : 48;
  }

  [[nodiscard]] double latency_penalty() const {
    const bool elementwise = shape_.kind == NpuOpKind::kElementwise;
    const bool u55 = config_.generation == Generation::kU55;
    if (u55 || elementwise || shape_.kind == NpuOpKind::kResize) return 0;
    const int64_t across = divide_up(shape_.ofm.h, h_) * divide_up(shape_.ofm.w, w_);
    double cycles = 0;
    const bool weighs = shape_.kind == NpuOpKind::kConv || shape_.kind == NpuOpKind::kDepthwise;
    if (u85_ && weighs) {
      const int64_t records = across * kRecordBytes * round_up(shape_.ofm.c, 16);
      cycles += waited(static_cast<double>(records), kRecordBursts);
      if (storage_.weights == Memory::kExternal) {
        const int64_t bytes = across * storage_.weight_bytes;
        cycles = std::max(cycles, waited(static_cast<double>(bytes), weight_bursts()));
      }
    }
    if (storage_.ifm == Memory::kExternal && storage_.ifm_format == Format::kNhwc) {
      const bool every_depth = shape_.kind == NpuOpKind::kConv || shape_.is_reduce_sum();
      const int64_t deep = every_depth ? divide_up(shape_.ofm.c, d_) : 1;
      const int64_t pieces =
          divide_up(shape_.window.kernel_h, 8) * divide_up(shape_.window.kernel_w, 8);
      const int64_t elements = ifm_h_ * ifm_w_ * shape_.ifm.c * pieces * across * deep;
      const int64_t bytes = elements * shape_.ifm_bits / 8;
      const int64_t burst = system_.external.burst;
      const int64_t run = std::clamp<int64_t>(block_.ifm_d * shape_.ifm_bits / 8, 1, burst);
      const int64_t burst_bytes = bytes * burst / run;
      cycles += waited(static_cast<double>(burst_bytes),
                       config_.macs >= 1024 ? kManyMapBursts : kMapBursts);
    }
    return cycles;
  }

  void memory(KernelCost* cost) {
    const auto add = [&](Memory memory, double bytes) {
      double& cycles = memory == Memory::kSram ? cost->sram : cost->external;
      cycles += bytes / timing(system_, memory).bytes_per_cycle;
    };
    const int64_t across = divide_up(shape_.ofm.h, h_) * divide_up(shape_.ofm.w, w_);
    const int64_t deep = divide_up(shape_.ofm.c, d_);
    const auto depth = [](Format format, int64_t c) {
      return format == Format::kNhcwb16 ? round_up(c, 16) : c;
    };
    if (shape_.kind == NpuOpKind::kElementwise || shape_.kind == NpuOpKind::kResize) {
      const auto read = [&](const Shape4& map, Memory memory, Format format) {
        const auto elements = static_cast<double>(map.h * map.w * depth(format, map.c));
        add(memory, transfer(true, memory, format, shape_.ifm_bits, ofm_block(), map, elements));
      };
      read(shape_.ifm, storage_.ifm, storage_.ifm_format);
      if (shape_.binary) read(shape_.ifm2, storage_.ifm2, storage_.ifm2_format);
    } else {
      const Window& window = shape_.window;
      const int64_t pieces = divide_up(window.kernel_h, 8) * divide_up(window.kernel_w, 8);
      const bool every_depth = shape_.kind == NpuOpKind::kConv || shape_.is_reduce_sum();
      const int64_t elements = ifm_h_ * ifm_w_ * depth(storage_.ifm_format, shape_.ifm.c) * pieces *
                               across * (every_depth ? deep : 1);
      add(storage_.ifm,
          transfer(true, storage_.ifm, storage_.ifm_format, shape_.ifm_bits, ifm_block(),
                   shape_.ifm, static_cast<double>(elements), storage_.ifm_dense));
      if (shape_.dynamic_weights) {
        const int64_t bytes = shape_.ifm2.elements() * across * shape_.ifm_bits / 8;
        add(storage_.ifm2, static_cast<double>(bytes));
      }
      add(storage_.weights, static_cast<double>(storage_.weight_bytes * across));
    }
    const auto written =
        static_cast<double>(shape_.ofm.h * shape_.ofm.w * depth(storage_.ofm_format, shape_.ofm.c));
    add(storage_.ofm, transfer(false, storage_.ofm, storage_.ofm_format, shape_.ofm_bits,
                               ofm_block(), shape_.ofm, written, storage_.ofm_dense));
  }

  const Config& config_;
  const System& system_;
  const OpShape& shape_;
  const Block& block_;
  const OperandStorage& storage_;
  bool u85_ = false;
  Microblocks unit_{};
  int64_t h_ = 1, w_ = 1, d_ = 1, ifm_h_ = 1, ifm_w_ = 1, ifm_d_ = 1;  // clipped to the map
};

}  // namespace

double KernelCost::cycles() const {
  return std::max({compute + exposed, sram + kExposedToTransfers * exposed, external});
}

KernelCost kernel_cost(const Config& config, const System& system, const OpShape& shape,
                       const Block& block, const OperandStorage& storage) {
  return Model(config, system, shape, block, storage).cost();
}

double copy_cycles(const System& system, Memory from, Memory to, int64_t bytes) {
  const MemoryTiming& source = timing(system, from);
  const MemoryTiming& destination = timing(system, to);
  const auto size = static_cast<double>(bytes);
  return std::max(size / source.bytes_per_cycle + source.read_latency,
                  size / destination.bytes_per_cycle + destination.write_latency);
}

double waiting_copy_cycles(const Config& config, const System& system, int64_t bytes) {
  if (config.generation != Generation::kU85) return 0;
  const double bursts = config.macs == 128   ? 8
                        : config.macs == 256 ? 13
                        : config.macs == 512 ? 16
                                             : 32;
  return waited_cycles(system, static_cast<double>(bytes), bursts);
}

std::optional<Choice> choose_block(const Config& config, const System& system, const OpShape& shape,
                                   const OperandStorage& storage, int64_t depth_limit,
                                   std::optional<bool> order) {
  std::optional<Choice> best;
  double best_cycles = 0, best_sum = 0;
  int64_t best_size = 0;
  for (const BlockFamily& family : block_families(config, shape)) {
    if (order && family.part_kernel_first != *order) continue;
    const BlockSizes sizes = block_sizes(config, shape, family);
    for (const int64_t d : sizes.depths) {
      if (d > depth_limit && d != sizes.depths.front()) continue;
      for (const int64_t h : sizes.heights) {
        for (const int64_t w : sizes.widths) {
          Block block;
          block.h = h, block.w = w, block.d = d;
          if (!fit_block(config, shape, family, &block)) break;
          const KernelCost cost = kernel_cost(config, system, shape, block, storage);
          const double cycles = std::max(cost.cycles(), cost.latency_penalty);
          // Tie-break: the lowest memory traffic, then the largest block.
          const double sum = cost.compute + cost.exposed + cost.sram + cost.external;
          const int64_t size = h * w * d;
          if (!best || cycles < best_cycles ||
              (cycles == best_cycles &&
               (sum < best_sum || (sum == best_sum && size > best_size)))) {
            best = Choice{block, cost};
            best_cycles = cycles, best_sum = sum, best_size = size;
          }
        }
      }
    }
  }
  return best;
}

}  // namespace thimble::engine::ethos_u
