// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u_weights {
namespace {

using namespace ethos_u;  // NOLINT: names of the commands

using Bytes = std::vector<uint8_t>;

Result<Bytes> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad_input("cannot read {}", path);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Result<std::vector<uint32_t>> stream_words(const Bytes& payload) {
  DriverPayload found;
  if (!read_driver_payload(payload.data(), static_cast<uint32_t>(payload.size()), found)) {
    return bad_input("the payload cannot be read");
  }
  std::vector<uint32_t> words(found.stream_words);
  for (size_t i = 0; i < words.size(); ++i) {
    for (size_t byte = 0; byte < 4; ++byte) {
      words[i] |= uint32_t{payload[found.stream_offset + i * 4 + byte]} << (8 * byte);
    }
  }
  return words;
}

/// Tracks registers, constants, and the DMAs that copy constants to other regions.
class Reader {
 public:
  explicit Reader(const Config& config) : config_(config) { case_.config = &config; }

  void region(size_t index, Bytes bytes) { regions_.at(index) = std::move(bytes); }

  Result<Case> read(const std::vector<uint32_t>& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      const uint32_t word = words[i];
      const uint16_t code = opcode_of(word);
      const size_t at = i;
      if (has_payload(word)) {
        if (++i == words.size()) return bad_input("the stream ends in a command");
        wide_[code] = uint64_t{parameter_of(word) & 0xFFU} << 32 | words[i];
      } else if (code >= 0x100) {
        narrow_[code] = parameter_of(word);
      } else if (code == static_cast<uint16_t>(Operation::DMA_START)) {
        THIMBLE_CHECK(dma());
      } else if (code == static_cast<uint16_t>(Operation::CONV) ||
                 code == static_cast<uint16_t>(Operation::DEPTHWISE)) {
        if (parameter_of(word) != 0) continue;  // the weights are a feature map
        THIMBLE_CHECK(convolution(static_cast<uint32_t>(at), static_cast<Operation>(code)));
      }
    }
    return std::move(case_);
  }

 private:
  uint32_t narrow(Reg0 name) const {
    const auto found = narrow_.find(static_cast<uint16_t>(name));
    return found == narrow_.end() ? 0 : found->second;
  }
  uint64_t wide(Reg1 name) const {
    const auto found = wide_.find(static_cast<uint16_t>(name));
    return found == wide_.end() ? 0 : found->second;
  }
  uint32_t field(Reg0 name, const char* command, const char* part) const {
    return find_field(command, part, config_.generation).of(narrow(name));
  }

  Result<Bytes> bytes(size_t region, uint64_t address, uint64_t length) const {
    const Bytes& from = regions_.at(region & 7);
    if (address > from.size() || length > from.size() - address) {
      return bad_input("weights at {} + {} are outside of region {}", address, length, region);
    }
    const auto first = from.begin() + static_cast<ptrdiff_t>(address);
    return Bytes(first, first + static_cast<ptrdiff_t>(length));
  }

  /// Records one-dimensional copies between regions. Other DMAs never copy weights.
  Status dma() {
    const uint32_t source = narrow(Reg0::DMA0_SRC_REGION);
    const uint32_t target = narrow(Reg0::DMA0_DST_REGION);
    if ((source >> 8) != 0 || (target >> 8) != 0) return ok();
    THIMBLE_TRY(const Bytes copy, bytes(source & 7, wide(Reg1::DMA0_SRC), wide(Reg1::DMA0_LEN)));
    Bytes& to = regions_.at(target & 7);
    const uint64_t address = wide(Reg1::DMA0_DST);
    if (address + copy.size() > to.size()) return bad_input("a copy ends outside of its region");
    std::copy(copy.begin(), copy.end(), to.begin() + static_cast<ptrdiff_t>(address));
    return ok();
  }

