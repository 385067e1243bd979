// SPDX-License-Identifier: Apache-2.0
// write() and read(): round trips, a hand-written header, shared blobs.

#include <gtest/gtest.h>

#include "formats/pte/constant_pool.h"
#include "formats/pte/header.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "tests/unit/formats_pte_sample.h"

namespace thimble::formats::pte {
namespace {

Bytes written(const Program& program) {
  const Result<Bytes> bytes = write(program);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
  return bytes.ok() ? *bytes : Bytes();
}

Program reread(const Program& program) {
  const Result<Program> out = read(written(program), "test");
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message);
  return out.ok() ? *out : Program();
}

TEST(PteBytes, SmallProgramRoundTrips) {
  EXPECT_EQ(reread(add_program()), add_program());
}

TEST(PteBytes, EveryValueKindRoundTrips) {
  Program expected = full_program();
  const Program got = reread(expected);
  // A blob may be aligned by chance to a larger power of two than requested.
  EXPECT_GE(got.delegate_blobs[1].alignment, 32u);
  EXPECT_GE(got.named_data[0].alignment, 16u);
  expected.delegate_blobs[1].alignment = got.delegate_blobs[1].alignment;
  for (size_t i = 0; i < 2; ++i) {
    expected.named_data[i].alignment = got.named_data[i].alignment;
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(written(got), written(full_program()));
}

TEST(PteBytes, InlineConstantsRoundTrip) {
  Program program = add_program();
  program.constants_inline = true;
  const Bytes bytes = written(program);
  EXPECT_NE(as_text(bytes).substr(8, 4), "eh00");
  EXPECT_EQ(reread(program), program);
}

TEST(PteBytes, FileWithoutSegmentsHasNoHeader) {
  Program program = add_program();
  program.constants.resize(1);
  std::get<Tensor>(program.plans[0].values[1]).data_buffer_idx = 0;
  const Bytes bytes = written(program);
  EXPECT_EQ(as_text(bytes).substr(4, 4), "ET12");
  EXPECT_NE(as_text(bytes).substr(8, 4), "eh00");
  EXPECT_EQ(reread(program), program);
}

// The smallest file; the stock loader reads 64 bytes first.
TEST(PteBytes, EmptyProgramEqualsHandWrittenBytes) {
  const uint8_t expected[] = {
      24, 0, 0,  0, 'E', 'T', '1', '2',  // root table at 24
      16, 0, 12, 0, 0,   0,   4,   0,    // its vtable: execution_plan at 4,
      0,  0, 0,  0, 0,   0,   8,   0,    //   constant_segment at 8
      16, 0, 0,  0, 40,  0,   0,   0,    // Program: vtable at 24 - 16, execution_plan at 68,
      12, 0, 0,  0, 8,   0,   8,   0,    //   constant_segment at 44; vtable of the latter:
      0,  0, 4,  0, 8,   0,   0,   0,    //   offsets at 4; SubsegmentOffsets: vtable at 44 - 8,
      4,  0, 0,  0, 1,   0,   0,   0,    //   offsets at 52: one entry,
      0,  0, 0,  0, 0,   0,   0,   0,    //   0: the reserved constant
      0,  0, 0,  0, 0,   0,   0,   0};   // alignment; no execution plan
  const Bytes file = written(Program{});
  ASSERT_EQ(file.size(), sizeof(expected));
  for (size_t i = 0; i < sizeof(expected); ++i) {
    EXPECT_EQ(std::to_integer<int>(file[i]), expected[i]) << "byte " << i;
  }
  EXPECT_EQ(reread(Program{}), Program{});
}

// docs/formats/pte.md explains this file byte by byte.
TEST(PteBytes, HeaderEqualsHandWrittenBytes) {
  const Bytes file = written(add_program());
  const uint8_t expected[] = {
      0x3c, 0,    0,   0,                 // root table at 0x3c
      'E',  'T',  '1', '2',               //
      'e',  'h',  '0', '0',               //
      32,   0,    0,   0,                 // length of the header, from "eh00" on
      0x98, 0x02, 0,   0,   0, 0, 0, 0,   // size of the flatbuffer with header: 664 bytes
      0xa0, 0x02, 0,   0,   0, 0, 0, 0,   // offset of the segments: 672, a multiple of 16
      16,   0,    0,   0,   0, 0, 0, 0};  // size of the segments: 16 bytes, one constant
  ASSERT_EQ(file.size(), 688u);
  for (size_t i = 0; i < sizeof(expected); ++i) {
    EXPECT_EQ(std::to_integer<int>(file[i]), expected[i]) << "byte " << i;
  }
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(std::to_integer<size_t>(file[672 + i]), i + 1) << "constant byte " << i;
  }
}

TEST(PteBytes, WriteIsDeterministic) {
  EXPECT_EQ(written(full_program()), written(full_program()));
}

TEST(PteBytes, EachReuseOfAnEqualPartCostsOneOffset) {
  Program program = add_program();
  const size_t before = written(program).size();
  ExecutionPlan& plan = program.plans[0];
  for (int i = 0; i < 100; ++i) {
    plan.values.push_back(plan.values[0]);
    plan.values.push_back(Int{1});
    plan.chains[0].instructions.push_back(plan.chains[0].instructions[0]);
  }
  EXPECT_EQ(written(program).size(), before + 300 * sizeof(uint32_t));
  EXPECT_EQ(reread(program), program);
}

TEST(PteBytes, EqualBulkDataIsStoredOnce) {
  Program program = full_program();
  const size_t before = written(program).size();
  const Bytes big = bytes_of(4096, 5);
  program.named_data.push_back({"a", 16, big});
  program.named_data.push_back({"b", 16, big});
  program.delegate_blobs.push_back({BlobLocation::kSegment, 16, big});
  program.plans[1].delegates.push_back({"d", 2, {}});
  program.constants.push_back(bytes_of(4096, 9));
  program.constants.push_back(bytes_of(4096, 9));
  EXPECT_LT(written(program).size(), before + 2 * 4096 + 512);
}

TEST(PteBytes, ConstantsAndBlobsAreAligned) {
  const Program program = full_program();
  const Bytes file = written(program);
  const auto base = load_le<uint64_t>(file, 24);
  const auto position = [&](const Bytes& what, size_t from = 0) {
    return as_text(file).find(as_text(what), from);
  };
  EXPECT_EQ(base % 64, 0u);
  EXPECT_EQ(position(program.constants[1], base) % 16, 0u);
  EXPECT_EQ(position(program.constants[2], base) % 16, 0u);
  EXPECT_EQ(position(program.delegate_blobs[0].bytes) % 16, 0u);
  EXPECT_LT(position(program.delegate_blobs[0].bytes), base);
  EXPECT_EQ(position(program.delegate_blobs[1].bytes, base) % 32, 0u);
  EXPECT_EQ(position(program.named_data[0].bytes, base) % 16, 0u);
}

TEST(PteBytes, AlignmentOf128AfterTablesOfAnySize) {
  for (size_t i = 0; i < 40; ++i) {
    Program program = add_program();
    program.named_data = {{std::string(i, 'k'), 128, bytes_of(9, 77)}};
    const Bytes file = written(program);
    EXPECT_EQ(as_text(file).find(as_text(program.named_data[0].bytes)) % 128, 0u);
    EXPECT_EQ(reread(program), program);
    EXPECT_EQ(written(reread(program)), file);
  }
}

TEST(PteBytes, OlderHeaderWithoutDataSizeIsRead) {
  Bytes file = written(add_program());
  file[12] = std::byte{24};
  for (size_t i = 32; i < 40; ++i) file[i] = std::byte{0xEE};
  const Result<Program> got = read(file, "test");
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(*got, add_program());
}

TEST(PteConstantPool, SharesEqualBytes) {
  ConstantPool pool;
  EXPECT_EQ(pool.add(bytes_of(4, 1)), 1u);
  EXPECT_EQ(pool.add(bytes_of(4, 2)), 2u);
  EXPECT_EQ(pool.add(bytes_of(4, 1)), 1u);
  EXPECT_EQ(pool.add(bytes_of(5, 1)), 3u);
  EXPECT_EQ(pool.add({}), 0u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(pool.add(bytes_of(6, i)), 4u + static_cast<uint32_t>(i));
  EXPECT_EQ(pool.add(bytes_of(4, 2)), 2u);
  const std::vector<Bytes> all = pool.take();
  EXPECT_EQ(all.size(), 204u);
  EXPECT_TRUE(all[0].empty());
  EXPECT_EQ(pool.add(bytes_of(1, 1)), 1u);
}

}  // namespace
}  // namespace thimble::formats::pte
