// The data of NPUs: payloads of delegates, command streams, layer and kernel lists.

#include <cstdlib>
#include <cstring>

#include "engines/axon/container/layers.h"
#include "engines/axon/text/text.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/text/payload.h"
#include "engines/ethos_u/text/text.h"
#include "engines/neutron/formats/payload.h"
#include "engines/neutron/text/text.h"
#include "tests/fuzz/mutate_npu.h"
#include "tests/fuzz/targets.h"

namespace thimble::fuzz {
namespace {

/// A payload of the delegate, and the driver's payload with the commands in it.
Outcome read_ethos_u_payload(ByteView bytes) {
  const auto payload = formats::ethos_u::read_payload(bytes);
  if (!payload) return Outcome::kRejected;
  const auto commands = ethos_u::text::read_payload(payload->commands, "x");
  if (commands) (void)ethos_u::text::print(*commands);
  return Outcome::kAccepted;
}

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
  return {{"axon_list", read_layer_list, mutate_axon_list},
          {"ethos_u_payload", read_ethos_u_payload},
          {"ethos_u_stream", read_stream, mutate_stream},
          {"neutron_payload", read_neutron_payload, mutate_neutron_payload}};
}

}  // namespace thimble::fuzz
