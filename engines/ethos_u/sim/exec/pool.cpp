// SPDX-License-Identifier: Apache-2.0
// POOL: reduces a window of each channel (or all channels of a position) to one value.

#include "engines/ethos_u/sim/exec/exec.h"

namespace thimble::ethos_u::sim {
namespace {

struct Pool {
  const Context& context;
  Reader reader;
  Grid grid;
  PoolMode mode;
};

bool selects(PoolMode mode) {
  return mode == PoolMode::kMax || mode == PoolMode::kMin;
}

/// Divides by the number of values that are not padding; rounds half away from zero.
int64_t divide(int64_t sum, int64_t count) {
  return sum >= 0 ? (sum + count / 2) / count : -((-sum + count / 2) / count);
}

void combine(PoolMode mode, const int32_t* values, int64_t zero, uint32_t n, bool first,
             int64_t* result) {
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t value = values[i] - zero;
    if (!selects(mode)) {
      result[i] += value;
    } else if (first || (mode == PoolMode::kMax ? value > result[i] : value < result[i])) {
      result[i] = value;
    }
  }
}

/// Computes MAX, MIN, SUM or AVERAGE of one position. `counted` receives the number of values that
/// are not padding.
bool window_row(Pool& pool, uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* result,
                uint32_t* counted) {
  const KernelOperation& operation = pool.context.operation;
  const Kernel& kernel = operation.kernel;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; ++i) result[i] = 0;
  for (uint32_t ky = 0; ky < kernel.height; ++ky) {
    const int64_t from_y =
        int64_t{y} * kernel.stride_y + int64_t{ky} * kernel.dilation_y - int64_t{kernel.pad_top};
    for (uint32_t kx = 0; kx < kernel.width; ++kx) {
      const int64_t from_x =
          int64_t{x} * kernel.stride_x + int64_t{kx} * kernel.dilation_x - int64_t{kernel.pad_left};
      uint32_t map_y = 0, map_x = 0;
      if (!in_map(operation, pool.grid, from_y, from_x, &map_y, &map_x)) continue;
      int32_t values[kRow];
      if (!pool.reader.row(map_y, map_x, c, n, values)) return false;
      combine(pool.mode, values, operation.ifm.zero_point, n, count == 0, result);
      ++count;
    }
  }
  *counted = count;
  return true;
}

/// Computes REDUCE_SUM: the sum of all channels of a position.
bool reduce_row(Pool& pool, uint32_t y, uint32_t x, int64_t* result) {
  const FeatureMap& ifm = pool.context.operation.ifm;
  int64_t sum = 0;
  for (uint32_t c = 0; c < ifm.depth; c += kRow) {
    const uint32_t n = ifm.depth - c < kRow ? ifm.depth - c : kRow;
    int32_t values[kRow];
    if (!pool.reader.row(y, x, c, n, values)) return false;
    for (uint32_t i = 0; i < n; ++i) sum += int64_t{values[i]} - ifm.zero_point;
  }
  *result = sum;
  return true;
}

/// Computes ARGMAX: the index in the window of the first of the largest values.
bool argmax_row(Pool& pool, uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* result) {
  const KernelOperation& operation = pool.context.operation;
  const Kernel& kernel = operation.kernel;
  const bool along_x = pool.mode == PoolMode::kArgmaxX;
  int32_t best[kRow];
  bool first = true;
  for (uint32_t ky = 0; ky < kernel.height; ++ky) {
    for (uint32_t kx = 0; kx < kernel.width; ++kx) {
      const int64_t from_y = int64_t{y} * kernel.stride_y + ky - int64_t{kernel.pad_top};
      const int64_t from_x = int64_t{x} * kernel.stride_x + kx - int64_t{kernel.pad_left};
      uint32_t map_y = 0, map_x = 0;
      if (!in_map(operation, pool.grid, from_y, from_x, &map_y, &map_x)) continue;
      int32_t values[kRow];
      if (!pool.reader.row(map_y, map_x, c, n, values)) return false;
      for (uint32_t i = 0; i < n; ++i) {
        if (!first && values[i] <= best[i]) continue;
        best[i] = values[i];
        result[i] = int64_t{along_x ? kx : ky} * 0x10000;  // 16 fractional bits for the scale
      }
      first = false;
    }
  }
  if (first) {
    for (uint32_t i = 0; i < n; ++i) result[i] = 0;
  }
  return true;
}

