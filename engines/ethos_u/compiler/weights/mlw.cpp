// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/weights/mlw.h"

#include <algorithm>
#include <limits>

#include "engines/ethos_u/compiler/weights/mlw_plan.h"
#include "engines/ethos_u/compiler/weights/mlw_writer.h"

namespace thimble::engine::ethos_u {
namespace {

using namespace mlw;  // NOLINT: public interface of mlw

constexpr size_t kPlannedWeights = size_t{1} << 17;  // weights that are planned together
constexpr size_t kStreamAlign = 16;

/// Writes consecutive segments with the same palette as slices.
class GroupWriter {
 public:
  GroupWriter(const int16_t* weights, const Palette& palette, BitWriter* bits)
      : weights_(weights), palette_(palette), indices_(palette.indices()), bits_(bits) {}

  void write(std::vector<Segment> segments) {
    if (palette_.zero_runs) {
      cut_before_weights(&segments);
      if (!has_weight(segments[0])) {
        write_zeros(segments[0]);
        return;
      }
    }
    bool first = true;
    for (const Segment& segment : segments) {
      collect(segment, first);
      slices(segment.mode, first);
      first = false;
    }
  }

 private:
  [[nodiscard]] bool zero(size_t at) const { return weights_[at] == 0; }

  /// Adjusts the cuts for zero runs. Zeros belong to the run of the preceding weight. Therefore
  /// only the first segment may begin with zeros, and every segment must contain a nonzero weight.
  void cut_before_weights(std::vector<Segment>* segments) {
    std::vector<Segment> cut;
    for (Segment segment : *segments) {
      if (!cut.empty()) {
        while (segment.begin < segment.end && zero(segment.begin)) ++segment.begin;
        cut.back().end = segment.begin;
        if (segment.begin == segment.end) continue;
        if (!has_weight(cut.back())) {
          segment.begin = cut.back().begin;
          cut.pop_back();
        }
      }
      cut.push_back(segment);
    }
    *segments = std::move(cut);
  }

  /// Writes a segment of zeros. A slice needs at least one index, so one zero is coded as a weight.
  void write_zeros(const Segment& segment) {
    Palette palette;
    palette.zero_runs = true;
    const std::array<uint16_t, 1> index = {0};
    const std::array<uint32_t, 2> runs = {0,
                                          static_cast<uint32_t>(segment.end - segment.begin - 1)};
    Slice slice;
    slice.palette = &palette;
    slice.new_palette = true;
    slice.mode.zero_divisor = 3;
    slice.indices = index;
    slice.runs = runs;
    write_slice(slice, bits_);
  }

  [[nodiscard]] bool has_weight(const Segment& segment) const {
    for (size_t at = segment.begin; at < segment.end; ++at) {
      if (!zero(at)) return true;
    }
    return false;
  }

  void collect(const Segment& segment, bool first) {
    coded_.clear();
    runs_.clear();
    if (!palette_.zero_runs) {
      for (size_t at = segment.begin; at < segment.end; ++at) code(weights_[at]);
      return;
    }
    if (first) runs_.push_back(0);
    for (size_t at = segment.begin; at < segment.end; ++at) {
      if (zero(at)) {
        ++runs_.back();
      } else {
        code(weights_[at]);
        runs_.push_back(0);
      }
    }
  }

  void code(int16_t weight) { coded_.push_back(static_cast<uint16_t>(indices_[fold(weight)])); }

  void slices(const Mode& mode, bool first) {
    size_t done = 0;
    while (done < coded_.size()) {
      Slice slice;
      slice.palette = &palette_;
      slice.new_palette = first && done == 0;
      slice.mode = mode;
      const size_t count = slice_length(mode, done);
      slice.indices = std::span(coded_).subspan(done, count);
      if (palette_.zero_runs) {
        const size_t before = first && done > 0 ? 1 : 0;
        slice.runs = std::span(runs_).subspan(done + before, count + (slice.new_palette ? 1 : 0));
      }
      write_slice(slice, bits_);
      done += count;
    }
  }

  /// Returns the number of indices for the next slice: all that are left if they fit, else a number
  /// near the maximum that leaves the fewest unused bits in the last chunk.
  [[nodiscard]] size_t slice_length(const Mode& mode, size_t done) const {
    const size_t left = coded_.size() - done;
    if (left <= kMaxSlice) return left;
    if (mode.uncompressed) return kMaxSlice;
    size_t best = kMaxSlice;
    int unused = kUnaryBits, unary = 0;
    for (size_t i = 1; i <= kMaxSlice; ++i) {
      unary += mode.truncated ? 1 : (coded_[done + i - 1] >> mode.divisor) / 2 + 1;
      const int now = (kUnaryBits - unary % kUnaryBits) % kUnaryBits;
      if (i + kUnaryBits < kMaxSlice || now >= unused) continue;
      unused = now;
      best = i;
    }
    return best;
  }

  const int16_t* weights_;
  const Palette& palette_;
  std::array<int16_t, kFolded> indices_;
  BitWriter* bits_;
  std::vector<uint16_t> coded_;
  std::vector<uint32_t> runs_;
};

void write_plan(const Plan& plan, const int16_t* weights, BitWriter* bits) {
  for (size_t i = 0; i < plan.segments.size();) {
    std::vector<Segment> group;
    const int palette = plan.segments[i].palette;
    for (; i < plan.segments.size() && plan.segments[i].palette == palette; ++i) {
      group.push_back(plan.segments[i]);
    }
    GroupWriter(weights, plan.palettes[static_cast<size_t>(palette)], bits).write(group);
  }
}

}  // namespace

std::vector<std::byte> encode_mlw(std::span<const int16_t> weights) {
  BitWriter bits;
  for (size_t begin = 0; begin < weights.size(); begin += kPlannedWeights) {
    const size_t count = std::min(kPlannedWeights, weights.size() - begin);
    const int16_t* stretch = weights.data() + begin;
    const std::vector<Symbol> symbols = symbols_of(stretch, count);
    write_plan(make_plan(symbols.data(), count), stretch, &bits);
  }
  write_end(&bits);
  return bits.finish(kStreamAlign, std::byte{0xFF});
}

int64_t estimate_mlw(std::span<const int16_t> weights) {
  Histogram histogram;
  const std::vector<Symbol> symbols = symbols_of(weights.data(), weights.size());
  count_symbols(symbols.data(), symbols.size(), &histogram);
  int64_t bits = std::numeric_limits<int64_t>::max();
  for (const bool zero_runs : {false, true}) {
    const Choice choice = best_choice(histogram, zero_runs);
    bits = std::min(bits, choice.bits + choice.palette.header_bits());
  }
  return (bits / 8 + static_cast<int64_t>(kStreamAlign)) / static_cast<int64_t>(kStreamAlign) *
         static_cast<int64_t>(kStreamAlign);
}

}  // namespace thimble::engine::ethos_u
