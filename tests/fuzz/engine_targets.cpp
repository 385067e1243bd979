// SPDX-License-Identifier: Apache-2.0
// Printers of the programs of NPUs: command streams, layer lists and kernel lists.

#include <cstdlib>
#include <cstring>

#include "base/aligned_bytes.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/container/marker.h"
#include "engines/axon/container/program.h"
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

volatile uint32_t sum = 0;  // volatile, so that the reads are not removed

/// Reads the program, or the marker of one in the firmware, as the delegates for Nordic's driver
/// do.
Outcome read_axon_program(ByteView bytes) {
  const AlignedBytes program(bytes);
  const auto size = static_cast<uint32_t>(program.size());
  abi::axon::Marker marker;
  if (abi::axon::read_marker(program.data(), size, marker)) {
    sum = sum + static_cast<uint8_t>(marker.name[marker.name_bytes - 1]);
    return Outcome::kAccepted;
  }
  if (abi::axon::check_program(program.data(), size) != abi::axon::ProgramStatus::kOk) {
    return Outcome::kRejected;
  }
  const abi::axon::ProgramView view(program.data());
  for (uint32_t i = 0; i < view.header().word_count; ++i) {
    sum = sum + view.word(i) + uint32_t{view.is_address(i)};
  }
  for (uint32_t i = 0; i < view.io_count(); ++i) sum = sum + view.io(i).offset;
  for (uint32_t i = 0; i < view.header().constant_bytes; ++i) sum = sum + view.constants()[i];
  sum = sum + static_cast<uint32_t>(std::strlen(view.name()));
  const char* symbol = view.symbols();
  for (uint32_t i = 0; i < view.header().symbol_count; ++i) symbol += std::strlen(symbol) + 1;
  if (symbol != view.symbols() + view.header().symbol_bytes) std::abort();
  return Outcome::kAccepted;
}

bool is_axon_program(ByteView bytes) {
  using abi::axon::ProgramStatus;
  const AlignedBytes program(bytes);
  abi::axon::ProgramHeader header;
  if (bytes.size() < sizeof header) return read_axon_program(bytes) == Outcome::kAccepted;
  std::memcpy(&header, program.data(), sizeof header);
  return header.magic == abi::axon::kProgramMagic && header.version == abi::axon::kProgramVersion &&
         header.content_hash ==
             abi::axon::program_hash(program.data(), static_cast<uint32_t>(program.size()));
}

Outcome read_neutron_payload(ByteView bytes) {
  const auto payload = formats::neutron::read_payload(bytes);
  if (!payload) return Outcome::kRejected;
  (void)formats::neutron::verify_payload(bytes);
  (void)formats::neutron::kernel_list_fault(payload->program, payload->weights);
  (void)neutron::text::print(payload->program, payload->weights, "x");
  return Outcome::kAccepted;
}

}  // namespace

std::vector<Target> engine_targets() {
  return {{"axon_list", read_layer_list, mutate_axon_list, is_axon_list, nullptr, repair_axon_list},
          {"axon_program", read_axon_program, mutate_axon_program, is_axon_program, nullptr,
           repair_axon_program},
          {"ethos_u_stream", read_stream, mutate_stream},
          {"neutron_payload", read_neutron_payload, mutate_neutron_payload, is_neutron_payload,
           nullptr, repair_neutron_payload}};
}

}  // namespace thimble::fuzz
