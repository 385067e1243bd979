// Prints the blocks of a counted run with their cycles on a core, for comparison with other models.
//
//   cycles_blocks COUNTS CORE
//
// COUNTS is the output of firmware/qemu_plugin/insn_count.c. A line for each block that operators
// or the run executed: number, times, cycles in all (after the blocks before it), cycles of one
// iteration if the block is repeated, and its instructions in hexadecimal.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "cycles/core_timing.h"
#include "cycles/trace.h"

using namespace thimble;

namespace {

int64_t repeated(const cycles::CoreTiming& timing, const std::vector<cycles::Insn>& block) {
  std::vector<cycles::Insn> before = block;
  before.insert(before.end(), block.begin(), block.end());
  return timing.cycles(before, block);
}

void print_code(const std::vector<cycles::Insn>& block) {
  for (const cycles::Insn& insn : block) {
    const auto halfword = [](uint32_t half) { std::printf("%02x%02x", half & 255, half >> 8); };
    if (insn.wide) halfword(insn.code >> 16);
    halfword(insn.code & 0xffff);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: cycles_blocks COUNTS CORE\n");
    return 2;
  }
  std::ifstream stream(argv[1], std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return 2;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  const Result<cycles::Trace> trace = cycles::parse_trace(text.str(), argv[1]);
  const cycles::CoreTiming* const timing = cycles::core_timing(argv[2]);
  if (!trace || timing == nullptr) {
    std::fprintf(stderr, "%s\n",
                 trace ? fmt::format("{}: no model of this core", argv[2]).c_str()
                       : trace.error().message.c_str());
    return 2;
  }
  std::vector<int64_t> times(trace->blocks.size()), sums(trace->blocks.size());
  for (const cycles::Edge& edge : trace->edges) {
    if (edge.region.first != "op" && edge.region.first != "run") continue;
    times[edge.to] += edge.count;
    sums[edge.to] += edge.count * cycles::edge_cycles(*timing, *trace, edge);
  }
  for (size_t i = 1; i < trace->blocks.size(); ++i) {
    if (times[i] == 0) continue;
    std::printf("%zu %lld %lld %lld ", i, static_cast<long long>(times[i]),
                static_cast<long long>(sums[i]),
                static_cast<long long>(repeated(*timing, trace->blocks[i])));
    print_code(trace->blocks[i]);
    std::printf("\n");
  }
  return 0;
}
