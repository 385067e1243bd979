// SPDX-License-Identifier: Apache-2.0
// The delegates of the Neutron with a test driver: files that are refused at load, and damaged
// files, which must do no harm.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "abi/status.h"
#include "neutron_delegate_support.h"

namespace thimble::neutron_test {
namespace {

using abi::Status;

struct Case {
  const char* name;
  Status expected;
  std::function<void(CallFile&, Npu&)> change;  // applied before the file is made
  std::function<void(pte::Program&)> edit = [](pte::Program&) {};
};

std::byte& blob_byte(pte::Program& program, size_t at) {
  return program.delegate_blobs[0].bytes[at];
}
constexpr auto kAsItIs = [](CallFile&, Npu&) {};

const Case kCases[] = {
    {"nothing", Status::kOk, kAsItIs},
    {"a delegate without a device", Status::kMissingDelegate,
     [](CallFile&, Npu& npu) { npu.rows[1].device = nullptr; }},
    {"another delegate's name", Status::kMissingDelegate,
     [](CallFile& file, Npu&) { file.id = "NeutronBackend2"; }},
    {"the other delegate's name: the magic decides", Status::kOk,
     [](CallFile& file, Npu&) { file.id = "ThimbleNeutronModel"; }},
    {"no payload", Status::kBadPayload, kAsItIs,
     [](pte::Program& p) { p.delegate_blobs[0].bytes.clear(); }},
    {"half a payload", Status::kBadPayload, kAsItIs,
     [](pte::Program& p) { p.delegate_blobs[0].bytes.resize(100); }},
    {"another magic", Status::kBadMagic, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 16) = std::byte{'N'}; }},
    {"a later version", Status::kPayloadVersion, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 7) = std::byte{2}; }},
    {"the words of another version", Status::kBadPayload, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 7) = std::byte{0}; }},
    {"a program with more inputs", Status::kPayloadCounts, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 16 + 52) = std::byte{2}; }},
    {"a program with fewer outputs", Status::kPayloadCounts, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 16 + 56) = std::byte{0}; }},
    {"an input that is no argument", Status::kPayloadCounts, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 5) = std::byte{1}; }},
    {"an output that is no argument", Status::kPayloadCounts, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 6) = std::byte{1}; }},
    {"an unknown format", Status::kBadPayload, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 3) = std::byte{2}; }},
    {"weights outside the payload", Status::kBadPayload, kAsItIs,
     [](pte::Program& p) { blob_byte(p, 16 + 28) = std::byte{255}; }},
    {"one argument too few", Status::kPayloadCounts, kAsItIs,
     [](pte::Program& p) {
       std::get<pte::DelegateCall>(plan_of(p).chains[0].instructions[0]).args.pop_back();
     }},
    {"one argument too many", Status::kPayloadCounts, kAsItIs,
     [](pte::Program& p) {
       std::get<pte::DelegateCall>(plan_of(p).chains[0].instructions[0]).args.push_back(0);
     }},
    {"unsigned bytes", Status::kOk, kAsItIs,
     [](pte::Program& p) { tensor_of(p, 0).scalar_type = pte::ScalarType::kByte; }},
    {"floats", Status::kBadDType, kAsItIs,
     [](pte::Program& p) { tensor_of(p, 0).scalar_type = pte::ScalarType::kFloat; }},
    {"channels last, but the network expects channels first", Status::kBadDimOrder, kAsItIs,
     [](pte::Program& p) {
       tensor_of(p, 0).dim_order = {0, 2, 3, 1};
     }},
    {"the same with one channel", Status::kOk,
     [](CallFile& file, Npu&) {
       file.inputs[0] = {{1, 1, 4, 5}, true};
     }},
    {"neither channels first nor channels last", Status::kBadDimOrder,
     [](CallFile& file, Npu&) { file.payload.input_formats[0] = MemoryOrder::kChannelsLast; },
     [](pte::Program& p) {
       tensor_of(p, 0).dim_order = {0, 1, 3, 2};
     }},
    {"channels last of a vector", Status::kBadDimOrder,
     [](CallFile& file, Npu&) { file.payload.output_formats[0] = MemoryOrder::kChannelsLast; }},
    {"an output that is the caller's", Status::kCorrupt, kAsItIs,
     [](pte::Program& p) {
       std::get<pte::DelegateCall>(plan_of(p).chains[0].instructions[0]).args[1] = 0;
     }},
    {"an output that is a constant", Status::kCorrupt, kAsItIs,
     [](pte::Program& p) {
       p.constants.emplace_back(7);
       tensor_of(p, 1).allocation.reset();
       tensor_of(p, 1).data_buffer_idx = 1;
     }},
    {"an output in scratch", Status::kCorrupt,
     [](CallFile& file, Npu&) {
       file.planned = true;
       file.scratch_bytes = 96;
     },
     [](pte::Program& p) { tensor_of(p, 1).allocation->offset = 16 + 64; }},
    {"scratch past the arena", Status::kCorrupt,
     [](CallFile& file, Npu&) {
       file.planned = true;
       file.scratch_bytes = 95;
     }},
    {"another order without scratch for it", Status::kCorrupt,
     [](CallFile& file, Npu&) {
       file.payload.input_formats[0] = MemoryOrder::kChannelsLast;
       file.planned = true;
       file.scratch_bytes = 96 + 63;
     }},
    {"another order with scratch for it", Status::kOk,
     [](CallFile& file, Npu&) {
       file.payload.input_formats[0] = MemoryOrder::kChannelsLast;
       file.planned = true;
       file.scratch_bytes = 96 + 64;
     }},
};

