// SPDX-License-Identifier: Apache-2.0
// Every reason for which check() refuses a kernel list as a whole, each with the nearest accepted
// case: bytes, header, inputs and outputs, views.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "neutron_refusal.h"

namespace thimble::neutron_test {
namespace {

TEST(NeutronCheck, AcceptsSampleList) {
  expect({"nothing", Status::kOk, kNowhere, [](List&) {}});
}

TEST(NeutronCheck, RefusesInvalidSizeAndAlignment) {
  const List list = sample_list();
  const Bytes program = list.program();
  const auto bytes = static_cast<uint32_t>(program.size());
  const auto weight_bytes = static_cast<uint32_t>(list.weights.size());
  const auto at = [](const Bytes& content, size_t shift) {
    AlignedBytes memory(content.size() + 16);
    std::memcpy(memory.data() + shift, content.data(), content.size());
    return memory;
  };
  const auto check = [&](const uint8_t* p, uint32_t size, const uint8_t* w, uint32_t weights) {
    uint32_t kernel = 7;
    const Status status = neutron::check(p, size, w, weights, kernel);
    EXPECT_EQ(kernel, kNowhere);
    return status;
  };
  const AlignedBytes p = at(program, 0);
  const AlignedBytes w = at(list.weights, 0);
  EXPECT_EQ(check(p.data(), bytes, w.data(), weight_bytes), Status::kOk);
  EXPECT_EQ(check(p.data(), bytes + 16, w.data(), weight_bytes + 3), Status::kOk);
  EXPECT_EQ(check(at(program, 8).data() + 8, bytes, w.data(), weight_bytes), Status::kMisaligned);
  EXPECT_EQ(check(p.data(), bytes, at(list.weights, 4).data() + 4, weight_bytes),
            Status::kMisaligned);
  const uint32_t own = neutron::Program(p.data()).header().program_bytes;
  EXPECT_EQ(check(p.data(), own, w.data(), weight_bytes), Status::kOk);
  EXPECT_EQ(check(p.data(), own - 1, w.data(), weight_bytes), Status::kTruncated);
  EXPECT_EQ(check(p.data(), 63, w.data(), weight_bytes), Status::kTruncated);
  EXPECT_EQ(check(p.data(), 0, w.data(), weight_bytes), Status::kTruncated);
  EXPECT_EQ(check(p.data(), bytes, w.data(), weight_bytes - 1), Status::kTruncated);
}

TEST(NeutronCheck, EveryByteIsHashedButTheHash) {
  const List list = sample_list();
  const Bytes program = list.program();
  neutron::Header header;
  std::memcpy(&header, program.data(), sizeof header);
  for (const size_t byte : {size_t{20}, size_t{70}, size_t{header.program_bytes - 1}}) {
    Bytes changed = program;  // changes cycles, a byte of a dimension, or the end
    changed[byte] ^= 0x10;
    const Status status = check_bytes(changed, list.weights);
    EXPECT_TRUE(status == Status::kBadHash || status == Status::kBadIo) << byte;
  }
  Bytes changed = list.weights;
  changed.back() ^= 1;
  EXPECT_EQ(check_bytes(program, changed), Status::kBadHash);
  Bytes hash = program;
  hash[offsetof(neutron::Header, content_hash)] ^= 1;
  EXPECT_EQ(check_bytes(hash, list.weights), Status::kBadHash);
}

/// Published values of FNV-1a: of "a", of the empty string, and of a string in two parts.
TEST(NeutronCheck, HashEqualsPublishedFnv1aValues) {
  Bytes program(64);
  const auto reference = [&](const Bytes& weights) {
    uint32_t hash = 2166136261U;
    for (const uint8_t byte : program) hash = (hash ^ byte) * 16777619U;
    for (const uint8_t byte : weights) hash = (hash ^ byte) * 16777619U;
    return hash;
  };
  for (const Bytes& weights : {Bytes{}, Bytes{'a'}, Bytes{1, 2, 3}}) {
    EXPECT_EQ(neutron::content_hash(program.data(), 64, weights.data(),
                                    static_cast<uint32_t>(weights.size())),
              reference(weights));
  }
}

TEST(NeutronCheck, Header) {
  const List list = sample_list();
  const Bytes good = list.program();
  const auto count = static_cast<uint32_t>(list.kernels.size());
  struct Word {
    const char* what;
    size_t offset;
    uint32_t value;
    Status status;
  };
  using neutron::Header;
  const Word words[] = {
      {"magic of the vendor", 0, neutron::kVendorMagic, Status::kNoProgram},
      {"later version", 4, 2, Status::kBadVersion},
      {"no kernels", 8, 0, Status::kBadHeader},
      {"more kernels", 8, count + 1, Status::kBadHeader},
      {"inputs elsewhere", offsetof(Header, io_offset), 80, Status::kBadHeader},
      {"kernels elsewhere", offsetof(Header, kernels_offset), 64, Status::kBadHeader},
      {"other size", offsetof(Header, program_bytes), 64, Status::kBadHeader},
      {"scratch of 8", offsetof(Header, scratch_bytes), 8, Status::kBadHeader},
      {"prefetch of 8", offsetof(Header, prefetch_bytes), 8, Status::kBadHeader},
      {"huge scratch", offsetof(Header, scratch_bytes), (1U << 28) + 16, Status::kBadHeader},
      {"huge prefetch", offsetof(Header, prefetch_bytes), (1U << 28) + 16, Status::kBadHeader},
      {"huge weights", offsetof(Header, weight_bytes), (1U << 28) + 1, Status::kBadHeader},
      {"profile of one kernel less", offsetof(Header, profile_bytes), 16 * count,
       Status::kBadHeader},
      {"no profile", offsetof(Header, profile_bytes), 0, Status::kOk},
      {"debug", offsetof(Header, debug_bytes), 16, Status::kBadHeader},
      {"no outputs", offsetof(Header, output_count), 0, Status::kBadHeader},
      {"128 inputs", offsetof(Header, input_count), 128, Status::kBadHeader},
      {"128 outputs", offsetof(Header, output_count), 128, Status::kBadHeader},
      {"reserved", offsetof(Header, reserved), 1, Status::kBadHeader},
      {"other cycles", offsetof(Header, cycles), 1, Status::kOk},
  };
  for (const Word& word : words) {
    Bytes program = good;
    put(program, word.offset, word.value);
    rehash(program, list.weights);
    EXPECT_EQ(check_bytes(program, list.weights), word.status) << word.what;
  }
}

/// More kernels than allowed are refused.
TEST(NeutronCheck, KernelCount) {
  List list = sample_list();
  list.header.profile_bytes = 0;
  const KernelRecord more = list.kernels[sample::kAdd];
  list.kernels.resize(neutron::kKernelsMax, more);
  EXPECT_EQ(check_list(list), Status::kOk);
  list.kernels.push_back(more);
  EXPECT_EQ(check_list(list), Status::kBadHeader);
}

TEST(NeutronCheck, InputsAndOutputs) {
  const auto io = [](const char* what, Status status,
                     const std::function<void(IoRecord&)>& change) {
    expect({what, status, kNowhere, [&](List& list) { change(list.inputs[0]); }});
  };
  const auto refuses = [&](const char* what, const std::function<void(IoRecord&)>& change) {
    io(what, Status::kBadIo, change);
  };
  refuses("rank 0", [](IoRecord& r) { r.rank = 0; });
  refuses("rank 7", [](IoRecord& r) { r.rank = 7; });
  refuses("an empty dimension", [](IoRecord& r) { r.dims[0] = 0; });
  refuses("a dimension behind the rank", [](IoRecord& r) { r.dims[1] = 2; });
  refuses("other bytes", [](IoRecord& r) { r.bytes = 47; });
  refuses("2^32 elements", [](IoRecord& r) {
    r.rank = 4;
    r.dims[0] = r.dims[1] = r.dims[2] = r.dims[3] = 256;
    r.bytes = 0;
  });
  refuses("channels last of rank 1", [](IoRecord& r) { r.channels_last = 1; });
  refuses("another order", [](IoRecord& r) { r.channels_last = 2; });
  refuses("reserved", [](IoRecord& r) { r.reserved = 1; });
  refuses("negative scale", [](IoRecord& r) { r.scale = -0.5F; });
  refuses("infinite scale", [](IoRecord& r) { r.scale = HUGE_VALF; });
  refuses("no number", [](IoRecord& r) { r.scale = NAN; });
  refuses("zero point of no code", [](IoRecord& r) { r.zero_point = 128; });
  io("an image", Status::kOk, [](IoRecord& r) {
    r.rank = 4;
    r.channels_last = 1;
    const uint32_t dims[] = {1, 3, 4, 4};
    std::copy_n(dims, 4, r.dims);
    r.scale = 0;
    r.zero_point = -128;
  });
  expect({"an output that a kernel fills half", Status::kBadIo, kNowhere,
          [](List& list) { list.outputs[1].dims[0] = list.outputs[1].bytes = 193; }});
}

/// Changes the dense view of 128 bytes that kernel `kTable` reads.
void views(const char* what, Status status, const std::function<void(View&)>& change) {
  expect(what, status, sample::kTable, [&](KernelRecord& r) { change(r.operands[0]); });
}

TEST(NeutronCheck, ViewsStayInside) {
  const auto refuses = [](const char* what, const std::function<void(View&)>& change) {
    views(what, Status::kBadView, change);
  };
  refuses("no memory", [](View& v) { v.memory = Memory::kNone; });
  refuses("unknown memory", [](View& v) { v.memory = static_cast<Memory>(5); });
  refuses("an index of scratch", [](View& v) { v.index = 1; });
  refuses("an input too many", [](View& v) {
    v.memory = Memory::kInput;
    v.index = 2;
  });
  refuses("an input too short", [](View& v) {
    v.memory = Memory::kInput;
    v.offset = 0;
  });
  refuses("rank 0", [](View& v) { v.rank = 0; });
  refuses("rank 7", [](View& v) { v.rank = 7; });
  refuses("an empty dimension", [](View& v) { v.dims[1] = 0; });
  refuses("a stride behind the rank", [](View& v) { v.strides[4] = 1; });
  refuses("a dimension behind the rank", [](View& v) { v.dims[5] = 2; });
  refuses("2^31 elements of one", [](View& v) {
    v.dims[0] = 1U << 28;
    v.strides[0] = 0;
  });
  refuses("behind", [](View& v) { v.offset = 0xFFFFFFF0; });
  refuses("before", [](View& v) {
    v.offset = 0;
    v.strides[3] = -1;
  });
  refuses("far behind by its strides", [](View& v) { v.strides[1] = 0x7FFFFFFF; });
  refuses("far before by its strides", [](View& v) { v.strides[1] = INT32_MIN; });
  views("backward", Status::kOk, [](View& v) {
    v.offset += 7;
    v.strides[3] = -1;
  });
  views("of an unused stride", Status::kOk, [](View& v) { v.strides[0] = INT32_MIN; });
  // Views that end at the last byte, and one byte after it.
  const List list = sample_list();
  const uint32_t scratch = list.header.scratch_bytes;
  views("to the end", Status::kOk, [&](View& v) { v.offset = scratch - 128; });
  refuses("over the end", [&](View& v) { v.offset = scratch - 127; });
  const auto weights = static_cast<uint32_t>(list.weights.size());
  views("to the end of the weights", Status::kOk, [&](View& v) {
    v.memory = Memory::kWeights;
    v.offset = weights - 128;
  });
  refuses("over the end of the weights", [&](View& v) {
    v.memory = Memory::kWeights;
    v.offset = weights - 127;
  });
}

TEST(NeutronCheck, ResultsMayBeWritten) {
  const auto refuses = [](const char* what, const std::function<void(View&)>& change) {
    expect(what, Status::kBadView, sample::kRescale, [&](KernelRecord& r) { change(r.output); });
  };
  refuses("into an input", [](View& v) { v.memory = Memory::kInput; });
  refuses("into the weights", [](View& v) {
    v.memory = Memory::kWeights;
    v.offset = 0;
  });
  refuses("twice to a byte", [](View& v) { v.strides[1] = 0; });
  refuses("rows that cross", [](View& v) { v.strides[1] = 31; });
  refuses("rows that cross backward", [](View& v) {
    v.strides[1] = -31;
    v.offset += 93;
  });
}

TEST(NeutronCheck, EveryStatusAndKernelHasAName) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Status::kBadHash); ++i) {
    names.insert(neutron::status_text(static_cast<Status>(i)));
  }
  EXPECT_EQ(names.size(), size_t{13});
  EXPECT_FALSE(names.contains("unknown status"));
  names.clear();
  for (const KernelRecord& record : sample_list().kernels) {
    names.insert(neutron::kernel_name(record.kernel));
  }
  EXPECT_EQ(names.size(), size_t{sample::kKernels});
  EXPECT_FALSE(names.contains("?"));
  names.clear();
  for (int i = 0; i <= 12; ++i) {
    names.insert(neutron::function_name(static_cast<neutron::Function>(i)));
  }
  EXPECT_EQ(names.size(), size_t{13});
}

}  // namespace
}  // namespace thimble::neutron_test
