// Texts: IR and parts.

#include <string_view>

#include "engine/part.h"
#include "ir/print.h"
#include "ir/verify.h"
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

}  // namespace

std::vector<Target> text_targets() {
  return {{"ir", read_ir}, {"part", read_part}};
}

}  // namespace thimble::fuzz
