// SPDX-License-Identifier: Apache-2.0
// Decodes the weights of command streams that another compiler generated and encodes them again,
// with the same blocks and order: README.md.
//
//   ethos_u_weights [--each] FOLDER...

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engines/ethos_u/compiler/weights/weights.h"
#include "engines/ethos_u/sim/weights.h"
#include "stream.h"

namespace thimble::ethos_u_weights {
namespace {

namespace sim = ethos_u::sim;
using engine::ethos_u::EncodedWeights;
using engine::ethos_u::Requantize;
using engine::ethos_u::WeightOptions;
using engine::ethos_u::Weights;

struct Sum {
  int64_t weights = 0, theirs = 0, ours = 0, estimated = 0;
  double seconds = 0;
  int larger = 0, streams = 0;
  void add(const Sum& other) {
    weights += other.weights;
    theirs += other.theirs;
    ours += other.ours;
    estimated += other.estimated;
    seconds += other.seconds;
    larger += other.larger;
    streams += other.streams;
  }
};

std::vector<sim::Bytes> views(const std::vector<std::vector<uint8_t>>& streams) {
  std::vector<sim::Bytes> bytes;
  for (const auto& stream : streams) bytes.push_back({stream.data(), stream.size()});
  return bytes;
}

Result<Weights> decode(const ethos_u::Config& config, const Convolution& convolution) {
  const sim::KernelOperation& operation = convolution.operation;
  const bool depthwise = operation.code == ethos_u::Operation::DEPTHWISE;
  Weights weights;
  weights.out = operation.ofm.depth;
  weights.kernel_h = operation.kernel.height;
  weights.kernel_w = operation.kernel.width;
  weights.in = depthwise ? 1 : operation.ifm.depth;
  weights.values.resize(
      static_cast<size_t>(weights.out * weights.kernel_h * weights.kernel_w * weights.in));
  const std::vector<sim::Bytes> streams = views(convolution.weights);
  sim::WeightDecoder decoder;
  sim::WeightStatus status = decoder.begin(config, operation, streams.data());
  uint64_t done = 0;
  while (status == sim::WeightStatus::kOk && decoder.channel() < operation.ofm.depth) {
    const uint64_t first = decoder.channel();
    status = decoder.next(weights.values.data() + done, weights.values.size() - done);
    done += (decoder.channel() - first) * (weights.values.size() / operation.ofm.depth);
  }
  if (status == sim::WeightStatus::kOk) status = decoder.finish();
  if (status != sim::WeightStatus::kOk) {
    return bad_input("word {}, channel {}: {}", convolution.word, decoder.channel(),
                     sim::to_text(status));
  }
  return weights;
}

Result<Requantize> scales(const ethos_u::Config& config, const Convolution& convolution,
                          Weights* weights, bool* comparable) {
  Requantize requantize;
  const std::vector<sim::Bytes> streams = views(convolution.scales);
  for (uint32_t channel = 0; channel < convolution.operation.ofm.depth; ++channel) {
    sim::ScaleRecord record;
    const sim::WeightStatus status =
        sim::scale_record(config, convolution.operation, streams.data(), channel, &record);
    if (status != sim::WeightStatus::kOk) {
      return bad_input("word {}, channel {}: {}", convolution.word, channel, sim::to_text(status));
    }
    weights->bias.push_back(record.bias);
    if (record.multiplier > INT32_MAX) *comparable = false;  // our compiler writes less than 2^31
    requantize.multiplier.push_back(static_cast<int32_t>(record.multiplier & INT32_MAX));
    requantize.shift.push_back(record.shift);
  }
  return requantize;
}

WeightOptions options_of(const ethos_u::Config& config, const sim::KernelOperation& operation) {
  WeightOptions options;
  options.config = &config;
  options.depthwise = operation.code == ethos_u::Operation::DEPTHWISE;
  options.part_kernel_first = operation.kernel.part_kernel_first && !options.depthwise;
  options.block_depth = operation.block_depth;
  if (config.generation == ethos_u::Generation::kU85) {
    constexpr int kArea[] = {1, 2, 4, 4, 8, 16};
    options.microblock_depth = config.macs / 8 / kArea[static_cast<size_t>(operation.microblock)];
  }
  options.stride_h = operation.kernel.stride_y;
  options.stride_w = operation.kernel.stride_x;
  options.dilation_h = operation.kernel.dilation_y;
  options.dilation_w = operation.kernel.dilation_x;
  options.ifm_bits = operation.ifm.bits;
  options.wide_accumulator = operation.accumulator != 0;
  options.fast = operation.fast_weights;
  options.sparse = operation.sparse;
  return options;
}

/// Compares the encoded streams. Scale streams must be identical; weight streams must not be longer
/// than the originals.
Result<Sum> compare(const ethos_u::Config& config, const Convolution& convolution) {
  THIMBLE_TRY(Weights weights, decode(config, convolution));
  bool comparable = true;
  THIMBLE_TRY(const Requantize requantize, scales(config, convolution, &weights, &comparable));
  const WeightOptions options = options_of(config, convolution.operation);
  const std::clock_t begin = std::clock();
  THIMBLE_TRY(const EncodedWeights encoded, encode(weights, requantize, options));
  const std::clock_t end = std::clock();
  engine::ethos_u::WeightEncoder encoder(weights, requantize);
  THIMBLE_TRY(const auto estimate, encoder.estimate(options, 0, weights.out));
  Sum sum;
  sum.weights = static_cast<int64_t>(weights.values.size());
  sum.seconds = static_cast<double>(end - begin) / CLOCKS_PER_SEC;
  const auto& slice = encoded.slices[0];
  for (size_t core = 0; core < convolution.weights.size(); ++core) {
    const int64_t theirs = static_cast<int64_t>(convolution.weights[core].size());
    const int64_t ours = slice.weights[core].length;
    sum.theirs += theirs;
    sum.ours += ours;
    sum.estimated += estimate.weights[core].length;
    sum.larger += ours > theirs ? 1 : 0;
    ++sum.streams;
  }
  for (size_t core = 0; comparable && core < convolution.scales.size(); ++core) {
    const auto& range = slice.scales[core];
    const auto& theirs = convolution.scales[core];
    if (static_cast<size_t>(range.length) > theirs.size() ||
        std::memcmp(encoded.bytes.data() + range.offset, theirs.data(),
                    static_cast<size_t>(range.length)) != 0) {
      return bad_input("word {}: the scale records of core {} differ", convolution.word, core);
    }
  }
  return sum;
}

void print(const std::string& name, const Sum& sum) {
  const double gain = sum.theirs == 0 ? 0
                                      : 100.0 * static_cast<double>(sum.ours - sum.theirs) /
                                            static_cast<double>(sum.theirs);
  fmt::print("| {} | {} | {} | {} | {:+.2f} % | {} | {} of {} | {:.0f} |\n", name, sum.weights,
             sum.theirs, sum.ours, gain, sum.estimated, sum.larger, sum.streams,
             1000 * sum.seconds);
}

int run(const std::vector<std::string>& folders, bool each) {
  fmt::print("| case | weights | Vela | Thimble | | estimate | larger | ms |\n");
  fmt::print("|---|--:|--:|--:|--:|--:|--:|--:|\n");
  Sum all;
  int failures = 0;
  for (const std::string& folder : folders) {
    const Result<Case> found = read_case(folder);
    if (!found.ok()) {
      fmt::print(stderr, "{}: {}\n", folder, found.error().message);
      ++failures;
      continue;
    }
    Sum sum;
    for (const Convolution& convolution : found->convolutions) {
      const Result<Sum> one = compare(*found->config, convolution);
      if (!one.ok()) {
        fmt::print(stderr, "{}: {}\n", folder, one.error().message);
        ++failures;
        continue;
      }
      const auto& op = convolution.operation;
      if (each) {
        print(fmt::format("{}: {} {}x{}x{}x{} block {}{}{}{}", convolution.word,
                          op.code == ethos_u::Operation::DEPTHWISE ? "depthwise" : "conv",
                          op.ofm.depth, op.kernel.height, op.kernel.width, op.ifm.depth,
                          op.block_depth, op.kernel.part_kernel_first ? " part-kernel" : "",
                          op.fast_weights ? " fast" : "", op.sparse ? " sparse" : ""),
              *one);
      }
      sum.add(*one);
    }
    if (sum.streams > 0) print(folder.substr(folder.find_last_of('/') + 1), sum);
    all.add(sum);
  }
  print("all", all);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace thimble::ethos_u_weights

int main(int argc, char** argv) {
  std::vector<std::string> folders(argv + 1, argv + argc);
  bool each = false;
  if (!folders.empty() && folders[0] == "--each") {
    each = true;
    folders.erase(folders.begin());
  }
  return thimble::ethos_u_weights::run(folders, each);
}
