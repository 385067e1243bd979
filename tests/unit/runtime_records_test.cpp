// SPDX-License-Identifier: Apache-2.0
// Native files, run from their records: outputs, refusals, and damaged bytes, which do no harm. The
// table of kernels has no flatbuffer executor.

#include <gtest/gtest.h>
#include <cstring>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "abi/kernel_layout.h"
#include "abi/records.h"
#include "abi/status.h"
#include "formats/pte/records.h"
#include "runtime_support.h"
#include "thimble_trace.h"

namespace thimble::runtime_test {
namespace {

using abi::Status;
using kernels::Call;
using kernels::Kernel;
using kernels::KernelTable;

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

/// y = x + the optional other, byte by byte; sizes are those of the sample.
constexpr uint32_t kBytes = 4;
Status check_bare(const Call& call) {
  for (uint32_t i = 0; i < 3; ++i) {
    const kernels::Tensor& tensor = call.args[i].tensor;
    if (!tensor.is_null && tensor.bytes != kBytes) return Status::kBadShape;
  }
  return Status::kOk;
}
void run_bare(void* const* operands) {
  for (uint32_t i = 0; i < kBytes; ++i) {
    const auto* const x = static_cast<const uint8_t*>(operands[0]);
    const auto* const other = static_cast<const uint8_t*>(operands[1]);
    static_cast<uint8_t*>(operands[2])[i] =
        static_cast<uint8_t>(x[i] + (other != nullptr ? other[i] : 0));
  }
}
void run_wrong(const Call&) {
  FAIL() << "a bare kernel is run by its places";
}

constexpr char kBareLetters[] = "Tto";
const Kernel kBare = {"test::bare.out", kBareLetters, 5, check_bare, run_wrong, nullptr, run_bare};

/// The kernels of runtime_support.h and the bare one, unsorted or sorted by key.
const thimble_kernels* native_kernels(bool by_key = false) {
  static const auto* const others = reinterpret_cast<const KernelTable*>(test_kernels());
  static const std::vector<const Kernel*> rows = [] {
    std::vector<const Kernel*> list(others->kernels, others->kernels + others->count);
    list.push_back(&kBare);
    return list;
  }();
  static const std::vector<const Kernel*> sorted = [] {
    std::vector<const Kernel*> list = rows;
    std::ranges::stable_sort(list, {}, &Kernel::key);
    return list;
  }();
  static const KernelTable tables[] = {
      {.kernels = rows.data(), .count = static_cast<uint32_t>(rows.size())},
      {.kernels = rows.data(),
       .count = static_cast<uint32_t>(rows.size()),
       .by_key = sorted.data()}};
  return reinterpret_cast<const thimble_kernels*>(&tables[by_key ? 1 : 0]);
}

const abi::PteOpInfo* find_test_operator(std::string_view name, size_t arguments) {
  static constexpr abi::PteOpInfo kOperators[] = {
      {"", "test::copy.out", "To", {1, 0, 0}},
      {"", "test::everything.out", "TtibdlRo", {2, 0, 0}},
      {"", "test::refuse.out", "To", {3, 0, 0}},
      {"", "test::bare.out", kBareLetters, {5, 0, 0}},
      {"", "test::missing.out", "To", {6, 0, 0}},
  };
  for (const abi::PteOpInfo& op : kOperators) {
    if (name == op.name && arguments == std::string_view(op.arguments).size()) return &op;
  }
  return nullptr;
}

/// The sample followed by two bare calls: copied = copied + caller's input, then copied = copied +
/// None.
pte::Program native_program() {
  pte::Program program = sample_program();
  plan_of(program).operators.push_back({"test::bare", "out"});
  auto& instructions = plan_of(program).chains[0].instructions;
  instructions.push_back(pte::KernelCall{2, {kCopied, kCallerInput, kCopied, kCopied}});
  instructions.push_back(pte::KernelCall{2, {kCopied, kNull, kCopied, kCopied}});
  abi::ProgramEntry entry = {};
  entry.magic = abi::kProgramEntryMagic;
  entry.entry_version = abi::kEntryVersionHeaderOnly;
  entry.kernel_layout_version = abi::kKernelLayoutVersion;
  entry.arena_bytes = static_cast<uint32_t>(plan_of(program).memory_sizes[1]);
  const auto* data = reinterpret_cast<const std::byte*>(&entry);
  program.named_data.push_back({abi::kProgramEntryKey, 16, Bytes(data, data + sizeof entry)});
  return program;
}

/// Adds a state in the last bytes of the arena.
void add_state(pte::Program& program) {
  const abi::StateHeader header = {1, 4};
  const abi::StateRecord record = {32, 4, 0, 7};
  pte::NamedData data;
  data.key = abi::kStateKey;
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  data.bytes.assign(bytes, bytes + sizeof header);
  bytes = reinterpret_cast<const std::byte*>(&record);
  data.bytes.insert(data.bytes.end(), bytes, bytes + sizeof record);
  program.named_data.push_back(std::move(data));
}

Bytes native_file(pte::Program program) {
  const auto added = pte::add_records(program, find_test_operator);
  EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().message);
  EXPECT_TRUE(pte::has_records(program));
  EXPECT_TRUE(pte::check_records(program, "it", find_test_operator).ok());
  return written(program);
}

std::vector<int> output(const LoadedModel& loaded, uint32_t index) {
  thimble_view view{};
  EXPECT_EQ(thimble_output(&loaded.model, index, &view), 0);
  const auto* data = static_cast<const int8_t*>(view.data);
  return {data, data + view.bytes};
}

void run_native(LoadedModel& loaded) {
  static constexpr std::array<int8_t, 4> kFirst = {10, 20, 30, 40}, kSecond = {1, 2, 3, 4};
  ASSERT_EQ(loaded.size_status, 0);
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(thimble_run(&loaded.model), code(Status::kInputNotSet));
  ASSERT_EQ(thimble_set_input(&loaded.model, 0, kFirst.data(), 4), 0);
  ASSERT_EQ(thimble_set_input(&loaded.model, 1, kSecond.data(), 4), 0);
  ASSERT_EQ(thimble_run(&loaded.model), 0);
  EXPECT_EQ(output(loaded, 0), (std::vector<int>{11, 22, 33, 44}));
  // These values equal those of runtime_run_test.
  EXPECT_EQ(output(loaded, 1), (std::vector<int>{24 + 13, 24 + 26, 24 + 39, 24 + 52}));
  EXPECT_EQ(output(loaded, 2), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(output(loaded, 3), (std::vector<int>{1, 2, 3, 4}));
  ASSERT_EQ(thimble_reset(&loaded.model), 0);
}

TEST(RuntimeRecords, EveryKindOfArgument) {
  for (const bool by_key : {false, true}) {
    LoadedModel loaded(native_file(native_program()), native_kernels(by_key));
    run_native(loaded);
    run_native(loaded);
  }
}

TEST(RuntimeRecords, NeedsEqualThoseOfFlatbuffer) {
  pte::Program program = native_program();
  const LoadedModel stock(written(program), [] {
    static KernelTable table = *reinterpret_cast<const KernelTable*>(native_kernels());
    table.flatbuffer_executor =
        reinterpret_cast<const KernelTable*>(test_kernels())->flatbuffer_executor;
    return reinterpret_cast<const thimble_kernels*>(&table);
  }());
  const LoadedModel native(native_file(program), native_kernels());
  ASSERT_EQ(stock.status, 0);
  ASSERT_EQ(native.status, 0);
  EXPECT_EQ(native.needs.arena_bytes, stock.needs.arena_bytes);
  EXPECT_EQ(native.needs.state_bytes, stock.needs.state_bytes);
  for (uint32_t i = 0; i < 4; ++i) {
    thimble_view a{}, b{};
    ASSERT_EQ(thimble_output(&native.model, i, &a), 0);
    ASSERT_EQ(thimble_output(&stock.model, i, &b), 0);
    EXPECT_EQ(a.bytes, b.bytes);
    ASSERT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.dtype, b.dtype);
    for (uint32_t d = 0; d < a.rank; ++d) {
      EXPECT_EQ(a.sizes[d], b.sizes[d]);
      EXPECT_EQ(a.dim_order[d], b.dim_order[d]);
    }
  }
}

TEST(RuntimeRecords, FilesWithoutRecordsNeedFlatbufferReader) {
  const LoadedModel loaded(written(native_program()), native_kernels());
  EXPECT_EQ(loaded.size_status, code(Status::kNoExecutor));
  EXPECT_EQ(loaded.status, code(Status::kNoExecutor));
}

TEST(RuntimeRecords, StateIsResetSavedAndRestored) {
  pte::Program program = native_program();
  add_state(program);
  LoadedModel loaded(native_file(program), native_kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(loaded.needs.saved_bytes, 4u);
  EXPECT_EQ(output(loaded, 1), (std::vector<int>{7, 7, 7, 7}));
  const std::array<uint8_t, 4> other = {1, 2, 3, 4};
  EXPECT_EQ(thimble_restore(&loaded.model, other.data(), 3), code(Status::kBadArgument));
  ASSERT_EQ(thimble_restore(&loaded.model, other.data(), 4), 0);
  EXPECT_EQ(output(loaded, 1), (std::vector<int>{1, 2, 3, 4}));
  std::array<uint8_t, 4> saved = {};
  ASSERT_EQ(thimble_save(&loaded.model, saved.data(), 4), 0);
  EXPECT_EQ(saved, other);
  ASSERT_EQ(thimble_reset(&loaded.model), 0);
  EXPECT_EQ(output(loaded, 1), (std::vector<int>{7, 7, 7, 7}));
}

TEST(RuntimeRecords, HookIsCalledForEachInstruction) {
  LoadedModel loaded(native_file(native_program()), native_kernels());
  ASSERT_EQ(thimble_instruction_count(&loaded.model), 4u);
  EXPECT_STREQ(thimble_instruction_op(&loaded.model, 0), "test::copy.out");
  EXPECT_STREQ(thimble_instruction_op(&loaded.model, 3), "test::bare.out");
  EXPECT_EQ(thimble_instruction_op(&loaded.model, 4), nullptr);
  std::vector<std::string> seen;
  const auto hook = [](void* user, uint32_t instruction, const char* op, int after) {
    auto& list = *static_cast<std::vector<std::string>*>(user);
    list.push_back(std::to_string(instruction) + op + (after != 0 ? " end" : ""));
  };
  ASSERT_EQ(thimble_set_trace(&loaded.model, hook, &seen), 0);
  run_native(loaded);
  EXPECT_EQ(seen, (std::vector<std::string>{"0test::copy.out", "0test::copy.out end",
                                            "1test::everything.out", "1test::everything.out end",
                                            "2test::bare.out", "2test::bare.out end",
                                            "3test::bare.out", "3test::bare.out end"}));
}

TEST(RuntimeRecords, MemoryInTheFileIsRefused) {
  const Bytes bytes = native_file(native_program());
  const AlignedBytes file(bytes);
  thimble_model model;
  EXPECT_EQ(thimble_init(&model, file.data(), file.size(), native_kernels(), file.data() + 16,
                         file.size() - 16),
            code(Status::kBadArgument));
}

TEST(RuntimeRecords, MissingAndRefusingKernels) {
  for (const auto& [name, expected] : {std::pair{"test::missing", Status::kMissingKernel},
                                       std::pair{"test::refuse", Status::kBadDimOrder}}) {
    pte::Program program = native_program();
    plan_of(program).operators[0].name = name;
    for (const bool by_key : {false, true}) {
      const LoadedModel loaded(native_file(program), native_kernels(by_key));
      EXPECT_EQ(loaded.size_status, code(expected)) << name;
      EXPECT_EQ(loaded.status == 0, false) << name;
    }
  }
}

TEST(RuntimeRecords, UnsupportedProgramsHaveNoRecords) {
  const std::pair<const char*, std::function<void(pte::Program&)>> cases[] = {
      {"delegates",
       [](auto& p) {
         p.delegate_blobs.push_back({pte::BlobLocation::kInline, 16, Bytes(16)});
         plan_of(p).delegates.push_back({"EthosUBackend", 0, {}});
       }},
      {"unknown operator", [](auto& p) { plan_of(p).operators[0].name = "other::copy"; }},
      {"two memories", [](auto& p) { plan_of(p).memory_sizes.push_back(8); }},
      {"inline constants", [](auto& p) { p.constants_inline = true; }},
      {"no entry", [](auto& p) { p.named_data.clear(); }},
  };
  for (const auto& [name, change] : cases) {
    pte::Program program = native_program();
    change(program);
    const pte::Program before = program;
    EXPECT_FALSE(pte::add_records(program, find_test_operator).ok()) << name;
    EXPECT_EQ(program, before) << name;
  }
}

TEST(RuntimeRecords, CheckRefusesRecordsOfChangedProgram) {
  pte::Program program = native_program();
  ASSERT_TRUE(pte::add_records(program, find_test_operator).ok());
  plan_of(program).values[kInt] = pte::Int{4};
  EXPECT_FALSE(pte::check_records(program, "it", find_test_operator).ok());
}

// --- Malformed records ---------------------------------------------------------------------------

/// A native file and the offsets of its parts.
struct Native {
  Bytes bytes;
  size_t entry, numbers, operators, places, tensors, shapes, lists, inputs, outputs, calls, end;
  uint32_t tensor_count;

  explicit Native(Bytes file) : bytes(std::move(file)) {
    entry = load_le<uint64_t>(bytes, abi::pte::kSegmentBaseOffset);
    abi::RecordsHeader head = {};
    std::memcpy(&head, bytes.data() + entry + sizeof(abi::ProgramEntry), sizeof head);
    tensor_count = head.tensors;
    numbers = entry + sizeof(abi::ProgramEntry) + sizeof head;
    operators = numbers + size_t{8} * head.numbers;
    places = operators + size_t{4} * head.operators;
    tensors = places + size_t{4} * head.tensors;
    shapes = tensors + size_t{4} * head.tensors;
    lists = shapes + size_t{4} * head.shape_words;
    inputs = lists + size_t{4} * head.list_words;
    outputs = inputs + size_t{2} * head.inputs;
    calls = outputs + size_t{2} * head.outputs;
    end = entry + head.bytes;
  }
  template <typename T>
  void set(size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  [[nodiscard]] size_t head(size_t field) const {
    return entry + sizeof(abi::ProgramEntry) + field;
  }
  /// Returns the index of the first tensor whose place is in first..last.
  [[nodiscard]] uint32_t tensor_at(uint32_t first, uint32_t last) const {
    for (uint32_t i = 0; i < tensor_count; ++i) {
      const auto place = load_le<uint32_t>(bytes, places + 4 * i);
      if (place >= first && place <= last) return i;
    }
    ADD_FAILURE() << "no such tensor";
    return 0;
  }
};

#define THIMBLE_HEAD(field) offsetof(abi::RecordsHeader, field)

struct HostileCase {
  const char* name;
  Status expected;
  std::function<void(Native&)> change;
};

const uint32_t kArenaEnd = abi::kPlaceConstant - 1;
const uint32_t kConstantEnd = abi::kPlaceInput - 1;

const HostileCase kHostileCases[] = {
    {"newer entry", Status::kLayoutVersion, [](Native& n) { n.set<uint16_t>(n.entry + 4, 3); }},
    {"other kernel layout", Status::kLayoutVersion,
     [](Native& n) { n.set<uint16_t>(n.entry + 6, abi::kKernelLayoutVersion + 1); }},
    {"arena of 2 GiB", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.entry + 8, 0x80000000); }},
    {"smaller arena", Status::kCorrupt, [](Native& n) { n.set<uint32_t>(n.entry + 8, 35); }},
    {"no bytes", Status::kCorrupt, [](Native& n) { n.set<uint32_t>(n.head(0), 0); }},
    {"bytes past the file", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(0), 0x7FFFFFFE); }},
    {"more call words", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(call_words)), 1000); }},
    {"constants past the file", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(constants_at)), 0xFFFFFFF0); }},
    {"constants longer than the file", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(constants_bytes)), 0xFFFFFFF0); }},
    {"constants not aligned", Status::kCorrupt,
     [](Native& n) {
       const size_t at = n.head(THIMBLE_HEAD(constants_at));
       n.set<uint32_t>(at, load_le<uint32_t>(n.bytes, at) - 8);
     }},
    {"shorter constants", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(constants_bytes)), 3); }},
    {"state past the file", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(state_at)), 0xFFFFFFF0); }},
    {"state longer than the file", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(state_bytes)), 0xFFFFFFF0); }},
    {"state not aligned", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(state_at)), 2); }},
    {"state without a header", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.head(THIMBLE_HEAD(state_bytes)), 7); }},
    {"fewer numbers", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(numbers)), 0); }},
    {"most operators", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(operators)), 0xFFFF); }},
    {"most tensors", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(tensors)), 0xFFFF); }},
    {"no shapes", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(shape_words)), 0); }},
    {"most lists", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(list_words)), 0xFFFF); }},
    {"most inputs", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(inputs)), 0xFFFF); }},
    {"most outputs", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(outputs)), 0xFFFF); }},
    {"fewer calls", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(calls)), 3); }},
    {"more calls", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.head(THIMBLE_HEAD(calls)), 5); }},
    {"unknown operator", Status::kMissingKernel,
     [](Native& n) { n.set<uint32_t>(n.operators, 0x12345678); }},
    {"planned past the arena", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.places + 4 * n.tensor_at(0, kArenaEnd), 33); }},
    {"planned far past the arena", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.places + 4 * n.tensor_at(0, kArenaEnd), 0x7FFFFFFF); }},
    {"a constant past its end", Status::kCorrupt,
     [](Native& n) {
       n.set<uint32_t>(n.places + 4 * n.tensor_at(abi::kPlaceConstant, kConstantEnd),
                       abi::kPlaceConstant + 16);
     }},
    {"a constant that is not aligned", Status::kCorrupt,
     [](Native& n) {
       n.set<uint32_t>(n.head(THIMBLE_HEAD(constants_bytes)), 8);
       n.set<uint32_t>(n.places + 4 * n.tensor_at(abi::kPlaceConstant, kConstantEnd),
                       abi::kPlaceConstant + 4);
     }},
    {"an input past the last", Status::kCorrupt,
     [](Native& n) {
       n.set<uint32_t>(n.places + 4 * n.tensor_at(abi::kPlaceInput, abi::kPlaceNone - 1),
                       abi::kPlaceInput + 2);
     }},
    {"another input's data", Status::kCorrupt,
     [](Native& n) {
       n.set<uint32_t>(n.places + 4 * n.tensor_at(abi::kPlaceInput, abi::kPlaceNone - 1),
                       abi::kPlaceInput);
     }},
    {"an unknown element", Status::kUnsupported,
     [](Native& n) { n.set<uint8_t>(n.tensors + 2, 5); }},
    {"a wider element", Status::kCorrupt,
     [](Native& n) { n.set<uint8_t>(n.tensors + 4 * n.tensor_at(32, 32) + 2, 3); }},
    {"a shape out of order", Status::kCorrupt, [](Native& n) { n.set<uint16_t>(n.tensors, 1); }},
    {"more elements than sizes make", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.shapes, 5); }},
    {"rank 7", Status::kCorrupt, [](Native& n) { n.set<uint8_t>(n.shapes + 4, 7); }},
    {"rank past the words", Status::kCorrupt,
     [](Native& n) {
       n.set<uint16_t>(n.head(THIMBLE_HEAD(shape_words)), 4);
       // The list section grows by the removed words, so that all other offsets stay.
       const size_t at = n.head(THIMBLE_HEAD(list_words));
       n.set<uint16_t>(at, static_cast<uint16_t>(load_le<uint16_t>(n.bytes, at) +
                                                 (n.lists - n.shapes) / 4 - 4));
     }},
    {"no permutation", Status::kCorrupt, [](Native& n) { n.set<uint8_t>(n.shapes + 6, 0); }},
    {"dimension 35", Status::kCorrupt, [](Native& n) { n.set<uint8_t>(n.shapes + 6, 35); }},
    {"sizes beyond 32 bits", Status::kCorrupt,
     [](Native& n) {
       n.set<uint32_t>(n.shapes + 12, 0x10000);
       n.set<uint32_t>(n.shapes + 16, 0x10000);
       n.set<uint32_t>(n.shapes, 0);
     }},
    {"a negative size", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.shapes + 12, 0xFFFFFFFF); }},
    {"an input that is no tensor", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.inputs, static_cast<uint16_t>(n.tensor_count)); }},
    {"an input that is a constant", Status::kCorrupt,
     [](Native& n) {
       n.set<uint16_t>(n.inputs,
                       static_cast<uint16_t>(n.tensor_at(abi::kPlaceConstant, kConstantEnd)));
     }},
    {"an output that is no tensor", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.outputs, 0xFFFF); }},
    {"an output that is absent", Status::kCorrupt,
     [](Native& n) {
       n.set<uint16_t>(n.outputs,
                       static_cast<uint16_t>(n.tensor_at(abi::kPlaceNone, abi::kPlaceNone)));
     }},
    {"a call of no operator", Status::kCorrupt, [](Native& n) { n.set<uint16_t>(n.calls, 3); }},
    {"an operand that is no tensor", Status::kCorrupt,
     [](Native& n) { n.set<uint16_t>(n.calls + 2, 0xFFFF); }},
    {"an operand that is absent", Status::kUnsupported,
     [](Native& n) {
       n.set<uint16_t>(n.calls + 2,
                       static_cast<uint16_t>(n.tensor_at(abi::kPlaceNone, abi::kPlaceNone)));
     }},
    {"writes a constant", Status::kCorrupt,
     [](Native& n) {
       n.set<uint16_t>(n.calls + 4,
                       static_cast<uint16_t>(n.tensor_at(abi::kPlaceConstant, kConstantEnd)));
     }},
    {"writes a caller's input", Status::kCorrupt,
     [](Native& n) {
       n.set<uint16_t>(n.calls + 4,
                       static_cast<uint16_t>(n.tensor_at(abi::kPlaceInput, abi::kPlaceNone - 1)));
     }},
    // The second call: operator, then T t i b d l R o.
    {"no such number", Status::kCorrupt, [](Native& n) { n.set<uint16_t>(n.calls + 12, 3); }},
    {"no such list", Status::kCorrupt, [](Native& n) { n.set<uint16_t>(n.calls + 18, 1000); }},
    {"a list past the last word", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.lists, 100); }},
    {"a list of nine", Status::kCorrupt, [](Native& n) { n.set<uint32_t>(n.lists, 9); }},
    {"a negative count", Status::kCorrupt, [](Native& n) { n.set<uint32_t>(n.lists, 0xFFFFFFFF); }},
    {"no such tensor in a list", Status::kCorrupt,
     [](Native& n) { n.set<uint32_t>(n.lists + 16, n.tensor_count); }},
    {"an absent tensor in a list", Status::kCorrupt,
     [](Native& n) {
       n.set<uint32_t>(n.lists + 16, n.tensor_at(abi::kPlaceNone, abi::kPlaceNone));
     }},
};