  void shape(sim::KernelOperation* operation) const {
    const uint32_t stride = narrow(Reg0::KERNEL_STRIDE);
    sim::Kernel& kernel = operation->kernel;
    kernel.stride_x = static_cast<uint8_t>(1 + (stride & 1) + (stride >> 6 & 1) * 2);
    kernel.stride_y = static_cast<uint8_t>(1 + (stride >> 1 & 1) + (stride >> 9 & 1) * 2);
    kernel.part_kernel_first = (stride >> 2 & 1) != 0;
    kernel.dilation_x = static_cast<uint8_t>(1 + (stride >> 3 & 1));
    kernel.dilation_y = static_cast<uint8_t>(1 + (stride >> 4 & 1));
    kernel.decomposition_4x4 = (stride >> 5 & 1) != 0;
    kernel.width = narrow(Reg0::KERNEL_WIDTH_M1) / kernel.dilation_x + 1;
    kernel.height = narrow(Reg0::KERNEL_HEIGHT_M1) / kernel.dilation_y + 1;
    operation->ifm.depth = narrow(Reg0::IFM_DEPTH_M1) + 1;
    operation->ifm.bits =
        static_cast<uint8_t>(8U << field(Reg0::IFM_PRECISION, "IFM_PRECISION", "precision"));
    operation->ofm.depth = narrow(Reg0::OFM_DEPTH_M1) + 1;
    operation->block_depth = narrow(Reg0::OFM_BLK_DEPTH_M1) + 1;
    const uint32_t accumulator = narrow(Reg0::ACC_FORMAT);
    operation->accumulator = static_cast<uint8_t>(accumulator & 3);
    operation->microblock = static_cast<Microblock>(accumulator >> 8 & 7);
    const uint32_t format = narrow(Reg0::WEIGHT_FORMAT);
    operation->fast_weights = (format & 1) != 0;
    operation->sparse = (format >> 4 & 1) != 0;
  }

  Status streams(Convolution* found) const {
    const bool u85 = config_.generation == Generation::kU85;
    const std::array<Reg1, 4> bases = {Reg1::WEIGHT_BASE, Reg1::WEIGHT1_BASE, Reg1::WEIGHT2_BASE,
                                       Reg1::WEIGHT3_BASE};
    const std::array<Reg1, 4> lengths = {Reg1::WEIGHT_LENGTH, Reg1::WEIGHT1_LENGTH,
                                         Reg1::WEIGHT2_LENGTH, Reg1::WEIGHT3_LENGTH};
    const uint32_t cores = config_.cores;
    found->operation.cores = static_cast<uint8_t>(cores);
    const uint32_t count = found->operation.fast_weights ? 1 : cores;
    for (uint32_t core = 0; core < count; ++core) {
      THIMBLE_TRY(Bytes weights, bytes(narrow(Reg0::WEIGHT_REGION), wide(bases[core]),
                                       wide(lengths[core]) & 0xFFFFFFFF));
      found->weights.push_back(std::move(weights));
    }
    for (uint32_t core = 0; core < (u85 ? 1 : cores); ++core) {
      THIMBLE_TRY(
          Bytes scales,
          bytes(narrow(Reg0::SCALE_REGION), wide(core == 0 ? Reg1::SCALE_BASE : Reg1::SCALE1_BASE),
                wide(core == 0 ? Reg1::SCALE_LENGTH : Reg1::SCALE1_LENGTH) & 0xFFFFF));
      found->scales.push_back(std::move(scales));
    }
    return ok();
  }

  Status convolution(uint32_t word, Operation code) {
    Convolution found;
    found.word = word;
    found.operation.code = code;
    shape(&found.operation);
    THIMBLE_CHECK(streams(&found));
    if (seen_.insert(found.weights).second) case_.convolutions.push_back(std::move(found));
    return ok();
  }

  const Config& config_;
  Case case_;
  std::array<Bytes, 8> regions_;
  std::map<uint16_t, uint32_t> narrow_;
  std::map<uint16_t, uint64_t> wide_;
  std::set<std::vector<Bytes>> seen_;
};

}  // namespace

Result<Case> read_case(const std::string& folder) {
  std::ifstream meta(folder + "/meta.txt");
  if (!meta) return bad_input("cannot read {}/meta.txt", folder);
  std::string line, first, config_name;
  std::vector<std::pair<size_t, Bytes>> regions;
  while (std::getline(meta, line)) {
    std::istringstream words(line);
    words >> first;
    if (first == "config") words >> config_name;
    if (first != "region") continue;
    size_t index = 0, size = 0;
    std::string source;
    words >> index >> source >> size;
    if (index > 7) return bad_input("{} has a region {}", folder, index);
    Bytes content(size);
    if (source != "zero") {
      THIMBLE_TRY(content, read_file(folder + "/" + source));
    }
    regions.emplace_back(index, std::move(content));
  }
  const Config* config = find_config(config_name.c_str());
  if (config == nullptr) return bad_input("{} names no configuration", folder);
  Reader reader(*config);
  for (auto& [index, content] : regions) reader.region(index, std::move(content));
  THIMBLE_TRY(const Bytes payload, read_file(folder + "/cmd.bin"));
  THIMBLE_TRY(const std::vector<uint32_t> words, stream_words(payload));
  return reader.read(words);
}

}  // namespace thimble::ethos_u_weights