TEST(NeutronDelegate, EachInvalidFileReturnsItsStatus) {
  for (const Case& each : kCases) {
    Npu npu;
    CallFile file = simple_file();
    each.change(file, npu);
    set_network_sizes(file);
    pte::Program program = file.program();
    each.edit(program);
    const LoadedModel loaded(written(program), npu.kernels());
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_EQ(loaded.status != 0, loaded.size_status != 0) << each.name;
  }
}

/// Eight images of 512 MiB would need reordering: the sum of their sizes is 0 modulo 2^32.
TEST(NeutronDelegate, RefusesReorderingSizeAbove32Bits) {
  constexpr int32_t kSide = 1 << 14;
  CallFile file = simple_file();
  file.inputs.assign(8, {{1, 2, kSide, kSide}});
  file.payload.input_formats.assign(8, MemoryOrder::kChannelsLast);
  file.payload.input_map = {0, 1, 2, 3, 4, 5, 6, 7};
  file.payload.arg_count = 8;
  file.payload.program = microcode(1, 8, 1, kWeightBytes);
  for (const bool planned : {false, true}) {
    file.planned = planned;
    file.scratch_bytes = 256;
    const Npu npu;
    const LoadedModel refused(written(file.program()), npu.kernels());
    EXPECT_EQ(refused.size_status, static_cast<int32_t>(Status::kBadPayload));
  }
}

TEST(NeutronDelegate, MoreNetworksThanTableRows) {
  Npu npu;
  npu.npu.network_count = 0;
  set_network_sizes(simple_file());
  const Bytes file = written(simple_file().program());
  const LoadedModel refused(file, npu.kernels());
  EXPECT_EQ(refused.status, static_cast<int32_t>(Status::kBadArgument));
  npu.npu.networks = nullptr;
  npu.npu.network_count = 2;
  LoadedModel loaded(file, npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(run(loaded, {Data(60)}), 0);
  thimble_neutron_forget(&npu.npu);
  EXPECT_EQ(driver().log.find("unprepare"), std::string::npos) << "nothing was counted";
}

/// Randomly changed payloads give an error status, or a run that writes only to the model's
/// memory.
TEST(NeutronDelegate, RandomlyChangedFilesAreSafe) {
  constexpr int kChanges = 4000;
  CallFile file = simple_file();
  file.payload.input_formats[0] = MemoryOrder::kChannelsLast;
  const Bytes good = written(file.program());
  const auto payload = formats::neutron::write_payload(file.payload);
  ASSERT_TRUE(payload.ok());
  const auto at = std::search(good.begin(), good.end(), payload->begin(), payload->end());
  ASSERT_NE(at, good.end());
  std::mt19937 random(11);
  int ran = 0;
  for (int i = 0; i < kChanges; ++i) {
    Bytes bytes = good;
    const size_t change = random() % 8 == 0
                              ? random() % good.size()
                              : static_cast<size_t>(at - good.begin()) + random() % 76;
    bytes[change] ^= static_cast<std::byte>(1U << random() % 8);
    const Npu npu;
    set_network_sizes(file, {0, 0, 0, 0});
    driver().knows_prefetch = false;
    SCOPED_TRACE(testing::Message() << "change " << i);
    ran += runtime_test::damaged_file_runs(bytes, npu.kernels()) ? 1 : 0;
  }
  EXPECT_GT(ran, kChanges / 100);
  EXPECT_LT(ran, kChanges);
}

}  // namespace
}  // namespace thimble::neutron_test
