// Texts: IR, parts, JSON, the text forms of programs of NPUs, and the header that Nordic's compiler
// writes.

#include <cstdlib>
#include <string_view>

#include "engine/part.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/ethos_u/text/text.h"
#include "engines/neutron/text/text.h"
#include "formats/pt2/json.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/fuzz/mutate_json.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Outcome read_ir(ByteView bytes) {
  const auto graph = ir::parse(text_of(bytes), "x.ir");
  if (!graph) return Outcome::kRejected;
  if (ir::verify(*graph)) (void)ir::print(*graph);
  return Outcome::kAccepted;
}

Outcome read_part(ByteView bytes) {
  return engine::parse_part(text_of(bytes), "x") ? Outcome::kAccepted : Outcome::kRejected;
}

namespace json = formats::pt2::json;

/// Reads the value as each kind, so that messages with its path are made too.
void visit(const json::Value& value, int depth) {
  (void)value.as_int();
  (void)value.as_float();
  (void)value.as_bool();
  (void)value.as_string();
  (void)value.at("a");
  (void)value.maybe("arg");
  (void)value.tagged();
  if (depth > 8) return;
  int left = 32;
  if (const auto elements = value.elements()) {
    for (const json::Value& element : *elements) {
      if (left-- > 0) visit(element, depth + 1);
    }
  }
  if (const auto members = value.members()) {
    for (const json::Value::Member& member : *members) {
      if (left-- > 0) visit(member.value, depth + 1);
    }
  }
}

Outcome read_json(ByteView bytes) {
  const auto document = json::Document::parse(Bytes(bytes.begin(), bytes.end()), "x.json");
  if (!document) return Outcome::kRejected;
  visit(document->root(), 0);
  return Outcome::kAccepted;
}

Bytes mutate_json_bytes(Bytes bytes, const Bytes& other, Random& random) {
  nlohmann::json root = parse_json(as_text(bytes));
  if (root.is_discarded()) return mutate(std::move(bytes), other, random);
  mutate_json(root, random);
  const std::string text = to_text(root, random);
  const ByteView view = as_byte_view(text);
  return {view.begin(), view.end()};
}

Outcome read_compiled_header(ByteView bytes) {
  return formats::axon::read_compiled_header(text_of(bytes), "x.h") ? Outcome::kAccepted
                                                                    : Outcome::kRejected;
}

Outcome read_stream_text(ByteView bytes) {
  bool accepted = false;
  for (const auto generation : {ethos_u::Generation::kU55, ethos_u::Generation::kU85}) {
    const auto words = ethos_u::text::assemble(text_of(bytes), generation, "x");
    if (!words) continue;
    accepted = true;
    const std::string text = ethos_u::text::disassemble(*words, generation);
    const auto again = ethos_u::text::assemble(text, generation, "x");
    if (!again || *again != *words) std::abort();
  }
  return accepted ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_kernel_list_text(ByteView bytes) {
  const auto program = neutron::text::parse(text_of(bytes), "x");
  if (!program) return Outcome::kRejected;
  (void)neutron::text::print(*program, {}, "x");
  return Outcome::kAccepted;
}

}  // namespace

std::vector<Target> text_targets() {
  return {{"axon_header", read_compiled_header},
          {"ethos_u_text", read_stream_text},
          {"ir", read_ir},
          {"json", read_json, mutate_json_bytes},
          {"neutron_text", read_kernel_list_text},
          {"part", read_part}};
}

}  // namespace thimble::fuzz
