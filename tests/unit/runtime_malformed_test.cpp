// SPDX-License-Identifier: Apache-2.0
// Files that do not load: one case per rule with its status. Then every truncation and thousands of
// random mutations, which must not write outside the model's memory: the guard bytes of
// runtime_support.h detect such a write, the address sanitizer every access.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "abi/kernel_layout.h"
#include "abi/named_data.h"
#include "abi/pte_format.h"
#include "abi/status.h"
#include "runtime_support.h"

namespace thimble::runtime_test {
namespace {

using abi::Status;

/// Replaces the only occurrence of this 32-bit number in the bytes.
void patch(Bytes& bytes, uint32_t from, uint32_t to) {
  size_t found = 0;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    if (load_le<uint32_t>(bytes, at) != from) continue;
    ++found;
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(to >> (8 * i));
  }
  ASSERT_EQ(found, 1u) << from;
}

void set_u64(Bytes& bytes, size_t at, uint64_t value) {
  for (size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

struct ProgramCase {
  const char* name;
  Status expected;
  std::function<void(pte::Program&)> change;
};

pte::KernelCall& call_of(pte::Program& program, size_t index) {
  return std::get<pte::KernelCall>(plan_of(program).chains[0].instructions[index]);
}

void set_instruction(pte::Program& program, pte::Instruction instruction) {
  plan_of(program).chains[0].instructions[0] = std::move(instruction);
}

const ProgramCase kProgramCases[] = {
    {"version", Status::kUnsupported, [](auto& p) { p.version = 1; }},
    {"two memories beyond 2 GiB", Status::kCorrupt,
     [](auto& p) {
       plan_of(p).memory_sizes = {0, int64_t{1} << 30, int64_t{1} << 30};
     }},
    {"two chains", Status::kUnsupported, [](auto& p) { plan_of(p).chains.resize(2); }},
    {"move", Status::kUnsupported,
     [](auto& p) {
       set_instruction(p, pte::MoveCall{0, 1});
     }},
    {"jump", Status::kUnsupported,
     [](auto& p) {
       set_instruction(p, pte::JumpFalseCall{5, 0});
     }},
    {"free", Status::kUnsupported, [](auto& p) { set_instruction(p, pte::FreeCall{0}); }},
    {"delegate", Status::kUnsupported,
     [](auto& p) {
       p.delegate_blobs.push_back({pte::BlobLocation::kInline, 16, Bytes(16)});
       plan_of(p).delegates.push_back({"EthosUBackend", 0, {}});
       set_instruction(p, pte::DelegateCall{0, {0, 3}});
     }},
    {"dynamic shape", Status::kUnsupported,
     [](auto& p) { tensor_of(p, kCopied).shape_dynamism = pte::ShapeDynamism::kDynamicBound; }},
    {"storage offset", Status::kUnsupported,
     [](auto& p) { tensor_of(p, kCopied).storage_offset = 1; }},
    {"half floats", Status::kUnsupported,
     [](auto& p) { tensor_of(p, kCopied).scalar_type = pte::ScalarType::kHalf; }},
    {"rank 7", Status::kUnsupported,
     [](auto& p) {
       tensor_of(p, kCopied).sizes = {1, 1, 1, 1, 1, 1, 4};
       tensor_of(p, kCopied).dim_order = {0, 1, 2, 3, 4, 5, 6};
     }},
    {"external constant", Status::kUnsupported,
     [](auto& p) {
       tensor_of(p, kConstant).extra =
           pte::ExtraTensorInfo{0, "w", pte::TensorLocation::kExternal, {}};
     }},
    {"mutable buffer", Status::kUnsupported,
     [](auto& p) {
       p.mutable_segments = {{{{}, Bytes(4)}}};
       tensor_of(p, kCopied).data_buffer_idx = 1;
     }},
    {"unplanned, no input", Status::kUnsupported,
     [](auto& p) { plan_of(p).inputs = {kPlannedInput}; }},
    {"input is an integer", Status::kUnsupported,
     [](auto& p) { plan_of(p).inputs.push_back(kInt); }},
    {"input is a constant", Status::kCorrupt,
     [](auto& p) { plan_of(p).inputs.push_back(kConstant); }},
    {"output is an integer", Status::kUnsupported, [](auto& p) { plan_of(p).outputs = {kInt}; }},
    {"missing kernel", Status::kMissingKernel,
     [](auto& p) { plan_of(p).operators[0].name = "test::cop"; }},
    {"missing kernel that nothing calls", Status::kMissingKernel,
     [](auto& p) {
       plan_of(p).operators.push_back({"test::other", "out"});
     }},
    {"operator with a very long name", Status::kMissingKernel,
     [](auto& p) { plan_of(p).operators[0].name = std::string(1000, 'x'); }},
    {"the kernel refuses", Status::kBadDimOrder,
     [](auto& p) { plan_of(p).operators[0].name = "test::refuse"; }},
    {"too few arguments", Status::kCorrupt,
     [](auto& p) {
       call_of(p, 0).args = {0, 3};
     }},
    {"one argument", Status::kCorrupt, [](auto& p) { call_of(p, 0).args = {3}; }},
    {"no arguments", Status::kCorrupt, [](auto& p) { call_of(p, 0).args = {}; }},
    {"too many arguments", Status::kCorrupt,
     [](auto& p) {
       call_of(p, 0).args = {0, 3, 3, 3};
     }},
    {"more than the limit", Status::kUnsupported,
     [](auto& p) { call_of(p, 0).args.assign(21, kCopied); }},
    {"return value differs", Status::kCorrupt,
     [](auto& p) {
       call_of(p, 0).args = {0, 3, 11};
     }},
    {"integer for tensor", Status::kCorrupt, [](auto& p) { call_of(p, 0).args[0] = kInt; }},
    {"tensor for integer", Status::kCorrupt, [](auto& p) { call_of(p, 1).args[2] = kCopied; }},
    {"integer for bool", Status::kCorrupt, [](auto& p) { call_of(p, 1).args[3] = kInt; }},
    {"integer for double", Status::kCorrupt, [](auto& p) { call_of(p, 1).args[4] = kInt; }},
    {"string for integer", Status::kCorrupt, [](auto& p) { call_of(p, 1).args[2] = kDead; }},
    {"none for tensor", Status::kUnsupported, [](auto& p) { call_of(p, 0).args[0] = kNull; }},
    {"none for integer", Status::kUnsupported, [](auto& p) { call_of(p, 1).args[2] = kNull; }},
    {"writes a constant", Status::kCorrupt,
     [](auto& p) {
       call_of(p, 0).args = {kPlannedInput, kConstant, kConstant};
     }},
    {"writes a caller's input", Status::kCorrupt,
     [](auto& p) {
       call_of(p, 0).args = {kPlannedInput, kCallerInput, kCallerInput};
     }},
    {"list of nine", Status::kUnsupported,
     [](auto& p) { plan_of(p).values[kInts] = pte::IntList{std::vector<int64_t>(9, kInt)}; }},
    {"list of tensors for integers", Status::kCorrupt,
     [](auto& p) { plan_of(p).values[kInts] = pte::IntList{{kCopied}}; }},
    {"list item beyond 32 bits", Status::kBadParameter,
     [](auto& p) { plan_of(p).values[kInt2] = pte::Int{int64_t{1} << 31}; }},
    {"planned between elements", Status::kCorrupt,
     [](auto& p) {
       tensor_of(p, kCopied) = tensor_of(p, kPlannedInput);
       tensor_of(p, kCopied).scalar_type = pte::ScalarType::kInt;
       tensor_of(p, kCopied).sizes = {1, 1};
       tensor_of(p, kCopied).allocation->offset = 18;
     }},
    {"the tensor exceeds 31 bits", Status::kCorrupt,
     [](auto& p) {
       tensor_of(p, kCopied).sizes = {65536, 65536};
       plan_of(p).memory_sizes[1] = int64_t{1} << 33;
     }},
    {"empty, but its extent exceeds 31 bits", Status::kCorrupt,
     [](auto& p) {
       tensor_of(p, kCopied).sizes = {0, 65536, 65536};
       tensor_of(p, kCopied).dim_order = {0, 1, 2};
     }},
};

TEST(RuntimeMalformed, EachInvalidProgramReturnsItsStatus) {
  for (const ProgramCase& each : kProgramCases) {
    pte::Program program = sample_program();
    each.change(program);
    const LoadedModel loaded(written(program));
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_EQ(loaded.status != 0, loaded.size_status != 0) << each.name;
  }
}

struct BytesCase {
  const char* name;
  Status expected;
  std::function<void(Bytes&)> change;
};

const BytesCase kBytesCases[] = {
    {"empty", Status::kTruncated, [](Bytes& b) { b.clear(); }},
    {"identifier", Status::kNotAProgram, [](Bytes& b) { b[4] = std::byte{'e'}; }},
    {"short header", Status::kCorrupt, [](Bytes& b) { b[12] = std::byte{20}; }},
    {"program longer than the file", Status::kTruncated,
     [](Bytes& b) { set_u64(b, abi::pte::kProgramSizeOffset, b.size() + 1); }},
    {"segments start after the file", Status::kTruncated,
     [](Bytes& b) { set_u64(b, abi::pte::kSegmentBaseOffset, b.size() + 1); }},
    {"segments longer than the file", Status::kTruncated,
     [](Bytes& b) { set_u64(b, abi::pte::kSegmentDataSizeOffset, ~uint64_t{0}); }},
    {"segments missing", Status::kTruncated, [](Bytes& b) { b.pop_back(); }},
    {"program of no bytes", Status::kCorrupt,
     [](Bytes& b) { set_u64(b, abi::pte::kProgramSizeOffset, 0); }},
    {"root outside", Status::kCorrupt, [](Bytes& b) { b[3] = std::byte{0x7F}; }},
    {"root misaligned", Status::kCorrupt, [](Bytes& b) { b[0] ^= std::byte{1}; }},
    {"constants not aligned", Status::kCorrupt,
     [](Bytes& b) {
       const auto base = load_le<uint64_t>(b, abi::pte::kSegmentBaseOffset);
       set_u64(b, abi::pte::kSegmentBaseOffset, base - 8);
     }},
    {"planned past the arena", Status::kCorrupt,
     [](Bytes& b) { patch(b, 0x00000321, 0x00000324); }},
    {"negative size", Status::kCorrupt, [](Bytes& b) { patch(b, 0x00000123, 0xFFFFFFFF); }},
    {"no permutation", Status::kCorrupt, [](Bytes& b) { patch(b, 0x03000102, 0x03000101); }},
    {"dimension 35", Status::kCorrupt, [](Bytes& b) { patch(b, 0x03000102, 0x23000102); }},
};

TEST(RuntimeMalformed, EachChangedFieldReturnsItsStatus) {
  pte::Program program = sample_program();
  // Numbers that occur once, so that patch() finds them.
  tensor_of(program, kCopied).allocation->offset = 0x321;
  plan_of(program).memory_sizes[1] = 0x321 + 4;
  pte::Tensor odd = tensor_of(program, kPlannedInput);
  odd.sizes = {0x123, 1, 1, 0};
  odd.dim_order = {2, 1, 0, 3};
  plan_of(program).values.push_back(odd);
  plan_of(program).outputs.push_back(kValues);
  const Bytes good = written(program);
  ASSERT_EQ(LoadedModel(good).status, 0);
  for (const BytesCase& each : kBytesCases) {
    Bytes bytes = good;
    each.change(bytes);
    const LoadedModel loaded(bytes);
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_NE(loaded.status, 0) << each.name;
  }
}

TEST(RuntimeMalformed, RefusesInvalidMemoryIdsAndOffsets) {
  pte::Program program = sample_program();
  auto& memories = plan_of(program).memory_sizes;
  memories.resize(0x322, 4);
  // A number that occurs once, so that patch() finds it.
  tensor_of(program, kCopied).allocation = pte::Allocation{0x321, 0};
  Bytes good = written(program);
  ASSERT_EQ(LoadedModel(good).status, 0);
  for (const uint32_t id : {0U, 0x322U, 0x323U, 0xFFFFFFFFU}) {
    Bytes bytes = good;
    patch(bytes, 0x321, id);
    EXPECT_EQ(LoadedModel(bytes).size_status, static_cast<int32_t>(Status::kCorrupt)) << id;
  }
  // Memory 2 starts at 48, after the 36 bytes of memory 1.
  memories = {0, 36, 0x400};
  tensor_of(program, kCopied).allocation = pte::Allocation{2, 0x321};
  good = written(program);
  for (const uint32_t offset : {0x3FCU, 0x3FDU, 0x400U, 0x42CU, 0x7FFFFFFFU, 0xFFFFFFD0U}) {
    Bytes bytes = good;
    patch(bytes, 0x321, offset);
    const LoadedModel loaded(bytes);
    const bool fits = offset == 0x3FC;
    EXPECT_EQ(loaded.size_status, fits ? 0 : static_cast<int32_t>(Status::kCorrupt)) << offset;
    EXPECT_EQ(loaded.status == 0, fits) << offset;
  }
}

abi::ProgramEntry entry_of(uint32_t arena_bytes) {
  abi::ProgramEntry entry{};
  entry.magic = abi::kProgramEntryMagic;
  entry.entry_version = abi::kEntryVersionHeaderOnly;
  entry.kernel_layout_version = abi::kKernelLayoutVersion;
  entry.arena_bytes = arena_bytes;
  return entry;
}

Status status_with(const abi::ProgramEntry& entry, size_t bytes = sizeof(abi::ProgramEntry)) {
  pte::Program program = sample_program();
  const auto* data = reinterpret_cast<const std::byte*>(&entry);
  program.named_data = {{"other", 16, Bytes(5)},
                        {abi::kProgramEntryKey, 16, Bytes(data, data + bytes)}};
  return static_cast<Status>(LoadedModel(written(program)).size_status);
}

TEST(RuntimeMalformed, ChecksThimbleEntry) {
  const abi::ProgramEntry good = entry_of(36);
  EXPECT_EQ(status_with(good), Status::kOk);
  abi::ProgramEntry entry = good;
  entry.kernel_layout_version = 0;
  EXPECT_EQ(status_with(entry), Status::kOk);
  entry.kernel_layout_version = abi::kKernelLayoutVersion + 1;
  EXPECT_EQ(status_with(entry), Status::kLayoutVersion);
  entry = good;
  entry.entry_version = abi::kEntryVersionRecords + 1;
  EXPECT_EQ(status_with(entry), Status::kLayoutVersion);
  entry = good;
  entry.magic ^= 1;
  EXPECT_EQ(status_with(entry), Status::kCorrupt);
  EXPECT_EQ(status_with(entry_of(37)), Status::kCorrupt);
  EXPECT_EQ(status_with(good, sizeof good - 1), Status::kCorrupt);
}

constexpr uint32_t kRoomyArena = 1024;

/// A larger program for the mutations: inline or separate constants, an entry, values that are used
/// again, and an arena with room for load to cache them.
Bytes mutation_sample(bool constants_inline) {
  pte::Program program = sample_program();
  program.constants_inline = constants_inline;
  plan_of(program).memory_sizes = {0, kRoomyArena};
  auto& instructions = plan_of(program).chains[0].instructions;
  instructions.insert(instructions.end(), {instructions[0], instructions[1]});
  const abi::ProgramEntry entry = entry_of(kRoomyArena);
  const auto* data = reinterpret_cast<const std::byte*>(&entry);
  program.named_data = {{abi::kProgramEntryKey, 16, Bytes(data, data + sizeof entry)}};
  return written(program);
}

/// Returns thimble_init()'s status with enough memory to cache values; thimble_size() never caches.
thimble_status status_of_init(const LoadedModel& loaded) {
  const AlignedBytes memory(size_t{2} * kRoomyArena);
  thimble_model model;
  return thimble_init(&model, loaded.file.data(), loaded.file.size(), test_kernels(), memory.data(),
                      memory.size());
}

struct AgainCase {
  const char* name;
  Status expected;
  int32_t from, to;  // a value of the second call, and its replacement in the fourth
};

TEST(RuntimeMalformed, ReusedValuesMustFitTheirArgument) {
  const AgainCase cases[] = {
      {"int for tensor", Status::kCorrupt, kCallerInput, kInt},
      {"tensor for int", Status::kCorrupt, kInt, kCopied},
      {"bool for int", Status::kCorrupt, kInt, kBool},
      {"list for bool", Status::kCorrupt, kBool, kInts},
      {"double for list", Status::kCorrupt, kInts, kDouble},
      {"planned for None", Status::kOk, kNull, kCopied},
      {"int for None", Status::kCorrupt, kNull, kInt},
      {"None for tensor", Status::kUnsupported, kCallerInput, kNull},
      {"list of integers for list of tensors", Status::kCorrupt, kTensors, kInts},
      {"list of tensors for list of integers", Status::kCorrupt, kInts, kTensors},
      {"input for output", Status::kCorrupt, kSum, kCallerInput},
      {"constant for output", Status::kCorrupt, kSum, kConstant},
      {"another output", Status::kOk, kSum, kCopied},
  };
  for (const AgainCase& change : cases) {
    pte::Program program = sample_program();
    plan_of(program).memory_sizes = {0, kRoomyArena};
    auto& instructions = plan_of(program).chains[0].instructions;
    instructions.insert(instructions.end(), {instructions[0], instructions[1]});
    for (int32_t& arg : call_of(program, 3).args) {
      if (arg == change.from) arg = change.to;
    }
    const LoadedModel loaded(written(program));
    EXPECT_EQ(static_cast<Status>(loaded.size_status), change.expected) << change.name;
    EXPECT_EQ(static_cast<Status>(status_of_init(loaded)), change.expected) << change.name;
  }
}

TEST(RuntimeMalformed, TruncatedAtEachByte) {
  for (const bool constants_inline : {false, true}) {
    const Bytes good = mutation_sample(constants_inline);
    for (size_t size = 0; size < good.size(); ++size) {
      const LoadedModel loaded(ByteView(good).first(size));
      EXPECT_NE(loaded.size_status, 0) << size;
      EXPECT_NE(loaded.status, 0) << size;
    }
  }
}

TEST(RuntimeMalformed, RandomMutationsAreSafe) {
  constexpr int kMutants = 10000;
  std::mt19937 random(20261121);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  int accepted = 0;
  const Bytes samples[] = {mutation_sample(false), mutation_sample(true)};
  for (int i = 0; i < kMutants; ++i) {
    Bytes bytes = samples[below(2)];
    const size_t program_bytes = load_le<uint64_t>(bytes, abi::pte::kProgramSizeOffset);
    const size_t range = i % 2 == 0 ? program_bytes : bytes.size();
    for (size_t change = below(4) + 1; change > 0; --change) {
      const size_t at = below(range);
      // Small numbers are tried more often: indices and counts are small.
      bytes[at] = static_cast<std::byte>(below(below(2) == 0 ? 16 : 256));
    }
    SCOPED_TRACE(testing::Message() << "mutation " << i);
    LoadedModel loaded(bytes);
    EXPECT_EQ(loaded.size_status == 0, loaded.status == 0);
    const thimble_status with_memory = status_of_init(loaded);
    if (with_memory != static_cast<thimble_status>(Status::kArenaTooSmall)) {
      EXPECT_EQ(with_memory, loaded.size_status);
    }
    if (loaded.status != 0) continue;
    ++accepted;
    EXPECT_EQ(run_with_input_buffers(loaded), 0);
  }
  EXPECT_GT(accepted, kMutants / 20);
  EXPECT_LT(accepted, kMutants);
}

}  // namespace
}  // namespace thimble::runtime_test
