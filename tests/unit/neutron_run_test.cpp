// SPDX-License-Identifier: Apache-2.0
// A run of a Neutron list, apart from its kernels' arithmetic: transfers of weights from a memory
// that the engine cannot read, as early as their slot is free; and the profile.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "neutron_random_list.h"

namespace thimble::neutron_test {
namespace {

constexpr uint32_t kDepth = 16;
constexpr uint32_t kSlot = kDepth * kDepth;

/// Consecutive matrix products. All weights except those of the third are prefetched.
struct Chain {
  static constexpr uint32_t kLayers = 5;
  RandomList world{11};
  Dense x = world.tensor({1, kDepth});
  Dense expected = x;
  static bool is_prefetched(uint32_t layer) { return layer != 2; }

  Chain() {
    uint32_t prefetched = 0;
    View from = dense_view(Memory::kInput, world.list.input(kDepth), 0, x.dims);
    for (uint32_t i = 0; i < kLayers; ++i) {
      const bool last = i + 1 == kLayers;
      const View to = last ? dense_view(Memory::kOutput, world.list.output(kDepth), 0, x.dims)
                           : dense_view(Memory::kScratch, 0, world.list.scratch(kDepth), x.dims);
      WeightedParams w;
      w.weights = world.codes(kSlot);
      w.factors = {{1 << 30, -6}};
      KernelRecord& record = world.list.kernel(Kernel::kFullyConnected, {from}, to);
      record.weights = world.list.codes(w.weights);
      RandomList::use(record, 2, w.factors[0]);
      if (is_prefetched(i)) {
        record.prefetch_from = record.weights;
        record.prefetch_bytes = kSlot;
        record.prefetch_to = prefetched++ % 2 * kSlot;
      }
      expected = reference_fully_connected(expected, w, kDepth, {});
      from = to;
    }
    world.list.header.prefetch_bytes = 2 * kSlot;
    world.list.header.profile_bytes = 16 * (kLayers + 1);
  }
};

/// A flash whose content only the copy function can read, and a log of calls.
struct Flash {
  const uint8_t* seen = nullptr;  // the address that the job has as its weights
  const Bytes* content = nullptr;
  const uint8_t* slots = nullptr;
  std::string log;
};
Flash flash;

void copy(void* to, void* from, uint32_t bytes, uint32_t channel) {
  const auto offset = static_cast<size_t>(static_cast<uint8_t*>(from) - flash.seen);
  std::memcpy(to, flash.content->data() + offset, bytes);
  flash.log += "copy " + std::to_string(offset / kSlot) + " to " +
               std::to_string((static_cast<uint8_t*>(to) - flash.slots) / kSlot) + " by " +
               std::to_string(channel) + "\n";
}
void wait(uint32_t channel) {
  flash.log += "wait " + std::to_string(channel) + "\n";
}

TEST(NeutronRun, WeightsOfNextKernelArePrefetched) {
  Chain chain;
  const Bytes program = chain.world.list.program();
  Bytes& weights = chain.world.list.weights;
  ASSERT_EQ(check_bytes(program, weights), Status::kOk);
  // The engine can read only the weights of kernel 2, which are used in place.
  Bytes seen(weights.size(), 0x99);
  std::copy_n(weights.begin() + 2 * kSlot, kSlot, seen.begin() + 2 * kSlot);
  const AlignedBytes in_flash(ByteView(reinterpret_cast<std::byte*>(seen.data()), seen.size()));
  const AlignedBytes list(
      ByteView(reinterpret_cast<const std::byte*>(program.data()), program.size()));
  AlignedBytes scratch(chain.world.list.header.scratch_bytes), slots(2 * kSlot);
  Bytes result(kDepth);
  const auto* const in = reinterpret_cast<const uint8_t*>(chain.x.values.data());
  uint8_t* const out = result.data();
  flash = {in_flash.data(), &weights, slots.data(), {}};
  neutron::run({neutron::Program(list.data()), in_flash.data(), &in, &out, scratch.data(),
                slots.data(), copy, wait, nullptr});
  EXPECT_EQ(result, Bytes(chain.expected.values.begin(), chain.expected.values.end()));
  EXPECT_EQ(flash.log,
            "copy 0 to 0 by 0\n"
            "wait 0\n"
            "copy 1 to 1 by 1\n"  // while kernel 0 computes
            "wait 1\n"
            "copy 3 to 0 by 0\n"  // while kernels 1 and 2 compute: 2 has no prefetched weights
            "wait 0\n"
            "copy 4 to 1 by 1\n"
            "wait 1\n");
}

TEST(NeutronRun, ProfileHasARecordForEachKernelAndOneForAll) {
  Chain chain;
  const Outcome run = run_bytes(chain.world.list.program(), chain.world.list.weights,
                                {Bytes(chain.x.values.begin(), chain.x.values.end())});
  ASSERT_TRUE(run.intact);
  ASSERT_EQ(run.profile.size(), 16U * (Chain::kLayers + 1));
  uint32_t now = 0;
  for (uint32_t i = 0; i <= Chain::kLayers; ++i) {
    const uint8_t* const at = run.profile.data() + 16 * i;
    uint32_t start = 0, stop = 0;
    std::memcpy(&start, at + 4, 4);
    std::memcpy(&stop, at + 12, 4);
    const bool all = i == Chain::kLayers;
    EXPECT_EQ(start, all ? 0 : now);
    if (!all) now += chain.world.list.kernels[i].cycles;
    EXPECT_EQ(stop, now);
    // The bytes by which readers of the vendor's profile identify kernels and their kind.
    EXPECT_EQ(at[1], all ? 0 : 6);
    EXPECT_EQ(at[9], all ? 0 : 6);
    EXPECT_EQ(at[2], all ? 0 : 4);
    EXPECT_EQ(at[10], all ? 0 : 4);
    EXPECT_NE(at[0], at[8]) << "start and stop";
  }
}

TEST(NeutronRun, RunsWithoutProfileMemory) {
  Chain chain;
  chain.world.list.header.profile_bytes = 0;
  const Outcome run = run_bytes(chain.world.list.program(), chain.world.list.weights,
                                {Bytes(chain.x.values.begin(), chain.x.values.end())});
  EXPECT_TRUE(run.intact);
  EXPECT_TRUE(run.profile.empty());
  EXPECT_EQ(run.outputs[0], Bytes(chain.expected.values.begin(), chain.expected.values.end()));
}

}  // namespace
}  // namespace thimble::neutron_test
