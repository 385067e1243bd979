// SPDX-License-Identifier: Apache-2.0
// Programs of the stand-in compiler, run by the runtime with the stand-in driver: from the file,
// and linked into the firmware. Programs that must not load, each with its status.

#include <cstring>

#include "abi/status.h"
#include "axon_vendor/standin_driver.h"
#include "axon_vendor_support.h"
#include "engines/axon/compiler/vendor/vendor_compile.h"
#include "engines/axon/container/marker.h"
#include "engines/axon/container/program.h"
#include "engines/axon/delegate_vendor/backend.h"
#include "engines/axon/formats/program.h"

extern "C" const thimble_axon_silicon thimble_axon_chip = {};

namespace thimble::axon_vendor_test {
namespace {

using abi::Status;
using engine::axon::compile_with_vendor_tools;
using runtime_test::LoadedModel;

/// The kernel table of a part, with both delegates of the AXON.
class Chip {
 public:
  explicit Chip(thimble_axon_silicon chip = {}) : silicon(chip) {
    npu_.counters = counters;
    npu_.counter_count = 2;
    silicon.npu = &npu_;
    namespace vendor = runtime::axon_vendor;
    rows_[0] = {abi::axon::kProgramId, &silicon, vendor::program::open, vendor::program::check,
                vendor::program::run};
    rows_[1] = {abi::axon::kMarkerId, &silicon, vendor::marker::open, vendor::marker::check,
                vendor::marker::run};
    delegates_ = runtime::delegates_of(rows_, 2);
    table_ = {nullptr, 0, nullptr, &delegates_};
  }
  [[nodiscard]] const thimble_kernels* kernels() const {
    return reinterpret_cast<const thimble_kernels*>(&table_);
  }
  thimble_axon_silicon silicon;
  thimble_axon_counter counters[2] = {};

