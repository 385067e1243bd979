// SPDX-License-Identifier: Apache-2.0
// The delegates of the Neutron with a test driver: the order of calls, and the memory and the
// memory order passed to them.

#include <gtest/gtest.h>
#include <cstring>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "abi/status.h"
#include "formats/pte/read.h"
#include "neutron_delegate_support.h"
#include "test_files.h"
#include "tests/folders.h"

namespace thimble::neutron_test {
namespace {

using abi::Status;

Data random_data(size_t bytes, std::mt19937& random) {
  Data data(bytes);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
  return data;
}

/// Moves the channels from dimension 1 to the end (`to_last`) or back, element by element.
Data reordered(const Data& from, const std::vector<int32_t>& sizes, bool to_last) {
  const size_t images = static_cast<size_t>(sizes[0]);
  const size_t channels = static_cast<size_t>(sizes[1]);
  const size_t pixels = from.size() / images / channels;
  Data to(from.size());
  for (size_t n = 0; n < images; ++n) {
    for (size_t c = 0; c < channels; ++c) {
      for (size_t p = 0; p < pixels; ++p) {
        const size_t first = (n * channels + c) * pixels + p;
        const size_t last = (n * pixels + p) * channels + c;
        to[to_last ? last : first] = from[to_last ? first : last];
      }
    }
  }
  return to;
}

Data output(const LoadedModel& loaded, uint32_t index) {
  thimble_view view = {};
  EXPECT_EQ(thimble_output(&loaded.model, index, &view), 0);
  const auto* const data = static_cast<const uint8_t*>(view.data);
  return {data, data + view.bytes};
}

/// Returns the expected outputs of a run.
std::vector<Data> expected(const CallFile& file, const std::vector<Data>& inputs) {
  std::vector<Data> seen;
  for (size_t i = 0; i < file.payload.input_map.size(); ++i) {
    const uint8_t argument = file.payload.input_map[i];
    const Port& port = file.inputs[argument];
    const bool turn = file.payload.input_formats[i] == MemoryOrder::kChannelsLast && !port.last;
    seen.push_back(turn ? reordered(inputs[argument], port.sizes, true) : inputs[argument]);
  }
  std::vector<Data> outputs(file.outputs.size());
  for (uint32_t i = 0; i < file.payload.output_map.size(); ++i) {
    const uint8_t argument = file.payload.output_map[i];
    const Port& port = file.outputs[argument];
    Data data(port.bytes());
    for (size_t k = 0; k < data.size(); ++k) data[k] = made(i, k, seen);
    const bool turn = file.payload.output_formats[i] == MemoryOrder::kChannelsLast && !port.last;
    outputs[argument] = turn ? reordered(data, port.sizes, false) : data;
  }
  return outputs;
}

TEST(NeutronDelegate, DriverCallsAreInOrder) {
  Npu npu;
  npu.npu.memory = {thimble_neutron_copy, thimble_neutron_wait};
  const CallFile file = simple_file();
  set_network_sizes(file);
  std::mt19937 random(1);
  const Data x = random_data(60, random);
  {
    LoadedModel loaded(written(file.program()), npu.kernels());
    ASSERT_EQ(loaded.status, 0);
    EXPECT_EQ(driver().log, "prepare config ");
    ASSERT_EQ(run(loaded, {x}), 0);
    ASSERT_EQ(run(loaded, {x}), 0);
    EXPECT_EQ(driver().log, "prepare config run run ");
    EXPECT_EQ(output(loaded, 0), expected(file, {x})[0]);
    EXPECT_EQ(npu.networks[0].calls, 2U);
    EXPECT_EQ(npu.networks[0].cycles, 0U) << "microcode says nothing of cycles";
    EXPECT_EQ(npu.networks[0].handle, driver().contexts[0]);
    thimble_neutron_forget(&npu.npu);
    EXPECT_EQ(driver().log, "prepare config run run unprepare ");
    EXPECT_EQ(npu.networks[0].program, nullptr);
  }
  npu.npu.gates_clock = 1;
  npu.npu.memory = {};
  driver().log.clear();
  LoadedModel loaded(written(file.program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, {x}), 0);
  EXPECT_EQ(driver().log, "prepare resume run suspend ");
  EXPECT_EQ(npu.error, 0);
}

/// The driver receives the product's hooks, in the order of the vendor's structure.
TEST(NeutronDelegate, DriverReceivesHooksOfProduct) {
  Npu npu;
  npu.npu.memory = {[](void* to, void* from, uint32_t bytes, uint32_t channel) {
                      EXPECT_EQ(channel, 1U);
                      std::memcpy(to, from, bytes);
                    },
                    [](uint32_t channel) { EXPECT_EQ(channel, 5U); }};
  set_network_sizes(simple_file());
  LoadedModel loaded(written(simple_file().program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_NE(driver().hooks, nullptr);
  std::array<uint8_t, 3> from = {1, 2, 3}, to = {};
  driver().hooks->copy(to.data(), from.data(), 3, 1);
  driver().hooks->wait(5);
  EXPECT_EQ(from, to);
}

/// Blocks of the payload are used in place, for both versions and both blob locations.
TEST(NeutronDelegate, PayloadBlocksAreUsedInPlace) {
  for (const uint8_t version : {uint8_t{0}, uint8_t{1}}) {
    for (const auto location : {pte::BlobLocation::kInline, pte::BlobLocation::kSegment}) {
      Npu npu;
      CallFile file = simple_file();
      file.payload.version = version;
      file.payload.program = microcode(version, 1, 1, kWeightBytes);
      file.location = location;
      set_network_sizes(file);
      LoadedModel loaded(written(file.program()), npu.kernels());
      ASSERT_EQ(loaded.status, 0);
      const auto* const begin = loaded.file.data();
      const NeutronModelConfig& config = driver().model;
      const auto* const code = static_cast<const uint8_t*>(config.microcode);
      ASSERT_TRUE(code > begin && code < begin + loaded.file.size());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(code) % 16, 0U);
      EXPECT_EQ(std::memcmp(code, file.payload.program.data(), file.payload.program.size()), 0);
      EXPECT_EQ(static_cast<const uint8_t*>(config.weights) - code, 80) << "72, padded";
      EXPECT_EQ(static_cast<const uint8_t*>(config.weights)[19], 0x77);
      EXPECT_EQ(static_cast<const uint8_t*>(config.kernels) - code, 80 + 32);
      EXPECT_EQ(static_cast<const uint8_t*>(config.kernels)[15], 0x88);
      EXPECT_EQ(config.timeoutSeconds, 60U);
      EXPECT_EQ(config.subgraphName, nullptr);
    }
  }
  Npu npu;
  npu.npu.timeout_seconds = 5;
  set_network_sizes(simple_file());
  const LoadedModel loaded(written(simple_file().program()), npu.kernels());
  EXPECT_EQ(driver().model.timeoutSeconds, 5U);
}

/// All memories of a run are disjoint and inside the arena.
TEST(NeutronDelegate, MemoriesOfCallAreDisjointAndInsideArena) {
  for (const bool planned : {false, true}) {
    Npu npu;
    CallFile file = simple_file();
    const MicrocodeWords words = {100, 33, 17, 65};
    file.payload.program = microcode(1, 1, 1, kWeightBytes, words);
    file.planned = planned;
    file.scratch_bytes = 48 + 112 + 48 + 32 + 80;  // 5 addresses of 8 bytes; each memory is padded
    set_network_sizes(file, words);
    LoadedModel loaded(written(file.program()), npu.kernels());
    ASSERT_EQ(loaded.status, 0);
    EXPECT_EQ(loaded.needs.arena_bytes, 16U + file.scratch_bytes);
    std::mt19937 random(2);
    const Data x = random_data(60, random);
    ASSERT_EQ(run(loaded, {x}), 0);
    EXPECT_EQ(output(loaded, 0), expected(file, {x})[0]) << "no memory lies on the output";
    std::vector<std::pair<const uint8_t*, uint32_t>> pieces;
    const auto add = [&](const void* at, uint32_t bytes) {
      pieces.emplace_back(static_cast<const uint8_t*>(at), bytes);
    };
    const TestDriver& me = driver();
    add(me.outputs[0], 7);
    add(me.outputs[1], words.scratch);
    add(me.outputs[2], words.profile);
    add(me.outputs[3], words.debug);
    add(me.data.scratchWeights, words.prefetch);
    add(me.data.inputs, sizeof(void*));
    add(me.data.outputs, 4 * sizeof(void*));
    std::sort(pieces.begin(), pieces.end());
    const uint8_t* end = loaded.memory->data();
    for (const auto& [at, bytes] : pieces) {
      EXPECT_GE(at, end);
      end = at + bytes;
    }
    EXPECT_LE(end, loaded.memory->data() + loaded.needs.arena_bytes);
  }
}

/// Small contexts are stored in the slot, larger ones in the model's state. Each network has its
/// own context as long as the model is loaded.
TEST(NeutronDelegate, ContextsLiveAsLongAsModel) {
  const size_t slot = sizeof(runtime::DelegateSlot);
  const CallFile file = simple_file();
  pte::Program program = file.program();
  program.delegate_blobs.push_back(program.delegate_blobs[0]);
  pte::ExecutionPlan& plan = plan_of(program);
  plan.delegates.push_back({"NeutronBackend", 1, {}});
  const auto args = std::get<pte::DelegateCall>(plan.chains[0].instructions[0]).args;
  plan.chains[0].instructions.push_back(pte::DelegateCall{1, args});
  for (const size_t context_bytes : {1U, 40U, 64U, 100U, 200U, 4000U}) {
    Npu npu;
    driver().context_bytes = context_bytes;
    set_network_sizes(file);
    LoadedModel loaded(written(program), npu.kernels());
    ASSERT_EQ(loaded.status, 0) << context_bytes;
    const size_t padded = (context_bytes + 15) / 16 * 16;
    const size_t inputs = sizeof(void*);
    if (context_bytes <= 40) {
      EXPECT_EQ(loaded.needs.state_bytes, 2 * slot + inputs) << context_bytes;
    } else {
      EXPECT_GE(loaded.needs.state_bytes, 2 * (slot + padded) + inputs) << context_bytes;
      EXPECT_LE(loaded.needs.state_bytes, 2 * (slot + padded) + inputs + 32) << context_bytes;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(driver().contexts[0]) % 16, 0U);
    }
    ASSERT_EQ(driver().contexts.size(), 2U);
    for (const uint8_t* context : driver().contexts) {
      EXPECT_GE(context, loaded.memory->data() + loaded.needs.arena_bytes);
      EXPECT_LE(context + context_bytes, loaded.memory->data() + loaded.memory->size());
    }
    for (int i = 0; i < 3; ++i) ASSERT_EQ(run(loaded, {Data(60, 9)}), 0);
    EXPECT_TRUE(driver().intact) << context_bytes;
  }
}

/// The program reads the call's arguments in another order, and ignores one of them.
TEST(NeutronDelegate, ArgumentMapsSelectInputsAndOutputs) {
  Npu npu;
  CallFile file = simple_file();
  file.inputs = {{{1, 5}}, {{1, 6}}, {{1, 7}}};
  file.outputs = {{{1, 3}}, {{1, 4}}};
  file.payload.input_formats.assign(2, MemoryOrder::kRowMajor);
  file.payload.output_formats.assign(2, MemoryOrder::kRowMajor);
  file.payload.input_map = {2, 0};
  file.payload.output_map = {1, 0};
  file.payload.arg_count = 3;
  file.payload.program = microcode(1, 2, 2, kWeightBytes);
  set_network_sizes(file);
  LoadedModel loaded(written(file.program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  std::mt19937 random(3);
  const std::vector<Data> inputs = {random_data(5, random), random_data(6, random),
                                    random_data(7, random)};
  ASSERT_EQ(run(loaded, inputs), 0);
  EXPECT_EQ(driver().inputs[0], inputs[2].data());
  EXPECT_EQ(driver().inputs[1], inputs[0].data());
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(output(loaded, i), expected(file, inputs)[i]) << i;
}

/// A tensor in the memory order of the network is passed without a copy.
TEST(NeutronDelegate, ImagesInNetworkOrderAreNotCopied) {
  Npu npu;
  CallFile file = simple_file();
  file.inputs = {{{2, 3, 4, 5}, true}};
  file.outputs = {{{2, 6, 2, 3}, true}};
  file.payload.input_formats = file.payload.output_formats = {MemoryOrder::kChannelsLast};
  set_network_sizes(file);
  LoadedModel loaded(written(file.program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(loaded.needs.arena_bytes, 80U + 48 + 48) << "no memory for another order";
  std::mt19937 random(4);
  const std::vector<Data> inputs = {random_data(120, random)};
  ASSERT_EQ(run(loaded, inputs), 0);
  EXPECT_EQ(driver().inputs[0], inputs[0].data());
  thimble_view view = {};
  ASSERT_EQ(thimble_output(&loaded.model, 0, &view), 0);
  EXPECT_EQ(driver().outputs[0], view.data);
  EXPECT_EQ(output(loaded, 0), expected(file, inputs)[0]);
}

Port random_port(std::mt19937& random) {
  Port port;
  const size_t rank = 3 + random() % 3;
  for (size_t i = 0; i < rank; ++i) {
    const bool one = random() % 4 == 0;
    port.sizes.push_back(one ? 1 : 1 + static_cast<int32_t>(random() % 11));
  }
  port.last = random() % 3 == 0;
  return port;
}

/// Random images in both memory orders, in the file and in the network, with a slow reference.
TEST(NeutronDelegate, RandomImagesInBothMemoryOrders) {
  const char* const given = std::getenv("THIMBLE_SEED");
  const uint32_t first =
      given != nullptr ? static_cast<uint32_t>(std::strtoul(given, nullptr, 0)) : 0;
  const uint32_t last = given != nullptr ? first + 1 : 400;
  for (uint32_t seed = first; seed < last; ++seed) {
    std::mt19937 random(seed);
    Npu npu;
    CallFile file = simple_file();
    file.inputs = {random_port(random), random_port(random)};
    file.outputs = {random_port(random), random_port(random)};
    file.payload.input_formats.assign(2, MemoryOrder::kChannelsLast);
    file.payload.output_formats.assign(2, MemoryOrder::kChannelsLast);
    file.payload.input_map = {1, 0};
    file.payload.output_map = {1, 0};
    file.payload.arg_count = 2;
    file.payload.program = microcode(1, 2, 2, kWeightBytes);
    set_network_sizes(file);
    LoadedModel loaded(written(file.program()), npu.kernels());
    ASSERT_EQ(loaded.status, 0) << "THIMBLE_SEED=" << seed;
    const std::vector<Data> inputs = {random_data(file.inputs[0].bytes(), random),
                                      random_data(file.inputs[1].bytes(), random)};
    ASSERT_EQ(run(loaded, inputs), 0);
    const auto wanted = expected(file, inputs);
    for (uint32_t i = 0; i < 2; ++i) {
      ASSERT_EQ(output(loaded, i), wanted[i]) << "THIMBLE_SEED=" << seed;
    }
  }
}

/// Returns the CallFile of a program with one call, for `expected`.
CallFile call_in(const pte::Program& program) {
  CallFile file;
  auto payload = formats::neutron::read_payload(program.delegate_blobs[0].bytes);
  EXPECT_TRUE(payload.ok());
  file.payload = *payload;
  for (size_t i = 0; i < 2; ++i) {
    const auto& plan = program.plans[0];
    for (const int32_t value : i == 0 ? plan.inputs : plan.outputs) {
      const auto& tensor = std::get<pte::Tensor>(plan.values[static_cast<size_t>(value)]);
      (i == 0 ? file.inputs : file.outputs).push_back({tensor.sizes, tensor.dim_order[1] != 1});
    }
  }
  return file;
}

/// Files made by ExecuTorch's writer and the NXP backend's packer (tests/peers/neutron/files.py).
TEST(NeutronDelegate, FilesOfExecuTorchLoadAndRun) {
  const char* const given = std::getenv("THIMBLE_NEUTRON_FILES");
  const auto folder = given != nullptr ? std::filesystem::path(given)
                                       : test::source_folder() / "tests/data/executorch/neutron";
  for (const char* name : {"formatless_v0", "first_v1", "last_v1", "mapped_v1"}) {
    const Bytes bytes = test::read_bytes(folder / (std::string(name) + ".pte"));
    const auto program = pte::read(bytes, name);
    ASSERT_TRUE(program.ok()) << program.error().message;
    EXPECT_EQ(program->delegate_blobs[0].location, pte::BlobLocation::kInline);
    EXPECT_TRUE(formats::neutron::verify_payload(program->delegate_blobs[0].bytes).ok()) << name;
    const CallFile file = call_in(*program);
    Npu npu;
    MicrocodeWords words = {48, 0, 0, 64};
    if (file.payload.version == 1) words = {48, 32, 16, 64};
    set_network_sizes(file, words);
    LoadedModel loaded(bytes, npu.kernels());
    ASSERT_EQ(loaded.status, 0) << name;
    std::mt19937 random(5);
    std::vector<Data> inputs;
    for (const Port& port : file.inputs) inputs.push_back(random_data(port.bytes(), random));
    ASSERT_EQ(run(loaded, inputs), 0) << name;
    const auto wanted = expected(file, inputs);
    for (uint32_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(output(loaded, i), wanted[i]) << name;
    const bool turned = std::string(name) == "first_v1" || std::string(name) == "mapped_v1";
    thimble_view view = {};
    ASSERT_EQ(thimble_input(&loaded.model, file.payload.input_map[0], &view), 0);
    EXPECT_EQ(driver().inputs[0] != view.data, turned) << name;
  }
}

TEST(NeutronDelegate, DriverErrorsReturnStatus) {
  const CallFile file = simple_file();
  const auto refused = static_cast<int32_t>(Status::kDriverError);
  for (const char* call : {"prepare", "config"}) {
    Npu npu;
    npu.npu.memory = {thimble_neutron_copy, thimble_neutron_wait};
    driver().failing = call;
    set_network_sizes(file);
    const LoadedModel loaded(written(file.program()), npu.kernels());
    EXPECT_EQ(loaded.size_status, 0) << "nobody is asked before there is memory";
    EXPECT_EQ(loaded.status, refused) << call;
    EXPECT_EQ(npu.error, 0x0001230B) << call;
    EXPECT_EQ(NEUTRON_ERROR_COMPONENT(npu.error), uint32_t{NEUTRON_OF_DRIVER});
    EXPECT_EQ(NEUTRON_ERROR_CATEGORY(npu.error), 1U);
    EXPECT_EQ(NEUTRON_ERROR_CODE(npu.error), 0x123U);
  }
  for (const char* call : {"run", "resume", "suspend"}) {
    Npu npu;
    npu.npu.gates_clock = 1;
    set_network_sizes(file);
    LoadedModel loaded(written(file.program()), npu.kernels());
    ASSERT_EQ(loaded.status, 0);
    driver().log.clear();
    driver().failing = call;
    EXPECT_EQ(run(loaded, {Data(60)}), refused) << call;
    EXPECT_EQ(npu.error, 0x0001230B) << call;
    const bool started = std::string(call) != "resume";
    EXPECT_EQ(driver().log, started ? "resume run suspend " : "resume ") << call;
    EXPECT_EQ(npu.networks[0].calls, 0U) << call;
    // The next run succeeds.
    driver().failing.clear();
    npu.error = 0;
    EXPECT_EQ(run(loaded, {Data(60)}), 0) << call;
    EXPECT_EQ(npu.error, 0);
  }
}

TEST(NeutronDelegate, ProfileRecordsAreReported) {
  Npu npu;
  CallFile file = simple_file();
  const MicrocodeWords words = {48, 32, 0, 0};
  file.payload.program = microcode(1, 1, 1, kWeightBytes, words);
  set_network_sizes(file, words);
  static uint32_t seen;
  seen = 0;
  npu.npu.profiled = [](const thimble_neutron*, const void* program, const void* records,
                        uint32_t bytes) {
    EXPECT_EQ(program, driver().model.microcode);
    EXPECT_EQ(records, driver().outputs[2]);
    seen = bytes;
  };
  LoadedModel loaded(written(file.program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, {Data(60)}), 0);
  EXPECT_EQ(seen, 32U);
}

}  // namespace
}  // namespace thimble::neutron_test
