// SPDX-License-Identifier: Apache-2.0
// Texts: IR, parts, JSON, the text forms of programs of NPUs, and the header that Nordic's compiler
// writes.

#include <cstdlib>
#include <iterator>
#include <string_view>

#include "engine/part.h"
#include "engine/toml_value.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/ethos_u/text/text.h"
#include "engines/neutron/text/text.h"
#include "formats/pt2/json.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/fuzz/mutate_json.h"
#include "tests/fuzz/mutate_text.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

Outcome read_ir(ByteView bytes) {
  const auto graph = ir::parse(as_text(bytes), "x.ir");
  if (!graph || !ir::verify(*graph)) return Outcome::kRejected;
  (void)ir::print(*graph);
  return Outcome::kAccepted;
}

/// The text of a graph in which each bracket outside of quotes is closed by its counterpart.
bool has_pairs(ByteView bytes) {
  constexpr std::string_view kOpen = "([{", kClose = ")]}";
  std::string open;
  bool is_quoted = false;  // a line of the user's source
  char before = 0;
  for (const char c : as_text(bytes)) {
    if (c == '"' && before != '\\') is_quoted = !is_quoted;
    before = c;
    if (is_quoted) continue;
    if (const size_t kind = kOpen.find(c); kind != std::string_view::npos) {
      open.push_back(kClose[kind]);
    } else if (kClose.find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty() && as_text(bytes).starts_with("graph @");
}

Outcome read_part(ByteView bytes) {
  return engine::parse_part(as_text(bytes), "x") ? Outcome::kAccepted : Outcome::kRejected;
}

bool is_toml(ByteView bytes) {
  return engine::parse_toml(as_text(bytes), "x").ok();
}

namespace json = formats::pt2::json;

constexpr void (*kReads[])(const json::Value&) = {
    [](const json::Value& value) { (void)value.as_int(); },
    [](const json::Value& value) { (void)value.as_float(); },
    [](const json::Value& value) { (void)value.as_bool(); },
    [](const json::Value& value) { (void)value.as_string(); },
    [](const json::Value& value) { (void)value.at("a"); },
    [](const json::Value& value) { (void)value.maybe("arg"); },
    [](const json::Value& value) { (void)value.tagged(); },
    [](const json::Value& value) { (void)value.elements(); },
    [](const json::Value& value) { (void)value.members(); },
};

/// Reads the value as its kind and as one of kReads, whose message has its path. `count`: the
/// number of visited values.
void visit(const json::Value& value, int depth, size_t& count) {
  kReads[count++ % std::size(kReads)](value);
  if (depth > 8) return;
  int left = 32;
  if (value.is_array()) {
    const auto elements = value.elements();
    for (const json::Value& element : *elements) {
      if (left-- > 0) visit(element, depth + 1, count);
    }
  } else if (value.is_object()) {
    const auto members = value.members();
    for (const json::Value::Member& member : *members) {
      if (left-- > 0) visit(member.value, depth + 1, count);
    }
  }
}

Outcome read_json(ByteView bytes) {
  const auto document = json::Document::parse(copy_of(bytes), "x.json");
  if (!document) return Outcome::kRejected;
  size_t count = 0;
  visit(document->root(), 0, count);
  return Outcome::kAccepted;
}

Outcome read_compiled_header(ByteView bytes) {
  return formats::axon::read_compiled_header(as_text(bytes), "x.h") ? Outcome::kAccepted
                                                                    : Outcome::kRejected;
}

Outcome read_stream_text(ByteView bytes) {
  bool accepted = false;
  for (const auto generation : {ethos_u::Generation::kU55, ethos_u::Generation::kU85}) {
    const auto words = ethos_u::text::assemble(as_text(bytes), generation, "x");
    if (!words) continue;
    accepted = true;
    const std::string text = ethos_u::text::disassemble(*words, generation);
    const auto again = ethos_u::text::assemble(text, generation, "x");
    if (!again || *again != *words) std::abort();
  }
  return accepted ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_kernel_list_text(ByteView bytes) {
  const auto program = neutron::text::parse(as_text(bytes), "x");
  if (!program) return Outcome::kRejected;
  (void)neutron::text::print(*program, {}, "x");
  return Outcome::kAccepted;
}

}  // namespace

std::vector<Target> text_targets() {
  return {{"axon_header", read_compiled_header, mutate_text},
          {"ethos_u_text", read_stream_text, mutate_text},
          {"ir", read_ir, mutate_text, has_pairs},
          {"json", read_json, mutate_json_text},
          {"neutron_text", read_kernel_list_text, mutate_text},
          {"part", read_part, mutate_text, is_toml}};
}

}  // namespace thimble::fuzz