 private:
  thimble_axon npu_ = {};
  runtime::DelegateBackend rows_[2];
  runtime::DelegateBackends delegates_;
  kernels::KernelTable table_;
};

/// The delegate with its program; words take this machine's addresses.
engine::Delegate program_of(const List& list, const std::string& form = "program") {
  const StandinSdk sdk;
  List copy = list;
  engine::Delegate delegate = delegate_of(copy.build());
  const auto finished = compile_with_vendor_tools(sdk.tools(form), delegate);
  EXPECT_TRUE(finished.ok()) << finished.error().message;
  delegate.kept_bytes = delegate.kept_bytes / 4 * static_cast<int64_t>(sizeof(uintptr_t));
  return delegate;
}

const int8_t kInput[8] = {1, -2, 3, -4, 5, -6, 100, 127};

/// Runs the model and returns one output.
std::vector<int8_t> run(LoadedModel& loaded, uint32_t output = 0) {
  EXPECT_EQ(thimble_set_input(&loaded.model, 0, kInput, sizeof kInput), 0);
  EXPECT_EQ(thimble_run(&loaded.model), 0);
  thimble_view view;
  EXPECT_EQ(thimble_output(&loaded.model, output, &view), 0);
  const auto* const data = static_cast<const int8_t*>(view.data);
  return {data, data + view.bytes};
}

/// Returns the result of the stand-in's program; its constants are those of the IR from the second
/// on.
std::vector<int8_t> expected(const engine::Delegate& delegate, uint32_t count, uint32_t output) {
  abi::axon::ProgramHeader header;
  std::memcpy(&header, delegate.payload.data(), sizeof header);
  const auto* const constants =
      reinterpret_cast<const int8_t*>(delegate.payload.data()) + header.constants_offset;
  // The stand-in's constant struct: the IR's bytes, then two int32.
  const uint32_t bytes = header.constant_bytes - 8;
  std::vector<int8_t> values;
  for (uint32_t i = 0; i < count; ++i) {
    const int sum = kInput[i % 8] + constants[1 + i % (bytes - 1)] + static_cast<int>(output);
    values.push_back(static_cast<int8_t>(sum));
  }
  return values;
}

TEST(AxonProgram, RunsFromTheFile) {
  const engine::Delegate delegate = program_of(small_list(8, 6));
  EXPECT_EQ(delegate.id, abi::axon::kProgramId);
  const Chip chip;
  LoadedModel loaded(file_with(delegate, {1, 8}, {{1, 6}}), chip.kernels());
  ASSERT_EQ(loaded.status, 0) << thimble_status_text(loaded.status);
  axon_standin = {};
  EXPECT_EQ(run(loaded), expected(delegate, 6, 0));
  EXPECT_EQ(run(loaded), expected(delegate, 6, 0));
  EXPECT_EQ(axon_standin.runs, 2);
  EXPECT_EQ(axon_standin.reserved, 2);
  EXPECT_EQ(axon_standin.freed, 2);
  EXPECT_EQ(axon_standin.wait_mode, 1);
  EXPECT_EQ(axon_standin.kept, 1);
  EXPECT_EQ(chip.counters[0].calls, 2U);
  EXPECT_TRUE(std::string(chip.counters[0].name).starts_with("my_model_"));
  EXPECT_EQ(chip.counters[0].cycles, 20U);  // the list's estimate, for two runs
}

TEST(AxonProgram, WaitsForInterruptIfConfigured) {
  Chip chip;
  chip.silicon.wait_for_event = 1;
  chip.silicon.ticks = [] { return static_cast<uint32_t>(axon_standin.runs) * 1000; };
  LoadedModel loaded(file_with(program_of(small_list(8, 6)), {1, 8}, {{1, 6}}), chip.kernels());
  axon_standin = {};
  run(loaded);
  EXPECT_EQ(axon_standin.wait_mode, 2);
  EXPECT_EQ(chip.counters[0].cycles, 1000U);
}

TEST(AxonProgram, SeveralOutputsAndRowsWithGaps) {
  List list = small_list(8, 6);
  auto& pool = list.layer(axon::Operation::kMaxPool,
                          {list.inputs.empty() ? list.last() : list.layers[0].inputs[0]},
                          list.interlayer({1, 1, 1, 7}, 1, -4));
  pool.kernel_w = 2;
  list.output(list.last());
  list.outputs[1].scale = 0.125;
  const engine::Delegate delegate = program_of(list);
  const Chip chip;
  LoadedModel loaded(file_with(delegate, {1, 8}, {{1, 6}, {1, 7}}), chip.kernels());
  ASSERT_EQ(loaded.status, 0) << thimble_status_text(loaded.status);
  EXPECT_EQ(run(loaded, 0), expected(delegate, 6, 0));
  EXPECT_EQ(run(loaded, 1), expected(delegate, 7, 1));
}

/// Returns a list whose result is a tanh.
List tanh_list() {
  List list;
  const auto in = list.external({1, 1, 1, 8}, 1, 0);
  auto& layer =
      list.layer(axon::Operation::kFullyConnected, {in}, list.interlayer({1, 1, 1, 6}, 2, 0));
  layer.weights = list.bytes(std::vector<uint8_t>(48, 3));
  layer.weight_bytes = 48;
  axon_test::scale(list, layer, {77}, {14});
  list.layer(axon::Operation::kTanh, {list.last()}, list.interlayer({1, 1, 1, 6}, 1, 0));
  list.output(list.last());
  list.inputs[0].scale = list.outputs[0].scale = 0.125;
  return list;
}

TEST(AxonProgram, CallsThimbleActivationExtension) {
  const engine::Delegate delegate = program_of(tanh_list());
  const Chip chip;
  LoadedModel loaded(file_with(delegate, {1, 8}, {{1, 6}}), chip.kernels());
  ASSERT_EQ(loaded.status, 0) << thimble_status_text(loaded.status);
  std::vector<int8_t> values = expected(delegate, 6, 0);
  // tanh of -0.5, 0, 0.5 and 1, in units of 1/128, which the stand-in's program adds.
  const int8_t curve[] = {-59, 0, 59, 97};
  for (int i = 0; i < 4; ++i) values[i] = static_cast<int8_t>(values[i] + curve[i]);
  EXPECT_EQ(run(loaded), values);
}

TEST(AxonProgram, DriverFailuresReturnStatus) {
  const Chip chip;
  LoadedModel loaded(file_with(program_of(small_list(8, 6)), {1, 8}, {{1, 6}}), chip.kernels());
  ASSERT_EQ(thimble_set_input(&loaded.model, 0, kInput, sizeof kInput), 0);
  axon_standin = {};
  axon_standin.fail_with = -5;
  EXPECT_EQ(thimble_run(&loaded.model), static_cast<int32_t>(Status::kNpuFault));
  axon_standin.fail_with = 1;
  EXPECT_EQ(thimble_run(&loaded.model), static_cast<int32_t>(Status::kNpuTimeout));
  EXPECT_EQ(axon_standin.reserved, axon_standin.freed);
  axon_standin.fail_with = 0;
  EXPECT_EQ(thimble_run(&loaded.model), 0);
}

thimble_status status_of(const engine::Delegate& delegate, const thimble_axon_silicon& silicon,
                         const std::vector<int64_t>& input = {1, 8},
                         const std::vector<std::vector<int64_t>>& outputs = {{1, 6}}) {
  const Chip chip(silicon);
  const LoadedModel loaded(file_with(delegate, input, outputs), chip.kernels());
  EXPECT_EQ(loaded.size_status != 0, loaded.status != 0);
  return loaded.size_status;
}

TEST(AxonProgram, InvalidProgramsReturnTheirStatus) {
  const auto as_status = [](Status status) { return static_cast<thimble_status>(status); };
  const engine::Delegate good = program_of(small_list(8, 6));
  EXPECT_EQ(status_of(good, {}), 0);
  EXPECT_EQ(status_of(good, {}, {1, 9}), as_status(Status::kBadShape));  // input of a wrong size
  EXPECT_EQ(status_of(good, {}, {1, 8}, {{1, 5}}), as_status(Status::kBadShape));
  EXPECT_EQ(status_of(good, {}, {1, 8}, {{1, 6}, {1, 6}}), as_status(Status::kBadPayload));
  thimble_axon_silicon old = {};
  old.driver_version = 0x010100;
  EXPECT_EQ(status_of(good, old), as_status(Status::kDriverVersion));
  engine::Delegate narrow = good;
  narrow.kept_bytes -= 8;
  EXPECT_EQ(status_of(narrow, {}), as_status(Status::kProgramMemory));
  narrow.kept_bytes = 0;
  EXPECT_EQ(status_of(narrow, {}), as_status(Status::kProgramMemory));
  const thimble_axon_symbol none = {"nothing", nullptr};
  thimble_axon_silicon bare = {};
  bare.symbols = &none;
  bare.symbol_count = 1;
  EXPECT_EQ(status_of(good, bare), 0);
  EXPECT_EQ(status_of(program_of(tanh_list()), bare), as_status(Status::kMissingSymbol));
}

TEST(AxonProgram, DetectsEveryDamagedByte) {
  const engine::Delegate good = program_of(small_list(8, 6));
  runtime_test::AlignedBytes data{ByteView(good.payload)};
  const auto bytes = static_cast<uint32_t>(data.size());
  ASSERT_EQ(abi::axon::check_program(data.data(), bytes), abi::axon::ProgramStatus::kOk);
  for (uint32_t i = 0; i < bytes; ++i) {
    data.data()[i] ^= 0x41;
    EXPECT_NE(abi::axon::check_program(data.data(), bytes), abi::axon::ProgramStatus::kOk) << i;
    data.data()[i] ^= 0x41;
  }
  for (uint32_t shorter = 0; shorter < bytes; ++shorter) {
    const runtime_test::AlignedBytes part{ByteView(good.payload).first(shorter)};
    EXPECT_NE(abi::axon::check_program(part.data(), shorter), abi::axon::ProgramStatus::kOk);
  }
}

/// Changed programs with a matching hash: nothing outside the program may be accessed.
TEST(AxonProgram, ChangedProgramsWithValidHashAccessOnlyTheirMemory) {
  const engine::Delegate good = program_of(tanh_list());
  uint32_t seed = 1;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    runtime_test::AlignedBytes data{ByteView(good.payload)};
    const auto bytes = static_cast<uint32_t>(data.size());
    for (int change = 0; change < 2; ++change) {
      seed = seed * 1664525 + 1013904223;
      data.data()[(seed >> 8) % bytes] = static_cast<uint8_t>(seed >> 3);
    }
    const uint64_t hash = abi::axon::program_hash(data.data(), bytes);
    std::memcpy(data.data() + offsetof(abi::axon::ProgramHeader, content_hash), &hash, 8);
    if (abi::axon::check_program(data.data(), bytes) != abi::axon::ProgramStatus::kOk) {
      ++refused;
      continue;
    }
    const abi::axon::ProgramView view(data.data());
    for (uint32_t i = 0; i < view.header().word_count; ++i) (void)view.word(i);
    for (uint32_t i = 0; i < view.io_count(); ++i) (void)view.io(i);
  }
  EXPECT_GT(refused, 100);
}

// --- linked into the firmware ------------------------------------------------------------------

alignas(16) int8_t interlayer[64];
uintptr_t marker_words[12];
thimble_axon_tensor marker_tensors[2];

/// Returns a subgraph of this name that the stand-in driver can run.
thimble_axon_subgraph subgraph(const char* name) {
  static const int8_t constant[] = {10, 20, 30};
  const uintptr_t words[12] = {0x5d000001, 12,
                               0x5d000010, reinterpret_cast<uintptr_t>(interlayer),
                               8,          reinterpret_cast<uintptr_t>(constant),
                               3,          reinterpret_cast<uintptr_t>(interlayer + 8),
                               1,          6,
                               8,          0};
  std::copy(std::begin(words), std::end(words), marker_words);
  marker_tensors[0] = {interlayer, 8, 1, 1, 1, 8, 1};
  marker_tensors[1] = {interlayer + 8, 8, 1, 1, 1, 6, 1};
  return {name, marker_words, 12, 0x010200, 55, 16, 0, marker_tensors, 1, 1};
}

std::string marker_name(const engine::Delegate& delegate) {
  abi::axon::Marker marker;
  EXPECT_TRUE(abi::axon::read_marker(reinterpret_cast<const uint8_t*>(delegate.payload.data()),
                                     static_cast<uint32_t>(delegate.payload.size()), marker));
  return {marker.name, marker.name_bytes};
}

TEST(AxonMarker, RunsSubgraphLinkedInFirmware) {
  const engine::Delegate delegate = program_of(small_list(8, 6), "header");
  EXPECT_EQ(delegate.id, "AxonBackend");
  EXPECT_LE(delegate.payload.size(), 40U);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(delegate.payload.data()), 4), "AXNG");
  const std::string name = marker_name(delegate);
  EXPECT_TRUE(name.starts_with("my_model_")) << name;
  EXPECT_EQ(name.size(), std::string("my_model_").size() + 12);
  const thimble_axon_subgraph table[] = {subgraph("other_0123456789ab"), subgraph(name.c_str())};
  thimble_axon_silicon silicon = {};
  silicon.subgraphs = table;
  silicon.subgraph_count = 2;
  silicon.interlayer_bytes = 16;
  Chip chip(silicon);
  LoadedModel loaded(file_with(delegate, {1, 8}, {{1, 6}}), chip.kernels());
  ASSERT_EQ(loaded.status, 0) << thimble_status_text(loaded.status);
  axon_standin = {};
  EXPECT_EQ(run(loaded), (std::vector<int8_t>{11, 18, 33, 6, 25, 24}));
  EXPECT_EQ(chip.counters[0].cycles, 55U);
}

