// SPDX-License-Identifier: Apache-2.0
// ethos_u_timeline PAYLOAD SYSTEM MODE [--operations]: prints the timeline of a command stream.
//
//   ethos_u_timeline cmd.bin Ethos_U55_High_End_Embedded Shared_Sram
//
// SYSTEM is a row of engines/ethos_u/isa/systems.def; MODE is Sram_Only, Shared_Sram or
// Dedicated_Sram. Prints the cycles, how long each engine is busy and what goes through the ports;
// with --operations, a line per operation: word, engine, start, end, what bounds it.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/timeline.h"

namespace {

namespace ethos_u = thimble::ethos_u;
namespace sim = thimble::ethos_u::sim;

int fail(const std::string& message) {
  std::fprintf(stderr, "ethos_u_timeline: %s\n", message.c_str());
  return 2;
}

bool mode_of(const std::string& name, ethos_u::MemoryMode* mode) {
  if (name == "Sram_Only") {
    *mode = ethos_u::MemoryMode::kSramOnly;
  } else if (name == "Shared_Sram") {
    *mode = ethos_u::MemoryMode::kSharedSram;
  } else if (name.starts_with("Dedicated_Sram")) {
    *mode = ethos_u::MemoryMode::kDedicatedSram;
  } else {
    return false;
  }
  return true;
}

void print(const sim::Timeline& timeline, const std::vector<sim::OperationTime>& operations) {
  for (const sim::OperationTime& operation : operations) {
    std::printf("%8u  %-6s  %12.0f  %12.0f  %s\n", operation.word,
                operation.kernel ? "kernel" : "dma", operation.start, operation.end,
                sim::bound_name(operation.bound));
  }
  std::printf("cycles %.0f  kernels %.0f  dma %.0f  macs %llu\n", timeline.cycles,
              timeline.kernel_cycles, timeline.dma_cycles,
              static_cast<unsigned long long>(timeline.macs));
  std::printf("axi0 read %.0f written %.0f  axi1 read %.0f written %.0f\n", timeline.read.of[0],
              timeline.written.of[0], timeline.read.of[1], timeline.written.of[1]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return fail("a payload, a system and a memory mode expected");
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
  ethos_u::DriverPayload payload;
  if (!file ||
      !ethos_u::read_driver_payload(bytes.data(), static_cast<uint32_t>(bytes.size()), payload)) {
    return fail(std::string(argv[1]) + " is not a driver payload");
  }
  std::vector<uint32_t> words(payload.stream_words);
  std::memcpy(words.data(), bytes.data() + payload.stream_offset, words.size() * 4);
  std::vector<sim::OperationTime> operations(argc > 4 ? words.size() : 0);
  sim::TimelineJob job;
  job.config = ethos_u::config_of(payload.config);
  job.system = ethos_u::find_system(argv[2]);
  job.words = words.data();
  job.word_count = payload.stream_words;
  job.operations = operations.data();
  job.operation_capacity = static_cast<uint32_t>(operations.size());
  if (job.config == nullptr) return fail("the payload names an unknown NPU configuration");
  if (job.system == nullptr) return fail(std::string("unknown system ") + argv[2]);
  if (!mode_of(argv[3], &job.mode)) return fail(std::string("unknown memory mode ") + argv[3]);
  sim::Timeline timeline;
  const sim::Fault fault = sim::make_timeline(job, &timeline);
  if (!fault.none()) return fail("word " + std::to_string(fault.word) + ": " + fault.detail);
  if (!operations.empty()) operations.resize(timeline.operation_count);
  print(timeline, operations);
  return 0;
}
