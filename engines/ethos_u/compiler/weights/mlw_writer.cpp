// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/weights/mlw_writer.h"

#include <algorithm>
#include <array>
#include <bit>

namespace thimble::engine::ethos_u::mlw {
namespace {

constexpr uint32_t kZerosOff = 6;
constexpr uint32_t kEnd = 7;
constexpr uint32_t kUncompressed = 7;

void write_header(const Slice& slice, BitWriter* bits) {
  const Palette& palette = *slice.palette;
  const Mode& mode = slice.mode;
  bits->put(palette.zero_runs ? mode.zero_divisor : kZerosOff, 3);
  bits->put(static_cast<uint32_t>(slice.indices.size() - 1), 15);
  bits->put(mode.uncompressed ? kUncompressed : mode.divisor, 3);
  bits->put(mode.truncated ? 1 : 0, 1);
  bits->put(slice.new_palette ? 1 : 0, 1);
  if (!slice.new_palette) return;
  bits->put(static_cast<uint32_t>(palette.direct), 5);
  bits->put(static_cast<uint32_t>(std::max(palette.size - 1, 0)), 5);
  bits->put(static_cast<uint32_t>(palette.bits - 2), 3);
  for (size_t i = 0; i < static_cast<size_t>(palette.size); ++i) {
    bits->put(palette.entries[i], palette.bits);
  }
}

/// Quotients of one kind of symbol, written chunk by chunk. `to` is the first symbol with an
/// incomplete quotient.
template <typename T>
struct Quotients {
  std::span<const T> values;
  int divisor = 0;
  size_t from = 0, to = 0;
  uint32_t left = 0;  // rest of the quotient of values[to]

  [[nodiscard]] bool done() const { return to == values.size(); }
  void start() { left = done() ? 0 : static_cast<uint32_t>(values[to]) >> divisor; }
  void next() {
    ++to;
    start();
  }
  void remainders(size_t first, size_t last, BitWriter* bits) const {
    for (size_t i = first; i < last; ++i) {
      bits->put(values[i] & ((1U << divisor) - 1U), divisor);
    }
  }
};

struct Unary {
  uint32_t bits0 = 0, bits1 = 0;
  int count1 = 0;
};

Unary weight_chunk(const Mode& mode, Quotients<uint16_t>* weights) {
  Unary unary;
  for (int i = 0; i < kUnaryBits && !weights->done(); ++i) {
    const uint32_t code = std::min(weights->left, 2U);
    if (code > 0) {
      unary.bits0 |= 1U << i;
      unary.bits1 |= (code - 1) << unary.count1++;
    }
    weights->left -= code;
    if (code < 2 || mode.truncated) weights->next();
  }
  return unary;
}

uint32_t zero_chunk(int count, Quotients<uint32_t>* zeros) {
  uint32_t unary = 0;
  for (int i = 0; i < count && !zeros->done(); ++i) {
    if (zeros->left > 0) {
      unary |= 1U << i;
      --zeros->left;
    } else {
      zeros->next();
    }
  }
  return unary;
}

}  // namespace

void BitWriter::put(uint32_t value, int count) {
  pending_ |= uint64_t{value} << pending_bits_;
  pending_bits_ += count;
  while (pending_bits_ >= 8) {
    bytes_.push_back(static_cast<std::byte>(pending_ & 0xFF));
    pending_ >>= 8;
    pending_bits_ -= 8;
  }
}

std::vector<std::byte> BitWriter::finish(size_t bytes, std::byte fill) {
  if (pending_bits_ > 0) put(static_cast<uint32_t>(fill) >> pending_bits_, 8 - pending_bits_);
  bytes_.resize((bytes_.size() + bytes - 1) / bytes * bytes, fill);
  return std::move(bytes_);
}

/// Each chunk holds unary codes, then the remainders of the previous chunk. Weights pause when they
/// are eight symbols ahead of the runs; runs pause when they are ahead of the weights.
void write_slice(const Slice& slice, BitWriter* bits) {
  constexpr size_t kLead = 8;
  write_header(slice, bits);
  const Mode& mode = slice.mode;
  const bool runs = slice.palette->zero_runs;
  Quotients<uint16_t> weights;
  weights.values = slice.indices;
  weights.divisor = mode.uncompressed ? slice.palette->width() : mode.divisor;
  weights.start();
  const size_t at_once = mode.uncompressed && weights.divisor > 5 ? 8 : kUnaryBits;
  Quotients<uint32_t> zeros;
  if (runs) zeros.values = slice.runs;
  zeros.divisor = mode.zero_divisor;
  zeros.start();
  size_t weights_before = 0, zeros_before = 0;
  bool more = true;
  while (more) {
    const size_t weights_at = weights.to, zeros_at = zeros.to;
    const bool weights_on = !weights.done() && (!runs || weights_at < zeros_at + kLead);
    const bool zeros_on = !zeros.done() && weights_at >= zeros_at;
    Unary unary;
    if (weights_on && mode.uncompressed) {
      weights.to = std::min(weights.to + at_once, weights.values.size());
    } else if (weights_on) {
      unary = weight_chunk(mode, &weights);
      bits->put(unary.bits0, kUnaryBits);
    }
    if (zeros_on) {
      const int count = zero_unary_bits(mode);
      bits->put(zero_chunk(count, &zeros), count);
    }
    bits->put(unary.bits1, unary.count1);
    weights.remainders(weights_before, weights_at, bits);
    zeros.remainders(zeros_before, zeros_at, bits);
    weights_before = weights_at;
    zeros_before = zeros_at;
    more = weights_on || zeros_on;
  }
}

void write_end(BitWriter* bits) {
  bits->put(kEnd, kEndBits);
}

}  // namespace thimble::engine::ethos_u::mlw
