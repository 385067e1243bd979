// Printers of the programs of NPUs: command streams, layer lists and kernel lists.

#include <cstdlib>
#include <cstring>

#include "engines/axon/container/layers.h"
#include "engines/axon/text/text.h"
#include "engines/ethos_u/text/text.h"
#include "engines/neutron/formats/payload.h"
#include "engines/neutron/text/text.h"
#include "tests/fuzz/mutate_npu.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

Outcome read_stream(ByteView bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  // The text of any words assembles to the same words, or not at all.
  bool accepted = false;
  for (const auto generation : {ethos_u::Generation::kU55, ethos_u::Generation::kU85}) {
    const std::string text = ethos_u::text::disassemble(words, generation);
    const auto again = ethos_u::text::assemble(text, generation, "x");
    if (again && *again != words) std::abort();
    accepted = accepted || again.ok();
  }
  return accepted ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_layer_list(ByteView bytes) {
  return axon::text::print(bytes, "x") ? Outcome::kAccepted : Outcome::kRejected;
}

Outcome read_neutron_payload(ByteView bytes) {
  const auto payload = formats::neutron::read_payload(bytes);
  if (!payload) return Outcome::kRejected;
  (void)neutron::text::print(payload->program, payload->weights, "x");
  return Outcome::kAccepted;
}

}  // namespace

std::vector<Target> engine_targets() {
  return {{"axon_list", read_layer_list, mutate_axon_list, is_axon_list},
          {"ethos_u_stream", read_stream, mutate_stream},
          {"neutron_payload", read_neutron_payload, mutate_neutron_payload, is_neutron_payload}};
}

}  // namespace thimble::fuzz
