// SPDX-License-Identifier: Apache-2.0
#include "cycles/counted_blocks.h"

#include <algorithm>
#include <charconv>

#include "base/lines.h"
#include "cycles/core_timing.h"

namespace thimble::cycles {
namespace {

/// Removes the next word of a line and returns it.
std::string_view next_word(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}
template <typename T>
bool parse(std::string_view word, T* value, int base = 10) {
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, *value, base);
  return error == std::errc() && at == end;
}

bool parse_hex(std::string_view word, Bytes* bytes) {
  if (word.size() % 2 != 0) return false;
  for (size_t i = 0; i < word.size(); i += 2) {
    uint8_t value = 0;
    if (!parse(word.substr(i, 2), &value, 16)) return false;
    bytes->push_back(std::byte{value});
  }
  return true;
}

bool is_conditional(InsnKind kind) {
  return kind == InsnKind::branch_if || kind == InsnKind::compare_branch;
}
bool is_indirect(InsnKind kind) {
  return kind == InsnKind::branch_register || kind == InsnKind::branch_table ||
         kind == InsnKind::load_branch;
}

/// Cycles of the branch from one block to another, if there is one.
int64_t branch_cycles(const ControlFlow& flow, const Insn& last, const Insn& target) {
  if (target.address == last.end() || last.kind == InsnKind::loop_end) return 0;
  if (flow.predicts && !is_indirect(last.kind)) return 0;
  return flow.refill + (target.wide && target.address % 4 != 0 ? flow.wide_target : 0);
}

int64_t edge_cycles(const CoreTiming& timing, std::span<const Insn> from, std::span<const Insn> to,
                    bool is_loop) {
  // A loop is in its steady state after its second time.
  std::vector<Insn> before(from.begin(), from.end());
  if (is_loop) before.insert(before.end(), from.begin(), from.end());
  int64_t cycles = timing.cycles(before, to);
  if (!from.empty() && !to.empty()) {
    cycles += branch_cycles(timing.control_flow(), from.back(), to.front());
  }
  return cycles;
}

/// Adds the cost of wrong predictions: of the two directions of a conditional branch, the one that
/// is taken less often is taken to be predicted wrongly each time.
void add_mispredictions(const CountedBlocks& counted, const ControlFlow& flow,
                        std::map<Scope, int64_t>* cycles) {
  std::map<std::pair<Scope, size_t>, std::pair<int64_t, int64_t>> directions;
  for (const Edge& edge : counted.edges) {
    const std::vector<Insn>& from = counted.blocks[edge.from];
    const std::vector<Insn>& to = counted.blocks[edge.to];
    if (from.empty() || to.empty() || !is_conditional(from.back().kind)) continue;
    auto& [next, other] = directions[{edge.scope, edge.from}];
    (to.front().address == from.back().end() ? next : other) += edge.count;
  }
  for (const auto& [key, counts] : directions) {
    (*cycles)[key.first] += flow.refill * std::min(counts.first, counts.second);
  }
}

}  // namespace

Result<CountedBlocks> parse_counted_blocks(std::string_view text, std::string_view label) {
  CountedBlocks counted;
  counted.blocks.emplace_back();
  size_t number = 0;
  for (const std::string_view whole : base::lines_of(text)) {
    ++number;
    std::string_view line = whole;
    const std::string_view key = next_word(&line);
    bool valid = true;
    if (key == "block") {
      size_t block = 0;
      uint32_t address = 0;
      Bytes code;
      valid = parse(next_word(&line), &block) && parse(next_word(&line), &address, 16) &&
              parse_hex(next_word(&line), &code) && block == counted.blocks.size();
      counted.blocks.push_back(decode(address, code));
    } else if (key == "edge") {
      Edge edge;
      edge.scope.first = next_word(&line);
      valid = parse(next_word(&line), &edge.scope.second) && parse(next_word(&line), &edge.from) &&
              parse(next_word(&line), &edge.to) && parse(next_word(&line), &edge.count) &&
              edge.from < counted.blocks.size() && edge.to < counted.blocks.size();
      counted.edges.push_back(std::move(edge));
    }
    if (valid) continue;
    return bad_input("{}:{}: found {}, expected {}", label, number, whole,
                     key == "block" ? "block NUMBER ADDRESS CODE, with the next number"
                                    : "edge SCOPE INDEX BLOCK BLOCK COUNT of blocks above");
  }
  return counted;
}

std::map<Scope, int64_t> scope_cycles(const CountedBlocks& counted, std::string_view name) {
  const CoreTiming* const timing = core_timing(name);
  std::map<Scope, int64_t> cycles;
  if (timing == nullptr) return cycles;
  std::map<std::pair<size_t, size_t>, int64_t> known;
  for (const Edge& edge : counted.edges) {
    const auto [entry, is_new] = known.try_emplace({edge.from, edge.to});
    if (is_new) {
      entry->second = edge_cycles(*timing, counted, edge);
    }
    cycles[edge.scope] += entry->second * edge.count;
  }
  if (timing->control_flow().predicts) {
    add_mispredictions(counted, timing->control_flow(), &cycles);
  }
  return cycles;
}

int64_t edge_cycles(const CoreTiming& timing, const CountedBlocks& counted, const Edge& edge) {
  return edge_cycles(timing, counted.blocks[edge.from], counted.blocks[edge.to],
                     edge.from == edge.to);
}

}  // namespace thimble::cycles
