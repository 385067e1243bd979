// SPDX-License-Identifier: Apache-2.0
// A file with two methods that share a state: `count` adds its input to it, `show` returns it. Then
// files whose table of methods is damaged.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "abi/kernel_layout.h"
#include "abi/records.h"
#include "abi/status.h"
#include "formats/pte/records.h"
#include "runtime_support.h"
#include "thimble.hpp"

namespace thimble::runtime_test {
namespace {

using abi::Status;
using kernels::Call;
using kernels::Kernel;
using kernels::KernelTable;

constexpr uint32_t kBytes = 4, kStateAt = 32, kArenaBytes = 48;

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

/// y = x + the optional other; y may be x.
Status check_add(const Call& call) {
  const bool fits = call.args[0].tensor.bytes == kBytes && call.args[2].tensor.bytes == kBytes &&
                    (call.args[1].tensor.is_null || call.args[1].tensor.bytes == kBytes);
  return fits ? Status::kOk : Status::kBadShape;
}
void run_add(void* const* operands) {
  for (uint32_t i = 0; i < kBytes; ++i) {
    const auto* const other = static_cast<const uint8_t*>(operands[1]);
    const int x = static_cast<const uint8_t*>(operands[0])[i];
    static_cast<uint8_t*>(operands[2])[i] =
        static_cast<uint8_t>(x + (other != nullptr ? other[i] : 0));
  }
}
void run_never(const Call&) {
  FAIL();
}

constexpr char kLetters[] = "Tto";
const Kernel kAdd = {"test::add.out", kLetters, 9, check_add, run_never, nullptr, run_add};
const Kernel* const kRows[] = {&kAdd};

const thimble_kernels* add_kernels() {
  static const KernelTable table = {.kernels = kRows, .count = 1};
  return reinterpret_cast<const thimble_kernels*>(&table);
}

const abi::PteOpInfo* find_add(std::string_view name, size_t arguments) {
  static constexpr abi::PteOpInfo kOp = {"", "test::add.out", kLetters, {9, 0, 0}};
  return name == kOp.name && arguments == 3 ? &kOp : nullptr;
}

template <class T>
Bytes bytes_of(const T& value) {
  const auto* const data = reinterpret_cast<const std::byte*>(&value);
  return {data, data + sizeof value};
}

pte::Tensor tensor(std::optional<uint64_t> offset) {
  pte::Tensor made;
  made.scalar_type = pte::ScalarType::kChar;
  made.sizes = {1, 4};
  made.dim_order = {0, 1};
  if (offset) made.allocation = pte::Allocation{1, *offset};
  return made;
}

/// state = state + input, or result = state + None.
pte::ExecutionPlan plan(std::string name, bool counts) {
  pte::ExecutionPlan made;
  made.name = std::move(name);
  made.values = {tensor(kStateAt), pte::EValue(pte::Null{}), tensor(0)};
  if (counts) made.values[1] = tensor(std::nullopt);
  if (counts) made.inputs = {1};
  const int32_t result = counts ? 0 : 2;
  made.outputs = {result};
  made.operators = {{"test::add", "out"}};
  made.chains[0].instructions = {pte::KernelCall{0, {0, 1, result, result}}};
  made.memory_sizes = {0, kArenaBytes};
  return made;
}

pte::Program two_methods() {
  pte::Program program;
  program.plans = {plan("count", true), plan("show", false)};
  abi::ProgramEntry entry = {};
  entry.magic = abi::kProgramEntryMagic;
  entry.entry_version = abi::kEntryVersionHeaderOnly;
  entry.kernel_layout_version = abi::kKernelLayoutVersion;
  entry.arena_bytes = kArenaBytes;
  program.named_data.push_back({abi::kProgramEntryKey, 16, bytes_of(entry)});
  program.named_data.push_back({pte::entry_key(program, 1), 16, bytes_of(entry)});
  program.named_data.push_back({abi::kMethodsKey, 16, {}});
  Bytes states = bytes_of(abi::StateHeader{1, kBytes});
  append(states, bytes_of(abi::StateRecord{kStateAt, kBytes, 0, 7}));
  program.named_data.push_back({abi::kStateKey, 16, std::move(states)});
  const auto added = pte::add_records(program, find_add);
  EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().message);
  return program;
}

/// Both methods, with the memory that they share. Each part has exactly the needed size.
struct Methods {
  explicit Methods(ByteView bytes, std::array<const char*, 2> names = {"count", "show"})
      : file(bytes) {
    for (size_t i = 0; i < 2; ++i) {
      thimble_needs needs = {};
      status[i] = thimble_size_method(file.data(), file.size(), add_kernels(), names[i], &needs);
      if (status[i] != 0) continue;
      EXPECT_EQ(needs.arena_bytes, kArenaBytes);
      EXPECT_EQ(needs.saved_bytes, kBytes);
      state[i] = std::make_unique<GuardedMemory>(needs.state_bytes);
      status[i] =
          network[i].init_method(file.data(), file.size(), add_kernels(), names[i], arena.data(),
                                 arena.size(), state[i]->data(), state[i]->size());
    }
  }
  ~Methods() {
    EXPECT_TRUE(arena.intact());
    for (const auto& memory : state) EXPECT_TRUE(memory == nullptr || memory->intact());
  }
  GuardedMemory file;
  GuardedMemory arena{kArenaBytes};
  std::array<std::unique_ptr<GuardedMemory>, 2> state;
  std::array<Network, 2> network;
  std::array<thimble_status, 2> status{};
};

std::vector<int> output(const Network& network) {
  const Elements<const int8_t> found = network.output<int8_t>(0);
  return {found.begin(), found.end()};
}

TEST(RuntimeMethods, ShareTheirStates) {
  const pte::Program program = two_methods();
  EXPECT_TRUE(pte::check_records(program, "it", find_add).ok());
  Methods methods(written(program));
  ASSERT_EQ(methods.status[0], 0);
  ASSERT_EQ(methods.status[1], 0);
  const int8_t more[4] = {1, 2, 3, 4};
  ASSERT_EQ(methods.network[1].run(), 0);
  EXPECT_EQ(output(methods.network[1]), (std::vector<int>{7, 7, 7, 7}));
  EXPECT_EQ(methods.network[0].run(), code(Status::kInputNotSet));
  ASSERT_EQ(methods.network[0].set_input(0, more), 0);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(methods.network[0].run(), 0);
  ASSERT_EQ(methods.network[1].run(), 0);
  EXPECT_EQ(output(methods.network[1]), (std::vector<int>{9, 11, 13, 15}));
  ASSERT_EQ(methods.network[1].reset(), 0);
  ASSERT_EQ(methods.network[1].run(), 0);
  EXPECT_EQ(output(methods.network[1]), (std::vector<int>{7, 7, 7, 7}));
}

TEST(RuntimeMethods, FirstOneIsTheDefault) {
  LoadedModel loaded(written(two_methods()), add_kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(thimble_input_count(&loaded.model), 1u);
}

TEST(RuntimeMethods, UnknownNamesAreRefused) {
  const Bytes file = written(two_methods());
  for (const char* const name : {"coun", "counts", "", "a name of more than 28 letters, "}) {
    const Methods methods(file, {name, "show"});
    EXPECT_EQ(methods.status[0], code(Status::kMissingMethod)) << name;
    EXPECT_EQ(methods.status[1], 0);
  }
}

TEST(RuntimeMethods, TooLittleMemoryIsRefused) {
  const Bytes file = written(two_methods());
  const AlignedBytes pte{ByteView(file)};
  const GuardedMemory arena(kArenaBytes), state(64);
  const auto status_at = [&](uint8_t* memory, size_t arena_bytes, size_t state_bytes, void* at) {
    thimble_model model = {};
    return thimble_init_method(&model, pte.data(), pte.size(), add_kernels(), "count", memory,
                               arena_bytes, at, state_bytes);
  };
  const auto status = [&](size_t arena_bytes, size_t state_bytes, void* at) {
    return status_at(arena.data(), arena_bytes, state_bytes, at);
  };
  EXPECT_EQ(status(kArenaBytes, 64, state.data()), 0);
  EXPECT_EQ(status(kArenaBytes - 1, 64, state.data()), code(Status::kArenaTooSmall));
  EXPECT_EQ(status(kArenaBytes, sizeof(void*), state.data()), code(Status::kArenaTooSmall));
  EXPECT_EQ(status(kArenaBytes, 63, state.data() + 1), code(Status::kBadArgument));
  EXPECT_EQ(status(kArenaBytes, 16, arena.data() + 16), code(Status::kBadArgument));
  EXPECT_EQ(status(kArenaBytes, 0, nullptr), code(Status::kBadArgument));
  EXPECT_EQ(status_at(arena.data() + 8, kArenaBytes - 8, 64, state.data()),
            code(Status::kMisaligned));
}

/// Changes the bytes of an entry and writes the file.
template <class Change>
Bytes damaged(std::string_view key, const Change& change) {
  pte::Program program = two_methods();
  for (pte::NamedData& data : program.named_data) {
    if (data.key == key) change(data.bytes);
  }
  return written(program);
}

template <class T>
void put(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(RuntimeMethods, DamagedTablesAreRefused) {
  constexpr size_t kHeader = sizeof(abi::ProgramEntry);
  const std::string second = "thimble.show";
  const std::vector<Bytes> files = {
      // States of another size, or at another place.
      damaged(second,
              [&](Bytes& b) {
                put(b, kHeader + offsetof(abi::RecordsHeader, state_bytes), uint32_t{8});
              }),
      damaged(
          second,
          [&](Bytes& b) { put(b, kHeader + offsetof(abi::RecordsHeader, state_at), uint32_t{4}); }),
      // Another arena.
      damaged(second,
              [](Bytes& b) {
                put(b, offsetof(abi::ProgramEntry, arena_bytes), uint32_t{kArenaBytes + 16});
              }),
      // An entry of another version, at no multiple of 16, or after the end.
      damaged(second, [](Bytes& b) { put(b, 0, uint32_t{0}); }),
      damaged(second,
              [](Bytes& b) {
                put(b, offsetof(abi::ProgramEntry, entry_version), abi::kEntryVersionHeaderOnly);
              }),
      damaged(
          abi::kMethodsKey,
          [](Bytes& b) { put(b, sizeof(abi::MethodRecord) + abi::kMethodNameMax, uint32_t{8}); }),
      damaged(abi::kMethodsKey,
              [](Bytes& b) {
                put(b, sizeof(abi::MethodRecord) + abi::kMethodNameMax, uint32_t{0xFFFFFFF0});
              }),
      // More methods than the table has.
      damaged(abi::kProgramEntryKey,
              [](Bytes& b) { put(b, offsetof(abi::ProgramEntry, methods), uint16_t{0xFFFF}); }),
      damaged(abi::kProgramEntryKey, [](Bytes& b) { put(b, kHeader, uint32_t{0x7FFFFFFF}); }),
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const Methods methods(files[i]);
    EXPECT_EQ(methods.status[0], code(Status::kCorrupt)) << i;
    EXPECT_EQ(methods.status[1], code(Status::kCorrupt)) << i;
  }
  const Methods one(damaged(abi::kProgramEntryKey, [](Bytes& b) {
    put(b, offsetof(abi::ProgramEntry, methods), uint16_t{0});
  }));
  EXPECT_EQ(one.status[0], code(Status::kMissingMethod));
}

TEST(RuntimeMethods, MisalignedSegmentsAreRefused) {
  constexpr size_t kBaseAt = 24;  // the offset of the segments, in the file's extended header
  Bytes file = written(two_methods());
  uint64_t base = 0;
  std::memcpy(&base, file.data() + kBaseAt, sizeof base);
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(base), std::byte{0});
  put(file, kBaseAt, base + 1);
  const Methods methods(file);
  EXPECT_EQ(methods.status[0], code(Status::kCorrupt));
  EXPECT_EQ(methods.status[1], code(Status::kCorrupt));
}

}  // namespace
}  // namespace thimble::runtime_test
