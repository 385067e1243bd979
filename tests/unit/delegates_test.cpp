// SPDX-License-Identifier: Apache-2.0
// Calls of EthosUBackend that must not load: one case per rule, each with its status, from
// thimble_size() and thimble_init() alike. And the placement of their memory.

#include "delegates_support.h"

#include <cstring>
#include <functional>

#include "abi/named_data.h"
#include "abi/status.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "formats/pte/write.h"
#include "runtime/include/thimble_trace.h"

namespace thimble::runtime_test {
namespace {

using abi::Status;
using formats::ethos_u::EthosUPayload;

constexpr char kFile[] = "image_u55_128.pte";  // Shared_Sram, one call
constexpr size_t kStreamAt = 32;               // byte offset in the commands

void set_word(Bytes& bytes, size_t at, uint32_t word) {
  std::memcpy(&bytes[at], &word, 4);
}
uint32_t word_at(const Bytes& bytes, size_t at) {
  return load_le<uint32_t>(bytes, at);
}

/// Returns the offset of the first command with this low half word (code | control).
size_t find_command(const Bytes& commands, uint32_t low) {
  for (size_t at = kStreamAt; at + 4 <= commands.size(); at += 4) {
    const uint32_t word = word_at(commands, at);
    if ((word & 0xFFFF) == low) return at;
    if ((word & 0xC000) == 0x4000) at += 4;
  }
  ADD_FAILURE() << "no command " << low;
  return kStreamAt;
}

/// Overwrites a command that sets an address; the stream sets the same address again later.
void replace_command(Bytes& commands, uint32_t low, uint32_t parameter) {
  set_word(commands, find_command(commands, low), parameter << 16 | low);
}

struct Fixture {
  explicit Fixture(const std::string& name = kFile) : program(read_test_program(name)) {
    auto needs = hostrun::read_ethos_u_needs(program, name);
    EXPECT_TRUE(needs.ok() && needs->has_value());
    npu = std::make_unique<hostrun::EthosUDevice>(**needs);
  }
  [[nodiscard]] LoadedModel load() const { return LoadedModel(written(program), kernels_of(*npu)); }
  /// Adds the delegate record of Thimble's own files; scratch is placed after the planned memory.
  abi::DelegateRecord plan_scratch(uint32_t more = 0) {
    int64_t& memory = plan_of(program).memory_sizes[1];
    memory = (memory + 15) / 16 * 16;
    abi::DelegateRecord record = {};
    record.scratch_offset = static_cast<uint32_t>(memory);
    memory += payload_of(program).scratch_bytes + more;
    return record;
  }
  void add_entry(const std::vector<abi::DelegateRecord>& records) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(records.data());
    program.named_data.push_back(
        {abi::kDelegatesKey, 16, Bytes(bytes, bytes + records.size() * sizeof records[0])});
  }
  pte::Program program;
  std::unique_ptr<hostrun::EthosUDevice> npu;
};

struct Case {
  const char* name;
  Status expected;
  std::function<void(EthosUPayload&)> change;
};

const Case kPayloadCases[] = {
    {"nothing", Status::kOk, [](auto&) {}},
    {"no magic", Status::kBadPayload, [](auto& p) { p.commands[0] = std::byte{'X'}; }},
    {"no commands", Status::kBadPayload, [](auto& p) { p.commands.clear(); }},
    {"an action that is none", Status::kBadPayload, [](auto& p) { set_word(p.commands, 16, 3); }},
    {"a stream of more words", Status::kBadPayload,
     [](auto& p) { set_word(p.commands, 28, word_at(p.commands, 28) + 0x10000); }},
    {"a stream of fewer words", Status::kBadPayload,
     [](auto& p) { set_word(p.commands, 28, word_at(p.commands, 28) - 0x10000); }},
    {"a word less", Status::kBadPayload, [](auto& p) { p.commands.resize(p.commands.size() - 4); }},
    {"a U65's", Status::kWrongNpu, [](auto& p) { set_word(p.commands, 8, 0x10003008); }},
    {"a U85's", Status::kWrongNpu, [](auto& p) { set_word(p.commands, 8, 0x20000118); }},
    {"for 256 MACs", Status::kWrongMacs, [](auto& p) { set_word(p.commands, 8, 0x3008); }},
    {"of another stream version", Status::kNpuVersion,
     [](auto& p) { set_word(p.commands, 8, 0x1817); }},
    {"of a newer architecture", Status::kNpuVersion,
     [](auto& p) { set_word(p.commands, 12, 0x10166001); }},
    {"of another architecture", Status::kNpuVersion,
     [](auto& p) { set_word(p.commands, 12, 0x20066001); }},
    {"reserved bits of a command", Status::kBadPayload,
     [](auto& p) { set_word(p.commands, kStreamAt, word_at(p.commands, kStreamAt) | 0x400); }},
    {"a control that is none", Status::kBadPayload,
     [](auto& p) { set_word(p.commands, kStreamAt, word_at(p.commands, kStreamAt) | 0x8000); }},
    {"no STOP", Status::kBadPayload,
     [](auto& p) { set_word(p.commands, p.commands.size() - 4, 0x00000012); }},
    {"ends inside a command", Status::kBadPayload,
     [](auto& p) { set_word(p.commands, p.commands.size() - 4, 0x00004010); }},
    {"region 3", Status::kUnsupported, [](auto& p) { replace_command(p.commands, 0x10F, 3); }},
    {"writes its constants", Status::kBadPayload,
     [](auto& p) { replace_command(p.commands, 0x11F, 0); }},
    {"fewer inputs", Status::kBadPayload, [](auto& p) { p.inputs.clear(); }},
    {"more outputs", Status::kBadPayload, [](auto& p) { p.outputs.push_back(p.outputs[0]); }},
    {"elements of two bytes", Status::kBadDType, [](auto& p) { p.inputs[0].element_bytes = 2; }},
    {"another size", Status::kBadShape, [](auto& p) { p.outputs[0].shape[5] = 6; }},
    {"an input past scratch", Status::kBadPayload,
     [](auto& p) { p.inputs[0].offset = p.scratch_bytes - 767; }},
    {"an output past scratch", Status::kBadPayload,
     [](auto& p) { p.outputs[0].offset = 0x7FFFFFFF; }},
    {"a size beyond all memory", Status::kBadPayload,
     [](auto& p) { p.inputs[0].shape = {0x7FFFFFFF, 0x7FFFFFFF, 2, 2, 2, 2}; }},
    {"an output in another region", Status::kUnsupported, [](auto& p) { p.outputs[0].region = 4; }},
    {"scratch beyond all memory", Status::kBadPayload,
     [](auto& p) { p.scratch_bytes = 0x7FFFFFFF; }},
    {"scratch too small for its tensors", Status::kBadPayload,
     [](auto& p) { p.scratch_bytes = 16; }},
};

TEST(Delegates, EachInvalidPayloadReturnsItsStatus) {
  for (const Case& each : kPayloadCases) {
    Fixture fixture;
    EthosUPayload payload = payload_of(fixture.program);
    each.change(payload);
    set_payload(fixture.program, payload);
    const LoadedModel loaded = fixture.load();
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_EQ(loaded.status != 0, loaded.size_status != 0) << each.name;
  }
}

struct ProgramCase {
  const char* name;
  Status expected;
  std::function<void(Fixture&)> change;
};

pte::DelegateCall& call_of(Fixture& fixture) {
  for (pte::Instruction& instruction : plan_of(fixture.program).chains[0].instructions) {
    if (auto* call = std::get_if<pte::DelegateCall>(&instruction)) return *call;
  }
  ADD_FAILURE() << "no delegate call";
  static pte::DelegateCall none;
  return none;
}

/// Moves a tensor of the call to an arena offset relative to the delegate's scratch.
void move_tensor(Fixture& f, size_t argument, const abi::DelegateRecord& record, int64_t by) {
  const int32_t value = call_of(f).args[argument];
  tensor_of(f.program, value).allocation->offset =
      static_cast<uint64_t>(record.scratch_offset + by);
}

const ProgramCase kProgramCases[] = {
    {"blocks that are none", Status::kBadPayload,
     [](auto& f) { f.program.delegate_blobs[0].bytes[0] = std::byte{'V'}; }},
    {"content in the first block", Status::kBadPayload,
     [](auto& f) {
       Bytes& payload = f.program.delegate_blobs[0].bytes;
       payload.insert(payload.begin() + abi::ethos_u::kHeaderBytes, 16, std::byte{});
       payload[abi::ethos_u::kSizeOffset] = std::byte{16};
     }},
    {"an empty payload", Status::kBadPayload,
     [](auto& f) { f.program.delegate_blobs[0].bytes.clear(); }},
    {"an unknown delegate", Status::kMissingDelegate,
     [](auto& f) { plan_of(f.program).delegates[0].id = "EthosUBackend2"; }},
    {"the start of its name", Status::kMissingDelegate,
     [](auto& f) { plan_of(f.program).delegates[0].id = "EthosU"; }},
    {"too few arguments", Status::kBadPayload, [](auto& f) { call_of(f).args.pop_back(); }},
    {"an integer as argument", Status::kUnsupported,
     [](auto& f) {
       plan_of(f.program).values.push_back(pte::Int{3});
       call_of(f).args[0] = static_cast<int32_t>(plan_of(f.program).values.size() - 1);
     }},
    {"floats", Status::kBadDType,
     [](auto& f) { call_of(f).args[0] = plan_of(f.program).inputs[0]; }},
    {"an output that nobody planned", Status::kCorrupt,
     [](auto& f) {
       // A constant of the file with the right size.
       f.program.constants.resize(2);
       f.program.constants[1] = Bytes(5);
       pte::Tensor& tensor = tensor_of(f.program, call_of(f).args[1]);
       tensor.allocation.reset();
       tensor.data_buffer_idx = 1;
     }},
    {"a plan", Status::kOk, [](auto& f) { f.add_entry({f.plan_scratch()}); }},
    {"a plan for two", Status::kCorrupt,
     [](auto& f) {
       const auto record = f.plan_scratch();
       f.add_entry({record, record});
     }},
    {"a plan for none", Status::kCorrupt, [](auto& f) { f.add_entry({}); }},
    {"scratch between multiples of 16", Status::kCorrupt,
     [](auto& f) {
       auto record = f.plan_scratch(16);
       record.scratch_offset += 8;
       f.add_entry({record});
     }},
    {"scratch past the arena", Status::kCorrupt,
     [](auto& f) {
       auto record = f.plan_scratch();
       record.scratch_offset += 16;
       f.add_entry({record});
     }},
    {"scratch far past the arena", Status::kCorrupt,
     [](auto& f) {
       auto record = f.plan_scratch();
       record.scratch_offset = 0xFFFFFFF0;
       f.add_entry({record});
     }},
    {"an input at its place", Status::kOk,
     [](auto& f) {
       const auto record = f.plan_scratch();
       move_tensor(f, 0, record, payload_of(f.program).inputs[0].offset);
       f.add_entry({record});
     }},
    {"an input elsewhere in scratch", Status::kCorrupt,
     [](auto& f) {
       const auto record = f.plan_scratch();
       move_tensor(f, 0, record, payload_of(f.program).inputs[0].offset - 16);
       f.add_entry({record});
     }},
    {"an output half in scratch", Status::kCorrupt,
     [](auto& f) {
       const auto record = f.plan_scratch();
       move_tensor(f, 1, record, -1);
       f.add_entry({record});
     }},
    {"fast scratch of a stream that has none", Status::kOk,
     [](auto& f) {
       auto record = f.plan_scratch();
       record.fast_bytes = 1U << 30;
       record.fast_offset = abi::kFastOnDevice;
       f.add_entry({record});
     }},
    {"fast scratch past the arena", Status::kCorrupt,
     [](auto& f) {
       auto record = f.plan_scratch();
       record.fast_bytes = 32;
       record.fast_offset = record.scratch_offset + 0x10000;
       f.add_entry({record});
     }},
};

TEST(Delegates, EachInvalidProgramReturnsItsStatus) {
  for (const ProgramCase& each : kProgramCases) {
    Fixture fixture;
    each.change(fixture);
    const LoadedModel loaded = fixture.load();
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_EQ(loaded.status != 0, loaded.size_status != 0) << each.name;
  }
}

TEST(Delegates, FastScratchIsPlannedOrProvidedByNpu) {
  constexpr char kDedicated[] = "image_u65_256.pte";
  const auto status_with = [&](uint32_t bytes, uint32_t more, bool inside, uint32_t own) {
    Fixture fixture(kDedicated);
    hostrun::EthosUNeeds needs = **hostrun::read_ethos_u_needs(fixture.program, kDedicated);
    needs.fast_bytes = own;
    fixture.npu = std::make_unique<hostrun::EthosUDevice>(needs);
    auto record = fixture.plan_scratch(more);
    record.fast_bytes = bytes;
    record.fast_offset = abi::kFastOnDevice;
    if (inside) {
      record.fast_offset = static_cast<uint32_t>(plan_of(fixture.program).memory_sizes[1]) - more;
    }
    fixture.add_entry({record});
    return static_cast<Status>(fixture.load().size_status);
  };
  EXPECT_EQ(status_with(4096, 0, false, 4096), Status::kOk);
  EXPECT_EQ(status_with(8192, 0, false, 4096), Status::kNoFastMemory);
  EXPECT_EQ(status_with(4096, 4096, true, 0), Status::kOk);
  EXPECT_EQ(status_with(4096, 4080, true, 0), Status::kCorrupt);
}

TEST(Delegates, KernelTableWithoutDelegatesRefusesFile) {
  const Fixture fixture;
  const LoadedModel loaded(written(fixture.program), thimble_all_kernels());
  EXPECT_EQ(loaded.size_status, static_cast<int32_t>(Status::kUnsupported));
  EXPECT_NE(loaded.status, 0);
}

TEST(Delegates, UnplannedScratchIsPlacedAfterArena) {
  Fixture fixture;
  const auto memory = static_cast<size_t>(plan_of(fixture.program).memory_sizes[1]);
  const auto scratch = static_cast<size_t>(payload_of(fixture.program).scratch_bytes);
  LoadedModel loaded = fixture.load();
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(loaded.needs.arena_bytes, (memory + 15) / 16 * 16 + scratch);
  const auto record = fixture.plan_scratch();
  fixture.add_entry({record});
  const LoadedModel planned = fixture.load();
  ASSERT_EQ(planned.status, 0);
  EXPECT_EQ(planned.needs.arena_bytes,
            static_cast<size_t>(plan_of(fixture.program).memory_sizes[1]));
  EXPECT_EQ(planned.needs.state_bytes, loaded.needs.state_bytes);
}

TEST(Delegates, TraceReportsDelegateName) {
  Fixture fixture;
  LoadedModel loaded = fixture.load();
  ASSERT_EQ(loaded.status, 0);
  fixture.npu->connect(loaded.file.data(), loaded.file.size(), true);
  fixture.npu->connect(loaded.memory->data(), loaded.needs.arena_bytes, false);
  std::string seen;
  const auto hook = [](void* user, uint32_t instruction, const char* op, int after) {
    if (std::strcmp(op, "EthosUBackend") != 0) return;
    *static_cast<std::string*>(user) += std::to_string(instruction) + (after != 0 ? ")" : "(");
  };
  ASSERT_EQ(thimble_set_trace(&loaded.model, hook, &seen), 0);
  EXPECT_EQ(run_with_input_buffers(loaded), 0);
  EXPECT_EQ(seen, "1(1)");
  EXPECT_STREQ(thimble_instruction_op(&loaded.model, 1), "EthosUBackend");
}

/// The NPU can access the file and the arena, not the runtime's data after the arena.
TEST(Delegates, FaultReturnsStatusAndModelRunsAgain) {
  Fixture fixture;
  LoadedModel loaded = fixture.load();
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(run_with_input_buffers(loaded), static_cast<int32_t>(Status::kNpuFault)) << "no memory";
  fixture.npu->connect(loaded.file.data(), loaded.file.size(), true);
  fixture.npu->connect(loaded.memory->data(), loaded.needs.arena_bytes, false);
  EXPECT_EQ(run_with_input_buffers(loaded), 0);
}

}  // namespace
}  // namespace thimble::runtime_test
