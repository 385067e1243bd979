// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_npu.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/aligned_bytes.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/container/program.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/isa.h"
#include "engines/neutron/container/payload.h"
#include "engines/neutron/container/program.h"
#include "tests/fuzz/npu_run_input.h"

namespace thimble::fuzz {
namespace {

// --- command streams -----------------------------------------------------------------------------

struct Command {
  uint32_t word = 0;
  uint32_t payload = 0;
};
using Commands = std::vector<Command>;

Commands commands_of(const std::vector<uint32_t>& words) {
  Commands commands;
  for (size_t i = 0; i < words.size(); ++i) {
    Command command{words[i], 0};
    if (ethos_u::has_payload(words[i]) && i + 1 < words.size()) command.payload = words[++i];
    commands.push_back(command);
  }
  return commands;
}

std::vector<uint32_t> words_of(const Commands& commands) {
  std::vector<uint32_t> words;
  for (const Command& command : commands) {
    words.push_back(command.word);
    if (ethos_u::has_payload(command.word)) words.push_back(command.payload);
  }
  return words;
}

/// A command of any generation with a small random parameter.
Command random_command(Random& random) {
  const ethos_u::CommandRow& row = ethos_u::kCommands[below(random, std::size(ethos_u::kCommands))];
  const auto value = static_cast<uint32_t>(below(random, 64));
  if (!row.payload) return {ethos_u::word0(row.code, value), 0};
  return {ethos_u::word1(row.code, 0), value * 16};
}

void change_parameter(Command& command, Random& random) {
  if (ethos_u::has_payload(command.word) && random() % 4 != 0) {
    command.payload = mutate_word(command.payload, 32, random);
    return;
  }
  const uint32_t parameter = mutate_word(ethos_u::parameter_of(command.word), 32, random);
  command.word = (command.word & 0xFFFF) | parameter << 16;
}

void change_commands(Commands& commands, const Commands& other, Random& random) {
  if (commands.empty()) return;
  const size_t at = below(random, commands.size());
  const auto iterator = commands.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 12) {
    case 0:
      commands.erase(iterator);
      return;
    case 1:
      commands.insert(iterator, commands[below(random, commands.size())]);
      return;
    case 2:
      commands.insert(iterator, random_command(random));
      return;
    case 3:
      std::swap(commands[at], commands[below(random, commands.size())]);
      return;
    case 4: {
      if (other.empty()) return;
      const size_t from = below(random, other.size());
      const size_t count = std::min(other.size() - from, 1 + below(random, 16));
      const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
      commands.insert(iterator, first, first + static_cast<std::ptrdiff_t>(count));
      return;
    }
    default:
      change_parameter(commands[at], random);
  }
}

void change_stream(std::vector<uint32_t>& words, const std::vector<uint32_t>& other,
                   Random& random) {
  Commands commands = commands_of(words);
  const Commands others = commands_of(other);
  for (size_t left = 1 + below(random, 4); left > 0; --left) {
    change_commands(commands, others, random);
  }
  words = words_of(commands);
}

std::vector<uint32_t> to_words(ByteView bytes) {
  std::vector<uint32_t> words;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) words.push_back(load_le<uint32_t>(bytes, i));
  return words;
}

// --- records -------------------------------------------------------------------------------------

/// Changes a number of 1, 2 or 4 bytes inside [begin, end).
void change_number(uint8_t* bytes, size_t begin, size_t end, Random& random) {
  if (begin >= end) return;
  const size_t width = size_t{1} << below(random, 3);
  const size_t at = (begin + below(random, end - begin)) / width * width;
  if (at < begin || at + width > end) return;
  uint32_t value = 0;
  std::memcpy(&value, bytes + at, width);
  value = mutate_word(value, 8 * width, random);
  std::memcpy(bytes + at, &value, width);
}

/// Changes records of `size` bytes: numbers, or a part of one that is copied to another.
void change_records(uint8_t* bytes, size_t first, size_t count, size_t size, Random& random) {
  if (count == 0) return;
  const size_t record = first + size * below(random, count);
  if (random() % 4 != 0) return change_number(bytes, record, record + size, random);
  const size_t from = first + size * below(random, count);
  const size_t at = below(random, size / 4) * 4;
  const size_t length = std::min(size - at, 4 * (1 + below(random, 8)));
  std::memmove(bytes + record + at, bytes + from + at, length);
}

Bytes to_bytes(const AlignedBytes& data) {
  return copy_of(std::as_bytes(std::span(data.data(), data.size())));
}

bool inside(size_t offset, size_t count, size_t record_bytes, size_t size) {
  return offset <= size && count * record_bytes <= size - offset;
}

}  // namespace