TEST(AxonMarker, InvalidMarkersReturnTheirStatus) {
  const auto as_status = [](Status status) { return static_cast<thimble_status>(status); };
  const engine::Delegate delegate = program_of(small_list(8, 6), "header");
  const std::string name = marker_name(delegate);
  const std::string older = name.substr(0, name.size() - 12) + "0123456789ab";
  thimble_axon_subgraph row = subgraph(name.c_str());
  thimble_axon_silicon silicon = {};
  silicon.subgraphs = &row;
  silicon.subgraph_count = 1;
  silicon.interlayer_bytes = 16;
  EXPECT_EQ(status_of(delegate, silicon), 0);
  silicon.interlayer_bytes = 15;
  EXPECT_EQ(status_of(delegate, silicon), as_status(Status::kScratchTooSmall));
  silicon.interlayer_bytes = 16;
  silicon.driver_version = 0x010100;
  EXPECT_EQ(status_of(delegate, silicon), as_status(Status::kDriverVersion));
  silicon.driver_version = 0;
  EXPECT_EQ(status_of(delegate, silicon, {1, 9}), as_status(Status::kBadShape));
  row.name = older.c_str();
  EXPECT_EQ(status_of(delegate, silicon), as_status(Status::kStaleProgram));
  row.name = "another_0123456789ab";
  EXPECT_EQ(status_of(delegate, silicon), as_status(Status::kUnknownProgram));
  silicon.subgraph_count = 0;
  EXPECT_EQ(status_of(delegate, silicon), as_status(Status::kUnknownProgram));
  engine::Delegate broken = delegate;
  broken.payload[4] = std::byte{2};
  row.name = name.c_str();
  silicon.subgraph_count = 1;
  EXPECT_EQ(status_of(broken, silicon), as_status(Status::kBadPayload));
}

}  // namespace
}  // namespace thimble::axon_vendor_test
