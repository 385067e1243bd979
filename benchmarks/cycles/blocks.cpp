// SPDX-License-Identifier: Apache-2.0
// Prints the blocks of a counted run with their cycles on a core, for comparison with other models.
//
//   cycles_blocks COUNTS CORE [--operators]
//
// COUNTS is the output of firmware/qemu_plugin/insn_count.c. A line for each block that operators
// or the run executed: number, times, cycles in all (after the blocks before it), cycles of one
// iteration if the block is repeated, and its instructions in hexadecimal. With --operators a line
// for each operator: its number and its cycles.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "cycles/core_timing.h"
#include "cycles/counted_blocks.h"
#include "engine/part.h"

using namespace thimble;

namespace {

int64_t repeated(const cycles::CoreTiming& timing, const std::vector<cycles::Insn>& block) {
  std::vector<cycles::Insn> before = block;
  before.insert(before.end(), block.begin(), block.end());
  return timing.cycles(before, block);
}

/// Returns true if QEMU began or ended the block at the end of a page of 1 KiB, which depends on
/// where the linker placed the code: a loop is then two blocks.
bool is_cut(const std::vector<cycles::Insn>& block) {
  constexpr uint32_t kPageBytes = 1024;
  return block.front().address % kPageBytes == 0 || block.back().end() % kPageBytes == 0;
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
  const bool by_operator = argc == 4 && std::string_view(argv[3]) == "--operators";
  if (argc != 3 && !by_operator) {
    std::fprintf(stderr, "usage: cycles_blocks COUNTS CORE [--operators]\n");
    return 2;
  }
  std::ifstream stream(argv[1], std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return 2;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  const Result<cycles::CountedBlocks> counted = cycles::parse_counted_blocks(text.str(), argv[1]);
  const Result<engine::Part> part = engine::find_part(argv[2]);
  const cycles::CoreTiming* const timing = part ? cycles::core_timing(part->cpu->timing) : nullptr;
  if (!counted || timing == nullptr) {
    std::fprintf(stderr, "%s\n",
                 counted ? fmt::format("{}: no model of this core", argv[2]).c_str()
                         : counted.error().message.c_str());
    return 2;
  }
  if (by_operator) {
    for (const auto& [scope, cycles] : cycles::scope_cycles(*counted, part->cpu->timing)) {
      if (scope.first == "op") {
        std::printf("%d %lld\n", scope.second, static_cast<long long>(cycles));
      }
    }
    return 0;
  }
  std::vector<int64_t> times(counted->blocks.size()), sums(counted->blocks.size());
  for (const cycles::Edge& edge : counted->edges) {
    if (edge.scope.first != "op" && edge.scope.first != "run") continue;
    times[edge.to] += edge.count;
    sums[edge.to] += edge.count * cycles::edge_cycles(*timing, *counted, edge);
  }
  for (size_t i = 1; i < counted->blocks.size(); ++i) {
    if (times[i] == 0 || is_cut(counted->blocks[i])) continue;
    std::printf("%zu %lld %lld %lld ", i, static_cast<long long>(times[i]),
                static_cast<long long>(sums[i]),
                static_cast<long long>(repeated(*timing, counted->blocks[i])));
    print_code(counted->blocks[i]);
    std::printf("\n");
  }
  return 0;
}