Bytes mutate_stream(Bytes bytes, const Bytes& other, Random& random) {
  std::vector<uint32_t> words = to_words(bytes);
  change_stream(words, to_words(other), random);
  Bytes changed;
  for (const uint32_t word : words) append_le(changed, word);
  return changed;
}

Bytes mutate_ethos_u_payload(Bytes bytes, const Bytes& other, Random& random) {
  constexpr size_t kFrame = abi::ethos_u::kHeaderBytes;  // the first and the last block are empty
  auto payload = formats::ethos_u::read_payload(bytes);
  if (!payload) return mutate(std::move(bytes), other, random);
  const uint64_t choice = random() % 8;
  if (choice == 0) {
    payload->weights = mutate(std::move(payload->weights), other, random);
  } else if (choice == 1) {
    payload->scratch_bytes = static_cast<int64_t>(below(random, size_t{128} << 10));
  } else if (choice <= 3) {
    const ByteView all(bytes);
    Bytes changed = copy_of(all.first(kFrame));
    append(changed, mutate(copy_of(all.subspan(kFrame, all.size() - 2 * kFrame)), other, random));
    append(changed, all.last(kFrame));
    return changed;
  } else {
    Bytes& commands = payload->commands;
    ethos_u::DriverPayload driver;
    if (!ethos_u::read_driver_payload(reinterpret_cast<const uint8_t*>(commands.data()),
                                      static_cast<uint32_t>(commands.size()), driver)) {
      return mutate(std::move(bytes), other, random);
    }
    const auto stream = std::span(commands).subspan(driver.stream_offset);
    Bytes changed = mutate_stream(copy_of(stream), {}, random);
    changed.resize(stream.size());  // as the driver's header says
    std::ranges::copy(changed, stream.begin());
  }
  auto written = formats::ethos_u::write_payload(*payload);
  return written ? std::move(*written) : bytes;
}

Bytes mutate_ethos_u_run(Bytes bytes, const Bytes& other, Random& random) {
  EthosURunInput input = read_ethos_u_run(bytes);
  if (input.words.empty()) return mutate(std::move(bytes), other, random);
  switch (random() % 10) {
    case 0:
      input.config = static_cast<uint8_t>(random() % std::size(ethos_u::kConfigs));
      break;
    case 1:
      input.seed = static_cast<uint8_t>(random());
      break;
    case 2:
      input.constants =
          mutate(std::move(input.constants), read_ethos_u_run(other).constants, random);
      break;
    default:
      change_stream(input.words, read_ethos_u_run(other).words, random);
  }
  return write_ethos_u_run(input);
}

Bytes mutate_axon_list(Bytes bytes, const Bytes& other, Random& random) {
  axon::Header header;
  if (bytes.size() < sizeof header) return mutate(std::move(bytes), other, random);
  AlignedBytes list{ByteView(bytes)};
  std::memcpy(&header, list.data(), sizeof header);
  const size_t ios = size_t{header.input_count} + header.output_count;
  if (!inside(header.io_offset, ios, sizeof(axon::IoRecord), bytes.size()) ||
      !inside(header.layers_offset, header.layer_count, sizeof(axon::LayerRecord), bytes.size())) {
    return mutate(std::move(bytes), other, random);
  }
  for (size_t left = 1 + below(random, 4); left > 0; --left) {
    switch (random() % 8) {
      case 0:
        change_number(list.data(), 0, sizeof header, random);
        break;
      case 1:
        change_records(list.data(), header.io_offset, ios, sizeof(axon::IoRecord), random);
        break;
      case 2:
        change_number(list.data(), std::min<size_t>(header.constants_offset, bytes.size()),
                      bytes.size(), random);
        break;
      default:
        change_records(list.data(), header.layers_offset, header.layer_count,
                       sizeof(axon::LayerRecord), random);
    }
  }
  return repair_axon_list(to_bytes(list));
}

Bytes repair_axon_list(Bytes bytes) {
  if (bytes.size() < sizeof(axon::Header)) return bytes;
  const AlignedBytes list{ByteView(bytes)};
  const uint64_t hash = axon::content_hash(list.data(), static_cast<uint32_t>(list.size()));
  std::memcpy(bytes.data() + offsetof(axon::Header, content_hash), &hash, sizeof hash);
  return bytes;
}

Bytes mutate_axon_program(Bytes bytes, const Bytes& other, Random& random) {
  using abi::axon::ProgramHeader;
  if (bytes.size() < sizeof(ProgramHeader)) return mutate(std::move(bytes), other, random);
  AlignedBytes program{ByteView(bytes)};
  for (size_t left = 1 + below(random, 4); left > 0; --left) {
    const bool in_header = random() % 2 == 0;
    change_number(program.data(), in_header ? 0 : sizeof(ProgramHeader),
                  in_header ? sizeof(ProgramHeader) : program.size(), random);
  }
  return repair_axon_program(to_bytes(program));
}

