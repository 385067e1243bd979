// SPDX-License-Identifier: Apache-2.0
// The driver of the Ethos-U on a scripted register file: the order of register writes and platform
// calls, and the handling of faults.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "engines/ethos_u/delegate/driver.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/registers.h"

namespace {
std::vector<std::string> events;  // recorded by the platform functions below, which have no context
}

extern "C" {
void thimble_ethos_u_lock(const thimble_ethos_u*) {
  events.emplace_back("lock");
}
void thimble_ethos_u_unlock(const thimble_ethos_u*) {
  events.emplace_back("unlock");
}
void thimble_ethos_u_clean(const thimble_ethos_u*, const void* data, size_t bytes) {
  events.push_back(fmt::format("clean {:x} {}", reinterpret_cast<uintptr_t>(data), bytes));
}
void thimble_ethos_u_invalidate(const thimble_ethos_u*, void* data, size_t bytes) {
  events.push_back(fmt::format("invalidate {:x} {}", reinterpret_cast<uintptr_t>(data), bytes));
}
void thimble_ethos_u_wait(const thimble_ethos_u*) {
  events.emplace_back("wait");
}
uint64_t thimble_ethos_u_address(const thimble_ethos_u*, const void* data) {
  events.push_back(fmt::format("address {:x}", reinterpret_cast<uintptr_t>(data)));
  return reinterpret_cast<uintptr_t>(data) + 0x100000000;
}
void thimble_ethos_u_fault(const thimble_ethos_u*, uint32_t status, uint32_t read_position) {
  events.push_back(fmt::format("fault {:x} {}", status, read_position));
}
}  // extern "C"

namespace thimble::runtime::ethos_u {
namespace {

namespace reg = thimble::ethos_u::reg;
using abi::MemoryMode;
using thimble::ethos_u::config_word;
using thimble::ethos_u::find_config;
using thimble::ethos_u::id_word;

/// Scripted registers: the status is read `running` times as running, then has the value `last`.
struct Script {
  uint32_t config = config_word(*find_config("ethos-u55-128"));
  uint32_t id = id_word(thimble::ethos_u::Generation::kU55);
  uint32_t reset_reads = 2;  // number of status reads during which the reset is active
  uint32_t running = 3;
  uint32_t last = reg::kEndReached | reg::kInterrupt;
  bool ignores_level = false;

  uint32_t resetting = 0, level = 0;
  bool started = false;
  uint32_t power = 1U << 2;

