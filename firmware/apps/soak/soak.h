// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random calls of several models in one arena, compared with single runs. Firmware and the tests on
// the host use this code.
//
// A series of a model is the calls after a reset: call number s always has the same inputs, made
// from (model, s). record() runs one series of each model alone and keeps the hash of each call's
// outputs. run() initializes all models in the same memory and makes random steps: the next call of
// a random model, a reset, or a return to a saved state. Each call must have the recorded hash.

#include <cstdint>
#include <cstring>

#include "firmware/common/random.h"
#include "firmware/common/rounding.h"
#include "runtime/include/thimble.h"

namespace thimble::soak {

using firmware::Random;

constexpr uint32_t kFloat = 6;  // thimble_view::dtype

/// Fills an input: floats between -2 and 2, or random bytes.
inline void fill(Random& random, void* data, size_t bytes, uint32_t dtype) {
  auto* to = static_cast<uint8_t*>(data);
  if (dtype == kFloat) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      const float value = static_cast<float>(static_cast<int32_t>(random() >> 8) - (1 << 23)) /
                          static_cast<float>(1 << 22);
      std::memcpy(to + i, &value, sizeof value);
    }
    return;
  }
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(random());
}

constexpr uint64_t kHashStart = 14695981039346656037U;

/// FNV-1a, continued from `hash`.
inline uint64_t hash_bytes(uint64_t hash, const void* data, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ from[i]) * 1099511628211U;
  return hash;
}

constexpr size_t kInputPadding = 16;

/// Sets the inputs of call `step` of the series `series` and calls `run`. `buffer` has the bytes of
/// all inputs, each padded to kInputPadding. *hash: of all outputs.
inline thimble_status call(thimble_model* model, uint32_t series, uint32_t step, uint8_t* buffer,
                           uint64_t* hash, thimble_status (*run)(thimble_model*) = thimble_run) {
  Random random(uint64_t{series} << 32 | (step + 1));
  thimble_view view;
  for (uint32_t i = 0; i < thimble_input_count(model); ++i) {
    thimble_status status = thimble_input(model, i, &view);
    if (status != 0) return status;
    fill(random, buffer, view.bytes, view.dtype);
    status = thimble_set_input(model, i, buffer, view.bytes);
    if (status != 0) return status;
    buffer += firmware::round_up(view.bytes, kInputPadding);
  }
  const thimble_status status = run(model);
  if (status != 0) return status;
  *hash = kHashStart;
  for (uint32_t i = 0; i < thimble_output_count(model); ++i) {
    const thimble_status failed = thimble_output(model, i, &view);
    if (failed != 0) return failed;
    *hash = hash_bytes(*hash, view.data, view.bytes);
  }
  return 0;
}

/// Bytes of all inputs of a model, each padded to kInputPadding.
inline size_t input_bytes(const thimble_model* model) {
  size_t bytes = 0;
  thimble_view view;
  for (uint32_t i = 0; i < thimble_input_count(model); ++i) {
    if (thimble_input(model, i, &view) == 0) bytes += firmware::round_up(view.bytes, kInputPadding);
  }
  return bytes;
}

constexpr uint32_t kModelsMax = 8;
constexpr uint32_t kSeries = 200;  // calls of a series

struct Participant {
  const void* pte;
  size_t pte_bytes;
  const thimble_kernels* kernels;
  uint8_t* inputs;  // buffer of input_bytes()
  uint8_t* saved;   // buffer of thimble_needs::saved_bytes
  thimble_needs needs;
  thimble_model model;
  uint32_t step;        // next call of the series
  uint32_t saved_step;  // call that follows the saved states; kSeries: nothing is saved
  uint64_t expected[kSeries];
};

struct Report {
  uint32_t calls, resets, restores, wrong;
  uint32_t longest;       // most calls of a series
  thimble_status status;  // the first that is not 0
};

class Soak {
 public:
  /// `memory`: of the largest model for record(); for run() of all models with a shared arena.
  Soak(uint8_t* memory, size_t bytes) : memory_(memory), bytes_(bytes) {}

  /// Adds a model; its `inputs` and `saved` are set before record().
  Participant* add(const void* pte, size_t pte_bytes, const thimble_kernels* kernels) {
    if (count_ == kModelsMax) return nullptr;
    Participant& one = models_[count_++];
    one = {};
    one.pte = pte;
    one.pte_bytes = pte_bytes;
    one.kernels = kernels;
    return &one;
  }

  /// Records the hashes of single runs of each model, in memory with other content.
  thimble_status record() {
    for (uint32_t m = 0; m < count_; ++m) {
      std::memset(memory_, 0xA5, bytes_);
      thimble_status status = init(models_[m]);
      for (uint32_t step = 0; step < kSeries && status == 0; ++step) {
        status = call(&models_[m].model, m, step, models_[m].inputs, &models_[m].expected[step]);
      }
      if (status != 0) return status;
    }
    return 0;
  }

  /// Makes `calls` random calls. The models share the arena and are initialized in the order of
  /// add().
  Report run(uint32_t calls, uint32_t seed) {
    Report report = {};
    Random random(seed);
    for (uint32_t m = 0; m < count_ && report.status == 0; ++m) report.status = init(models_[m]);
    while (report.calls < calls && report.status == 0) step(random, report);
    return report;
  }

 private:
  thimble_status init(Participant& one) {
    one.step = 0;
    one.saved_step = kSeries;
    return thimble_init(&one.model, one.pte, one.pte_bytes, one.kernels, memory_, bytes_);
  }

  thimble_status reset(Participant& one, Report& report) {
    ++report.resets;
    one.step = 0;
    return thimble_reset(&one.model);
  }

  void step(Random& random, Report& report) {
    const uint32_t m = random.below(count_);
    Participant& one = models_[m];
    const uint32_t action = random.below(64);
    if (action == 0 || one.step == kSeries) {
      report.status = reset(one, report);
    } else if (action <= 2 && one.needs.saved_bytes != 0) {
      report.status = thimble_save(&one.model, one.saved, one.needs.saved_bytes);
      one.saved_step = one.step;
    } else if (action <= 4 && one.saved_step < kSeries) {
      report.status = thimble_restore(&one.model, one.saved, one.needs.saved_bytes);
      one.step = one.saved_step;
      ++report.restores;
    } else {
      uint64_t hash = 0;
      report.status = call(&one.model, m, one.step, one.inputs, &hash);
      if (hash != one.expected[one.step]) ++report.wrong;
      ++one.step;
      if (one.step > report.longest) report.longest = one.step;
      ++report.calls;
    }
  }

  uint8_t* memory_;
  size_t bytes_;
  uint32_t count_ = 0;
  Participant models_[kModelsMax];
};

}  // namespace thimble::soak