Bytes repair_axon_program(Bytes bytes) {
  using abi::axon::ProgramHeader;
  if (bytes.size() < sizeof(ProgramHeader)) return bytes;
  const AlignedBytes program{ByteView(bytes)};
  const uint64_t hash =
      abi::axon::program_hash(program.data(), static_cast<uint32_t>(program.size()));
  std::memcpy(bytes.data() + offsetof(ProgramHeader, content_hash), &hash, sizeof hash);
  return bytes;
}

namespace {

/// Stores the hash of a kernel list, if the bytes begin with one.
void repair_kernel_list(std::span<std::byte> bytes) {
  neutron::Header header;
  if (bytes.size() < sizeof header) return;
  const AlignedBytes aligned{ByteView(bytes.data(), bytes.size())};
  std::memcpy(&header, aligned.data(), sizeof header);
  const size_t weights_at = (size_t{header.program_bytes} + 15) / 16 * 16;
  if (header.program_bytes < sizeof header ||
      !inside(weights_at, header.weight_bytes, 1, bytes.size())) {
    return;
  }
  const uint32_t hash = neutron::content_hash(aligned.data(), header.program_bytes,
                                              aligned.data() + weights_at, header.weight_bytes);
  std::memcpy(bytes.data() + offsetof(neutron::Header, content_hash), &hash, sizeof hash);
}

}  // namespace

bool mutate_kernel_list(std::span<std::byte> bytes, Random& random) {
  neutron::Header header;
  if (bytes.size() < sizeof header) return false;
  auto* const program = reinterpret_cast<uint8_t*>(bytes.data());
  std::memcpy(&header, program, sizeof header);
  const size_t weights_at = (size_t{header.program_bytes} + 15) / 16 * 16;
  const size_t ios = size_t{header.input_count} + header.output_count;
  if (header.program_bytes < sizeof header ||
      !inside(weights_at, header.weight_bytes, 1, bytes.size()) ||
      !inside(header.io_offset, ios, sizeof(neutron::IoRecord), header.program_bytes) ||
      !inside(header.kernels_offset, header.kernel_count, sizeof(neutron::KernelRecord),
              header.program_bytes)) {
    return false;
  }
  uint8_t* const weights = program + weights_at;
  for (size_t left = 1 + below(random, 4); left > 0; --left) {
    switch (random() % 8) {
      case 0:
        change_number(program, 0, sizeof header, random);
        break;
      case 1:
        change_records(program, header.io_offset, ios, sizeof(neutron::IoRecord), random);
        break;
      case 2:
        change_number(weights, 0, header.weight_bytes, random);
        break;
      default:
        change_records(program, header.kernels_offset, header.kernel_count,
                       sizeof(neutron::KernelRecord), random);
    }
  }
  repair_kernel_list(bytes);
  return true;
}

namespace {

/// Returns the offset of the kernel list in a payload; nothing for other bytes.
std::optional<size_t> kernel_list_at(ByteView bytes) {
  const AlignedBytes payload{bytes};
  abi::neutron::PayloadView view;
  abi::neutron::PayloadProblem problem;
  if (!abi::neutron::read_payload(payload.data(), static_cast<uint32_t>(payload.size()), view,
                                  problem)) {
    return std::nullopt;
  }
  return static_cast<size_t>(view.program - payload.data());
}

}  // namespace

Bytes repair_neutron_payload(Bytes bytes) {
  if (const auto at = kernel_list_at(bytes)) repair_kernel_list(std::span(bytes).subspan(*at));
  return bytes;
}

Bytes mutate_neutron_payload(Bytes bytes, const Bytes& other, Random& random) {
  if (const auto program_at = kernel_list_at(bytes)) {
    if (random() % 8 == 0) {
      change_number(reinterpret_cast<uint8_t*>(bytes.data()), 0, *program_at, random);
      return bytes;
    }
    if (mutate_kernel_list(std::span(bytes).subspan(*program_at), random)) return bytes;
  }
  return mutate(std::move(bytes), other, random);
}

void mutate_parameter(std::span<std::byte> words, Random& random) {
  const size_t count = words.size() / 4;
  if (count < 2) return;
  const size_t at = 4 * below(random, count - 1);
  const ByteView view(words.data(), words.size());
  Command command{load_le<uint32_t>(view, at), load_le<uint32_t>(view, at + 4)};
  change_parameter(command, random);
  Bytes changed;
  append_le(changed, command.word);
  if (ethos_u::has_payload(command.word)) append_le(changed, command.payload);
  std::copy(changed.begin(), changed.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace thimble::fuzz
