// SPDX-License-Identifier: Apache-2.0
// Damaged files give an error or a valid program, never a crash. Built with THIMBLE_SANITIZE, the
// test proves that no byte outside the file is accessed.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <random>

#include "formats/pte/check.h"
#include "formats/pte/layout.h"
#include "formats/pte/print.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "tests/unit/formats_pte_sample.h"

namespace thimble::formats::pte {
namespace {

std::string read_error(ByteView bytes) {
  const Result<Program> got = read(bytes, "bad.pte");
  return got.ok() ? "" : got.error().message;
}

/// Every program that was read can be written, read again and printed.
void expect_usable(const Program& program) {
  const Result<Bytes> bytes = write(program);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const Result<Program> reread = read(*bytes, "written");
  ASSERT_TRUE(reread.ok()) << reread.error().message;
  EXPECT_EQ(*write(*reread), *bytes);
  const auto is_printable = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  const std::string text = print(program);
  EXPECT_TRUE(std::ranges::all_of(text, is_printable)) << text;
  EXPECT_TRUE(nlohmann::json::accept(print_json(program)));
}

TEST(PteMalformed, EveryTruncation) {
  for (const Program& program : {add_program(), full_program()}) {
    const Bytes file = *write(program);
    for (size_t size = 0; size < file.size(); ++size) {
      // A copy of the exact size, so that a sanitizer detects an access after the end.
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(read_error(cut), "") << size;
    }
  }
}

TEST(PteMalformed, TenThousandMutations) {
  const Bytes file = *write(full_program());
  const auto program_size = load_le<uint64_t>(file, 16);
  std::mt19937 random(20240521);
  int accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    Bytes mutated = file;
    const size_t range = i % 2 == 0 ? program_size : file.size();
    const unsigned changes = 1 + random() % 4;
    for (unsigned c = 0; c < changes; ++c) {
      std::byte& byte = mutated[random() % range];
      switch (random() % 3) {
        case 0:
          byte = static_cast<std::byte>(random() & 0xFF);
          break;
        case 1:
          byte ^= static_cast<std::byte>(1u << (random() % 8));
          break;
        default:
          byte = random() % 2 == 0 ? std::byte{0} : std::byte{0xFF};
          break;
      }
    }
    static_cast<void>(read_layout(mutated, "mutated").ok());
    const Result<Program> got = read(mutated, "mutated");
    if (!got.ok()) continue;
    ++accepted;
    SCOPED_TRACE(i);
    expect_usable(*got);
  }
  EXPECT_GT(accepted, 100);  // not all mutations are refused by the first check
}

struct BadHeader {
  size_t offset;
  uint64_t value;
  const char* message;
};

TEST(PteMalformed, Header) {
  const Bytes file = *write(add_program());
  const std::string size = std::to_string(file.size());
  EXPECT_EQ(read_error(ByteView(file).first(10)), "bad.pte: 10 bytes, a program has at least 64");
  const BadHeader cases[] = {
      {4, 0x2020202020202020, "not an ExecuTorch program: expected the identifier ET12 at byte 4"},
      {12, 23, "extended header: length "},
      {16, 100'000, "extended header: a program of 100000 bytes in a file of "},
      {16, 8, "extended header: a program of 8 bytes"},
      {16, 64, "program: the flatbuffer is truncated or damaged"},
      {24, 100'000, "extended header: 16 bytes of segments at 100000 leave the file of "},
      {24, 0, "constant_segment.segment_index: a segment in a file without an extended header"},
      {32, UINT64_MAX, "extended header: 18446744073709551615 bytes of segments at "},
  };
  for (const BadHeader& bad : cases) {
    Bytes broken = file;
    const size_t width = bad.offset == 12 ? 4 : 8;
    for (size_t i = 0; i < width; ++i) {
      broken[bad.offset + i] = static_cast<std::byte>((bad.value >> (8 * i)) & 0xFF);
    }
    EXPECT_EQ(read_error(broken).find(std::string("bad.pte: ") + bad.message), 0u)
        << read_error(broken);
  }
}

struct BadProgram {
  std::function<void(Program&)> change;
  const char* message;
};

Tensor& tensor(Program& p, size_t i) {
  return std::get<Tensor>(p.plans[0].values[i]);
}

TEST(PteMalformed, EachViolatedRuleHasItsMessage) {
  const BadProgram cases[] = {
      {[](Program& p) { tensor(p, 0).sizes[1] = -3; },
       "plan forward: values[0].sizes[1]: -3 is negative"},
      {[](Program& p) { tensor(p, 0).sizes.assign(17, 1); },
       "plan forward: values[0].sizes: rank 17 exceeds 16"},
      {[](Program& p) { tensor(p, 0).dim_order = {0}; },
       "plan forward: values[0].dim_order: 1 entries for a tensor of rank 2"},
      {[](Program& p) {
         tensor(p, 0).dim_order = {1, 1};
       },
       "plan forward: values[0].dim_order[1]: 1: not a permutation of 2 dimensions"},
      {[](Program& p) { tensor(p, 0).scalar_type = static_cast<ScalarType>(8); },
       "plan forward: values[0].scalar_type: 8 is not a known type"},
      {[](Program& p) { tensor(p, 0).storage_offset = -1; },
       "plan forward: values[0].storage_offset: -1 is negative"},
      {[](Program& p) { tensor(p, 0).shape_dynamism = static_cast<ShapeDynamism>(3); },
       "plan forward: values[0].shape_dynamism: 3 is not 0, 1 or 2"},
      {[](Program& p) {
         tensor(p, 0).sizes = std::vector<int32_t>(3, INT32_MAX);
         tensor(p, 0).dim_order = {0, 1, 2};
       },
       "plan forward: values[0].sizes: the tensor exceeds 64-bit sizes"},
      {[](Program& p) { tensor(p, 0).allocation->memory_id = 0; },
       "plan forward: values[0].allocation: memory 0 is not one of 1..1"},
      {[](Program& p) { tensor(p, 3).allocation->offset = 17; },
       "plan forward: values[3].allocation: 16 bytes at 17 leave memory 1 of 32 bytes"},
      {[](Program& p) { tensor(p, 1).data_buffer_idx = 2; },
       "plan forward: values[1].data_buffer_idx: 2 is not an index of 2 entries"},
      {[](Program& p) { tensor(p, 1).sizes[1] = 5; },
       "plan forward: values[1].data_buffer_idx: a tensor of 20 bytes in a buffer of 16"},
      {[](Program& p) { tensor(p, 0).data_buffer_idx = 1; },
       "plan forward: values[0].extra.mutable_segment: 0 is not an index of 0 entries"},
      {[](Program& p) {
         tensor(p, 1).extra = ExtraTensorInfo{0, std::nullopt, TensorLocation::kExternal, {}};
       },
       "plan forward: values[1].extra: external data without a name"},
      {[](Program& p) {
         p.plans[0].values[2] = IntList{{0, 9}};
       },
       "plan forward: values[2][1]: 9 is not an index of 4 entries"},
      {[](Program& p) {
         p.plans[0].values[2] = TensorList{{0, 2}};
       },
       "plan forward: values[2][1]: values[2] is not a tensor"},
      {[](Program& p) { p.plans[0].inputs = {-1}; },
       "plan forward: inputs[0]: -1 is not an index of 4 entries"},
      {[](Program& p) { p.plans[0].outputs = {4}; },
       "plan forward: outputs[0]: 4 is not an index of 4 entries"},
      {[](Program& p) { p.plans[0].chains.clear(); },
       "plan forward: chains: expected at least one"},
      {[](Program& p) { p.plans[0].operators.clear(); },
       "plan forward: chains[0].instructions[0].op_index: 0 is not an index of 0 entries"},
      {[](Program& p) {
         p.plans[0].chains[0].instructions[0] = DelegateCall{0, {}};
       },
       "plan forward: chains[0].instructions[0].delegate_index: 0 is not an index of 0 entries"},
      {[](Program& p) {
         p.plans[0].chains[0].instructions[0] = KernelCall{0, {0, 4}};
       },
       "plan forward: chains[0].instructions[0].args[1]: 4 is not an index of 4 entries"},
      {[](Program& p) {
         p.plans[0].chains[0].instructions[0] = JumpFalseCall{2, 2};
       },
       "plan forward: chains[0].instructions[0].destination: 2 is not an index of 2 entries"},
      {[](Program& p) { p.plans[0].chains[0].stacktrace.resize(2); },
       "plan forward: chains[0].stacktrace: 2 entries for 1 instructions"},
      {[](Program& p) {
         p.plans[0].memory_sizes = {0, -1};
       },
       "plan forward: memory_sizes[1]: -1 is negative"},
      {[](Program& p) {
         p.plans[0].delegates = {{"x", 0, {}}};
       },
       "plan forward: delegates[0].blob: 0 is not an index of 0 entries"},
      {[](Program& p) { p.plans.push_back(p.plans[0]); }, "a second plan of the name 'forward'"},
      {[](Program& p) {
         p.named_data = {{"k", 16, {}}, {"k", 16, {}}};
       },
       "named_data[1]: a second entry for key 'k'"},
      {[](Program& p) {
         p.named_data = {{"k", 24, {}}};
       },
       "named_data[0].alignment: 24 is not a power of two up to 4096"},
      {[](Program& p) {
         p.delegate_blobs = {{BlobLocation::kInline, 32, {}}};
       },
       "delegate_blobs[0].alignment: 32 for inline data, which has 16"},
      {[](Program& p) { p.constants[0] = bytes_of(1, 1); },
       "constants: entry 0 is reserved: it must exist and be empty"},
  };
  for (const BadProgram& bad : cases) {
    Program program = add_program();
    bad.change(program);
    const Status status = check(program, "bad.pte");
    ASSERT_FALSE(status.ok()) << bad.message;
    EXPECT_EQ(status.error().message, std::string("bad.pte: ") + bad.message);
    EXPECT_FALSE(write(program).ok());
  }
}

TEST(PteMalformed, SharedListsDoNotExpandMemory) {
  // 2,000 values share one list of 2,000 items: an 11 KB file expands to 4 MB.
  Program program = add_program();
  program.plans[0].values.insert(program.plans[0].values.end(), 2'000,
                                 BoolList{std::vector<bool>(2'000)});
  const std::string message = read_error(*write(program));
  EXPECT_EQ(
      message,
      "bad.pte: plan forward: shared tables make the content many times larger than the file");
}

}  // namespace
}  // namespace thimble::formats::pte