bool pool_row(Pool& pool, uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* result) {
  if (pool.mode == PoolMode::kReduceSum) return reduce_row(pool, y, x, result);
  if (pool.mode == PoolMode::kArgmaxX || pool.mode == PoolMode::kArgmaxY) {
    return argmax_row(pool, y, x, c, n, result);
  }
  if (pool.mode == PoolMode::kNone) {
    for (uint32_t i = 0; i < n; ++i) result[i] = 0;
    return true;
  }
  uint32_t count = 0;
  if (!window_row(pool, y, x, c, n, result, &count)) return false;
  const Kernel& kernel = pool.context.operation.kernel;
  const bool padded =
      (kernel.pad_top | kernel.pad_left | kernel.pad_bottom | kernel.pad_right) != 0;
  const bool divides = pool.mode == PoolMode::kAverage && count > 1 &&
                       (padded || pool.context.config.generation == Generation::kU85);
  for (uint32_t i = 0; divides && i < n; ++i) result[i] = divide(result[i], count);
  return true;
}

}  // namespace

Fault execute_pool(const Context& context) {
  const KernelOperation& operation = context.operation;
  Pool pool = {context, Reader(operation.ifm, context.memory), grid_of(operation),
               static_cast<PoolMode>(operation.mode)};
  Output output(context.config, operation, context.memory);
  if (!output.ready()) return context.memory.fault();
  Accumulators accumulators(context);
  if (const Fault fault = accumulators.begin(); !fault.none()) return fault;
  if (pool.mode == PoolMode::kReduceSum && operation.ofm.depth != 1) {
    return fault_of(FaultKind::kBadRegister, "a REDUCE_SUM with an output depth other than 1");
  }
  if (pool.mode != PoolMode::kReduceSum && pool.mode != PoolMode::kNone &&
      operation.ifm.depth < operation.ofm.depth) {
    return fault_of(FaultKind::kBadRegister, "a pool whose output is deeper than its input");
  }
  Bytes scales[2];
  if (!operation.global_scale) {
    const Fault fault = streams_of(context.memory, operation.scales, 2, scales);
    if (!fault.none()) return fault;
  }
  for (uint32_t y = 0; y < operation.ofm.height; ++y) {
    for (uint32_t x = 0; x < operation.ofm.width; ++x) {
      for (uint32_t c = 0; c < operation.ofm.depth; c += kRow) {
        const uint32_t n = operation.ofm.depth - c < kRow ? operation.ofm.depth - c : kRow;
        int64_t values[kRow];
        if (!pool_row(pool, y, x, c, n, values) || !accumulators.add_initial(y, x, c, n, values)) {
          return context.memory.fault();
        }
        for (uint32_t i = 0; i < n; ++i) values[i] = wrap(values[i], accumulators.bits());
        if (accumulators.keeps(y, x, c, n, values)) continue;
        if (operation.global_scale) {
          if (!output.global_row(y, x, c, n, values)) return context.memory.fault();
          continue;
        }
        ScaleRecord records[kRow];
        for (uint32_t i = 0; i < n; ++i) {
          const WeightStatus status =
              scale_record(context.config, operation, scales, c + i, &records[i]);
          if (status != WeightStatus::kOk) return bad_weights(status);
        }
        if (!output.record_row(y, x, c, n, values, records)) return context.memory.fault();
      }
    }
  }
  return {};
}

}  // namespace thimble::ethos_u::sim