Native stateful_native() {
  pte::Program program = native_program();
  add_state(program);
  return Native(native_file(program));
}

TEST(RuntimeRecords, EachInvalidFieldReturnsItsStatus) {
  const Native good = stateful_native();
  ASSERT_EQ(LoadedModel(good.bytes, native_kernels()).status, 0);
  for (const HostileCase& each : kHostileCases) {
    Native native = good;
    each.change(native);
    const LoadedModel loaded(native.bytes, native_kernels());
    EXPECT_EQ(loaded.size_status, code(each.expected)) << each.name;
    EXPECT_NE(loaded.status, 0) << each.name;
  }
}

TEST(RuntimeRecords, TruncatedAtEachByte) {
  const Native good = stateful_native();
  for (size_t size = 0; size < good.bytes.size(); ++size) {
    const LoadedModel loaded(ByteView(good.bytes).first(size), native_kernels());
    EXPECT_NE(loaded.size_status, 0) << size;
    EXPECT_NE(loaded.status, 0) << size;
  }
}

/// Every byte of the records is replaced by every small value and by some others.
TEST(RuntimeRecords, EveryChangedByteIsSafe) {
  const Native good = stateful_native();
  int accepted = 0;
  // Except the arena's size, which could become gigabytes.
  const size_t first = good.entry + offsetof(abi::ProgramEntry, isa);
  for (size_t at = first; at < good.end; ++at) {
    for (const int value : {0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 32, 127, 128, 192, 255}) {
      Bytes bytes = good.bytes;
      bytes[at] = static_cast<std::byte>(value);
      SCOPED_TRACE(testing::Message() << "byte " << at << " = " << value);
      LoadedModel loaded(bytes, native_kernels());
      EXPECT_EQ(loaded.size_status == 0, loaded.status == 0);
      if (loaded.status != 0) continue;
      ++accepted;
      EXPECT_EQ(run_with_input_buffers(loaded), 0);
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(RuntimeRecords, RandomMutationsAreSafe) {
  constexpr int kMutants = 10000;
  std::mt19937 random(20261122);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  const Native good = stateful_native();
  int accepted = 0;
  for (int i = 0; i < kMutants; ++i) {
    Bytes bytes = good.bytes;
    for (size_t change = below(4) + 1; change > 0; --change) {
      const size_t at =
          i % 4 == 0 ? below(bytes.size()) : good.numbers + below(good.end - good.numbers);
      bytes[at] = static_cast<std::byte>(below(below(2) == 0 ? 16 : 256));
    }
    SCOPED_TRACE(testing::Message() << "mutation " << i);
    LoadedModel loaded(bytes, native_kernels(i % 2 == 0));
    EXPECT_EQ(loaded.size_status == 0, loaded.status == 0);
    if (loaded.status != 0) continue;
    ++accepted;
    EXPECT_EQ(run_with_input_buffers(loaded), 0);
  }
  EXPECT_GT(accepted, kMutants / 50);
  EXPECT_LT(accepted, kMutants);
}

}  // namespace
}  // namespace thimble::runtime_test
