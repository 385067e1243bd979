// SPDX-License-Identifier: Apache-2.0
// The functions of delegate/driver.h with Arm's driver interface, which the simulator implements.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/aligned_bytes.h"
#include "engines/ethos_u/delegate/driver.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "ethosu_driver.h"
#include "formats/pte/read.h"
#include "test_files.h"
#include "tests/folders.h"

namespace thimble::runtime::ethos_u {
namespace {

/// A network that ExecuTorch compiled for an Ethos-U55 of 128 MACs, with the registered driver.
class VendorDriver : public testing::Test {
 protected:
  void SetUp() override {
    const thimble::Bytes file =
        test::read_bytes(test::source_folder() / "tests/data/executorch/ethos_u/image_u55_128.pte");
    const auto program = formats::pte::read(file, "image");
    ASSERT_TRUE(program.ok());
    const auto payload = formats::ethos_u::read_payload(program->delegate_blobs[0].bytes);
    ASSERT_TRUE(payload.ok());
    commands_ = AlignedBytes(payload->commands);
    constants_ = AlignedBytes(payload->weights);
    scratch_ = AlignedBytes(static_cast<size_t>(payload->scratch_bytes));
    started_ = AlignedBytes(started_job_bytes());
    thimble::ethos_u::DriverPayload header;
    ASSERT_TRUE(thimble::ethos_u::read_driver_payload(
        commands_.data(), static_cast<uint32_t>(commands_.size()), header));
    job_.stream = {commands_.data() + header.stream_offset, header.stream_words * 4};
    job_.constants = {constants_.data(), static_cast<uint32_t>(constants_.size())};
    job_.scratch = scratch_.data();
    job_.scratch_bytes = static_cast<uint32_t>(scratch_.size());
    job_.started = started_.data();
    ASSERT_EQ(ethosu_init(&driver_, &npu_, nullptr, 0, 0, 0), 0);
    ASSERT_EQ(check_npu(none_, header.config, header.id), Status::kOk);
  }
  void TearDown() override { ethosu_deinit(&driver_); }

  /// Scratch before a run, as the delegate writes it.
  void fill_scratch() {
    for (size_t i = 0; i < scratch_.size(); ++i) scratch_.data()[i] = static_cast<uint8_t>(i * 37);
  }
  [[nodiscard]] std::vector<uint8_t> scratch() const {
    return {scratch_.data(), scratch_.data() + scratch_.size()};
  }

  AlignedBytes commands_{0}, constants_{0}, scratch_{0}, started_{0}, workspace_{48 << 10};
  thimble_simulated_npu npu_ = {"ethos-u55-128", workspace_.data(), workspace_.size()};
  ethosu_driver driver_ = {};
  thimble_ethos_u none_ = {};
  Job job_;
};

TEST_F(VendorDriver, StartAndFinishComputeWhatARunComputes) {
  fill_scratch();
  const std::vector<uint8_t> before = scratch();
  ASSERT_EQ(run_job(none_, job_), Status::kOk);
  const std::vector<uint8_t> expected = scratch();
  EXPECT_NE(expected, before);
  for (int again = 0; again < 2; ++again) {
    fill_scratch();
    ASSERT_EQ(start_job(none_, job_), Status::kOk);
    EXPECT_EQ(ethosu_reserve_driver(), nullptr) << "the driver is reserved until the wait";
    ASSERT_EQ(finish_job(none_, job_), Status::kOk);
    EXPECT_EQ(scratch(), expected);
  }
}

TEST_F(VendorDriver, FaultIsReportedByTheWait) {
  job_.scratch_bytes = 16;  // the stream accesses more
  ASSERT_EQ(start_job(none_, job_), Status::kOk);
  EXPECT_EQ(finish_job(none_, job_), Status::kNpuFault);
  EXPECT_EQ(run_job(none_, job_), Status::kNpuFault);
  job_.scratch_bytes = static_cast<uint32_t>(scratch_.size());
  EXPECT_EQ(run_job(none_, job_), Status::kOk) << "the driver is free again";
}

TEST_F(VendorDriver, RefusedStartReservesNothing) {
  job_.scratch += 4;  // Arm's driver requires multiples of 16
  EXPECT_EQ(start_job(none_, job_), Status::kNpuFault);
  ethosu_driver* const driver = ethosu_reserve_driver();
  ASSERT_NE(driver, nullptr);
  EXPECT_EQ(start_job(none_, job_), Status::kMissingDelegate) << "reserved by someone else";
  ethosu_release_driver(driver);
}

}  // namespace
}  // namespace thimble::runtime::ethos_u