  static uint32_t read(void* user, uint32_t offset) {
    auto& self = *static_cast<Script*>(user);
    switch (offset) {
      case reg::kConfig:
        return self.config;
      case reg::kId:
        return self.id;
      case reg::kProtection:
        return self.level;
      case reg::kCommand:
        return self.power;
      case reg::kQueueRead:
        return 24;
      case reg::kStatus:
        break;
      default:
        ADD_FAILURE() << "read of " << offset;
        return 0;
    }
    if (self.resetting != 0) {
      --self.resetting;
      return reg::kResetting;
    }
    if (!self.started) return 0;
    if (self.running == 0) return self.last;
    --self.running;
    return reg::kRunning;
  }
  static void write(void* user, uint32_t offset, uint32_t value) {
    auto& self = *static_cast<Script*>(user);
    events.push_back(fmt::format("{:02x}={:x}", offset, value));
    if (offset == reg::kReset) {
      self.resetting = self.reset_reads;
      self.level = self.ignores_level ? 0 : value;
      self.started = false;
    }
    if (offset == reg::kCommand && (value & reg::kRun) != 0) self.started = true;
  }
  thimble_ethos_u npu() {
    thimble_ethos_u npu = {};
    npu.read = read;
    npu.write = write;
    npu.user = this;
    npu.polls = 10;
    return npu;
  }
};

Job job_of(MemoryMode mode = MemoryMode::kUnknown) {
  Job job;
  job.stream = {reinterpret_cast<const uint8_t*>(0x1000), 64};
  job.constants = {reinterpret_cast<const uint8_t*>(0x2000), 48};
  job.scratch = reinterpret_cast<uint8_t*>(0x3000);
  job.scratch_bytes = 80;
  job.mode = mode;
  return job;
}

/// Returns the events of a run, in order.
std::vector<std::string> events_of(Script& script, const Job& job, Status expected,
                                   void (*change)(thimble_ethos_u&) = nullptr) {
  events.clear();
  thimble_ethos_u npu = script.npu();
  if (change != nullptr) change(npu);
  EXPECT_EQ(run_job(npu, job), expected);
  return events;
}

std::vector<std::string> only(const std::vector<std::string>& all,
                              const std::vector<std::string>& starts) {
  std::vector<std::string> some;
  for (const std::string& event : all) {
    for (const std::string& start : starts) {
      if (event.starts_with(start)) some.push_back(event);
    }
  }
  return some;
}

using Texts = std::vector<std::string>;

TEST(NpuDriver, RegisterSequenceOnU55) {
  Script script;
  const Texts expected = {"lock",
                          "clean 1000 64",
                          "clean 2000 48",
                          "clean 3000 80",
                          "0c=1",  // reset, privileged and secure
                          "40=f1f0000",
                          "44=f1f0000",
                          "48=f1f0000",
                          "4c=f1f0000",
                          "address 1000",
                          "10=1000",
                          "14=1",
                          "20=40",
                          "1c=2",
                          "address 2000",
                          "80=2000",
                          "84=1",
                          "address 3000",
                          "88=3000",
                          "8c=1",
                          "90=0",
                          "98=0",
                          "a0=0",
                          "a8=0",
                          "b0=0",
                          "b8=0",
                          "3c=13",  // constants use the other port, scratch the SRAM's port
                          "08=5",
                          "wait",
                          "wait",
                          "wait",
                          "wait",
                          "08=6",  // the interrupt is cleared
                          "invalidate 3000 80",
                          "unlock"};
  EXPECT_EQ(events_of(script, job_of(), Status::kOk), expected);
}

TEST(NpuDriver, RegisterSequenceOnU85WithFastScratch) {
  Script script;
  script.config = config_word(*find_config("ethos-u85-256"));
  script.running = 0;
  Job job = job_of(MemoryMode::kDedicatedSram);
  job.fast = reinterpret_cast<uint8_t*>(0x4000);
  job.fast_bytes = 32;
  const Texts expected = {"lock",
                          "clean 1000 64",
                          "clean 2000 48",
                          "clean 3000 80",
                          "clean 4000 32",
                          "0c=1",
                          "40=0",
                          "44=0",
                          "48=4",
                          "4c=4",
                          "50=20f0b",
                          "54=21f3f",
                          "38=0",
                          "address 1000",
                          "10=1000",
                          "14=1",
                          "20=40",
                          "1c=3",
                          "address 2000",
                          "80=2000",
                          "84=1",
                          "address 3000",
                          "88=3000",
                          "8c=1",
                          "address 4000",
                          "90=4000",
                          "94=1",
                          "98=0",
                          "9c=0",
                          "a0=0",
                          "a4=0",
                          "a8=0",
                          "ac=0",
                          "b0=0",
                          "b4=0",
                          "b8=0",
                          "bc=0",
                          "3c=f",
                          "08=5",
                          "wait",
                          "08=6",
                          "invalidate 3000 80",
                          "invalidate 4000 32",
                          "unlock"};
  EXPECT_EQ(events_of(script, job, Status::kOk), expected);
}

TEST(NpuDriver, PortsFollowTheMemoryMode) {
  struct Case {
    MemoryMode file;
    uint8_t product;
    const char* npu;
    Texts queue_and_regions;
  };
  const Case cases[] = {
      {MemoryMode::kUnknown, THIMBLE_MEMORY_BY_FILE, "ethos-u55-128", {"1c=2", "3c=13"}},
      {MemoryMode::kUnknown, THIMBLE_MEMORY_BY_FILE, "ethos-u65-256", {"1c=3", "3c=f"}},
      {MemoryMode::kSharedSram, THIMBLE_MEMORY_BY_FILE, "ethos-u65-256", {"1c=2", "3c=13"}},
      {MemoryMode::kSramOnly, THIMBLE_MEMORY_BY_FILE, "ethos-u55-128", {"1c=1", "3c=1"}},
      {MemoryMode::kDedicatedSram, THIMBLE_MEMORY_BY_FILE, "ethos-u85-256", {"1c=3", "3c=f"}},
      // The product's setting has priority over the file's.
      {MemoryMode::kDedicatedSram, THIMBLE_SRAM_ONLY, "ethos-u85-256", {"1c=1", "3c=1"}},
      // An unknown memory mode in the file is ignored.
      {static_cast<MemoryMode>(77), THIMBLE_MEMORY_BY_FILE, "ethos-u55-128", {"1c=2", "3c=13"}},
  };
  for (const Case& c : cases) {
    Script script;
    script.config = config_word(*find_config(c.npu));
    events.clear();
    thimble_ethos_u npu = script.npu();
    npu.memory_mode = c.product;
    EXPECT_EQ(run_job(npu, job_of(c.file)), Status::kOk);
    EXPECT_EQ(only(events, {"1c=", "3c="}), c.queue_and_regions) << c.npu;
  }
}

TEST(NpuDriver, CacheCleanSkipsMissingConstants) {
  Script script;
  Job job = job_of();
  job.constants = {};
  const Texts cleaned = {"clean 1000 64", "clean 3000 80"};
  EXPECT_EQ(only(events_of(script, job, Status::kOk), {"clean"}), cleaned);
}

TEST(NpuDriver, SecurityAndPrivilegeAreSetAndChecked) {
  Script script;
  const auto level = [](thimble_ethos_u& npu) {
    npu.non_secure = 1;
    npu.unprivileged = 1;
  };
  EXPECT_EQ(only(events_of(script, job_of(), Status::kOk, level), {"0c="}), Texts{"0c=2"});
  script = {};
  script.ignores_level = true;
  const Texts all = events_of(script, job_of(), Status::kNpuFault, level);
  EXPECT_TRUE(only(all, {"10=", "08="}).empty()) << "nothing is started";
  EXPECT_EQ(all.back(), "unlock");
}

/// A fault is reported to the platform. The NPU is reset, so that it no longer accesses memory.
TEST(NpuDriver, FaultsReturnStatus) {
  for (const uint32_t fault :
       {reg::kBusFault, reg::kParseFault, reg::kWeightFault, reg::kEccFault, reg::kBranchFault}) {
    for (const uint32_t ended : {0U, reg::kEndReached}) {
      Script script;
      script.last = fault | reg::kInterrupt | ended;
      const Texts all = events_of(script, job_of(), Status::kNpuFault);
      const Texts expected = {"0c=1", "08=5", fmt::format("fault {:x} 24", script.last), "0c=1"};
      EXPECT_EQ(only(all, {"0c=", "08=", "fault"}), expected);
      EXPECT_EQ(all[all.size() - 2], "invalidate 3000 80");
      EXPECT_EQ(all.back(), "unlock");
    }
  }
}

TEST(NpuDriver, StopBeforeEndIsAFault) {
  Script script;
  script.last = 0;
  const Texts all = events_of(script, job_of(), Status::kNpuFault);
  EXPECT_EQ(only(all, {"fault"}), Texts{"fault 0 24"});
}

TEST(NpuDriver, EndlessRunTimesOut) {
  Script script;
  script.running = 1000;
  const Texts all = events_of(script, job_of(), Status::kNpuTimeout);
  EXPECT_EQ(only(all, {"wait"}).size(), 10U);
  const Texts expected = {"0c=1", "fault 1 24", "0c=1"};
  EXPECT_EQ(only(all, {"0c=", "fault"}), expected);
  EXPECT_EQ(all.back(), "unlock");
}

TEST(NpuDriver, EndlessResetTimesOut) {
  Script script;
  script.reset_reads = 10000000;
  const Texts all = events_of(script, job_of(), Status::kNpuTimeout);
  EXPECT_TRUE(only(all, {"10=", "08="}).empty());
  EXPECT_EQ(all.back(), "unlock");
}

TEST(NpuDriver, StreamsForOtherNpusAreRefused) {
  using thimble::ethos_u::Generation;
  Script script;
  const thimble_ethos_u npu = script.npu();
  const auto check = [&](const char* own, uint32_t own_id, const char* stream, uint32_t id) {
    script.config = config_word(*find_config(own));
    script.id = own_id;
    return check_npu(npu, config_word(*find_config(stream)), id);
  };
  const uint32_t u55 = id_word(Generation::kU55);
  const uint32_t u85 = id_word(Generation::kU85);
  for (const thimble::ethos_u::Config& a : thimble::ethos_u::kConfigs) {
    for (const thimble::ethos_u::Config& b : thimble::ethos_u::kConfigs) {
      const Status expected = a.generation != b.generation ? Status::kWrongNpu
                              : a.macs != b.macs           ? Status::kWrongMacs
                                                           : Status::kOk;
      EXPECT_EQ(check(a.name, id_word(a.generation), b.name, id_word(b.generation)), expected)
          << a.name << " " << b.name;
    }
  }
  constexpr uint32_t kMinor = 1U << 20;
  constexpr uint32_t kMajor = 1U << 28;
  // A newer NPU runs streams for an older one. An older or a different NPU does not.
  EXPECT_EQ(check("ethos-u55-128", u55 + kMinor, "ethos-u55-128", u55), Status::kOk);
  EXPECT_EQ(check("ethos-u55-128", u55, "ethos-u55-128", u55 + kMinor), Status::kNpuVersion);
  EXPECT_EQ(check("ethos-u55-128", u55 + kMajor, "ethos-u55-128", u55), Status::kNpuVersion);
  const uint32_t config = config_word(*find_config("ethos-u85-512"));
  script.config = config;
  script.id = u85;
  EXPECT_EQ(check_npu(npu, config ^ 1U << 8, u85), Status::kNpuVersion) << "ports";
  EXPECT_EQ(check_npu(npu, config ^ 1U << 4, u85), Status::kNpuVersion) << "version of the stream";
  EXPECT_EQ(check_npu(npu, config ^ 1U << 27, u85), Status::kNpuVersion) << "custom DMA";
  script.config = config | 1U << 27;
  EXPECT_EQ(check_npu(npu, config, u85), Status::kOk) << "a custom DMA that is not used";
}

}  // namespace
}  // namespace thimble::runtime::ethos_u
