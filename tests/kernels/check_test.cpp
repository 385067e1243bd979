// SPDX-License-Identifier: Apache-2.0
// Properties of every kernel of kernels.def: it has its operator's name, accepts valid calls, and
// refuses broken operands. After check() passes, run() stays inside its operands for any arguments
// (build with THIMBLE_SANITIZE: buffers have exactly the operand's size).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "kernels/isa.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

const PteOp kOps[] = {
#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(PteOp::op, )
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
};

TEST(Kernels, TableFollowsTheOperators) {
  const KernelTable table = all_kernels();
  ASSERT_EQ(table.count, std::size(kOps));
  ASSERT_NE(table.shorter, nullptr);
  for (uint32_t n = 0; n <= kNameBytesMax + 1; ++n) {
    const auto is_shorter = [n](const Kernel* kernel) { return kernel->name_bytes < n; };
    EXPECT_EQ(table.shorter[n],
              std::count_if(table.kernels, table.kernels + table.count, is_shorter));
  }
  for (uint32_t i = 0; i < table.count; ++i) {
    const Kernel& kernel = *table.kernels[i];
    EXPECT_TRUE(i == 0 || table.kernels[i - 1]->name_bytes <= kernel.name_bytes) << kernel.name;
    EXPECT_EQ(kernel.name_bytes, std::strlen(kernel.name));
    EXPECT_EQ(kernel.count_in_file, std::strlen(kernel.arguments) + 1);
    EXPECT_LE(kernel.count_in_file, abi::kMaxArgs);
    for (const char* letter = kernel.arguments; *letter != 0; ++letter) {
      EXPECT_NE(std::strchr("TtibdlRsowcjkqyz", *letter), nullptr) << kernel.name;
    }
    const bool open = std::any_of(kernel.arguments,
                                  kernel.arguments + std::strlen(kernel.arguments), is_multi_type);
    EXPECT_EQ(kernel.normalize_arg, open ? normalize_multi_type_arg : nullptr) << kernel.name;
    const auto is_this = [&](PteOp op) {
      return std::strcmp(kernel.name, abi::info(op).name) == 0 &&
             std::strcmp(kernel.arguments, abi::info(op).arguments) == 0;
    };
    EXPECT_TRUE(std::any_of(std::begin(kOps), std::end(kOps), is_this)) << kernel.name;
  }
  for (uint16_t op = 0; op < static_cast<uint16_t>(PteOp::kCount); ++op) {
    EXPECT_NE(std::find(std::begin(kOps), std::end(kOps), static_cast<PteOp>(op)), std::end(kOps))
        << abi::kPteOps[op].name << " has no kernel";
  }
}

TEST(Kernels, AcceptValidCalls) {
  Random random(1);
  for (const PteOp op : kOps) {
    for (int i = 0; i < 50; ++i) {
      Invocation call = sample(op, random);
      ASSERT_NO_FATAL_FAILURE(call.run());
    }
  }
}

/// Returns true for arguments that our kernels never read.
bool is_unchecked_argument(PteOp op, size_t arg) {
  switch (op) {
    // Scratch.
    case PteOp::cortex_m_quantized_batch_matmul:
      return arg == 7;
    case PteOp::cortex_m_quantized_avg_pool2d:
    case PteOp::cortex_m_quantized_avg_pool2d_nhwc:
      return arg == 8;
    case PteOp::cortex_m_quantized_avg_pool2d_9:
      return arg == 7;
    case PteOp::cortex_m_quantized_conv2d:
    case PteOp::cortex_m_quantized_conv2d_nhwc:
      return arg == 12;
    case PteOp::cortex_m_quantized_depthwise_conv2d:
    case PteOp::cortex_m_quantized_depthwise_conv2d_nhwc:
      return arg == 13;
    case PteOp::cortex_m_quantized_transpose_conv2d:
    case PteOp::cortex_m_quantized_transpose_conv2d_nhwc:
      return arg == 13 || arg == 14;
    // Empty outputs.
    case PteOp::aten_batch_norm:
      return arg == 8 || arg == 9;
    default:
      return false;
  }
}

/// Changes of one operand that a kernel must refuse.
struct Damage {
  const char* name;
  void (*change)(Value&);
};
const Damage kNull = {"null", [](Value& v) { v.null = true; }};
const Damage kShort = {"one byte less", [](Value& v) { v.bytes -= 1; }};
const Damage kLong = {"one byte more", [](Value& v) { v.bytes += 1; }};
const Damage kType = {
    "another type", [](Value& v) { v.dtype = v.dtype == DType::kI16 ? DType::kI8 : DType::kI16; }};
const Damage kRank = {"rank 7", [](Value& v) {
                        v.sizes.assign(7, 1);
                        v.order = contiguous(7);
                      }};
const Damage kLarger = {"larger dimensions", [](Value& v) {
                          if (v.sizes.empty()) v.bytes = 0;
                          for (int32_t& size : v.sizes) size += 1;
                        }};

/// Returns the status of a valid call whose tensor `arg` is damaged; nullopt if the argument is not
/// a tensor or is None in all samples.
std::optional<Status> status_of_damage(PteOp op, size_t arg, const Damage& damage, Random& random) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    Invocation call = sample(op, random);
    if (call.value_of[arg] < 0) return std::nullopt;
    if (call.value(arg).null) continue;
    damage.change(call.value(arg));
    return call.check();
  }
  return std::nullopt;
}

std::vector<Damage> damages_of(PteOp op, size_t arg, Random& random) {
  const char letter = abi::info(op).arguments[arg];
  std::vector<Damage> all = {kShort};
  if (letter != 't') all.push_back(kNull);
  const auto is_blob = [&] {
    Invocation call = sample(op, random);
    return call.value_of[arg] >= 0 && call.value(arg).dtype == DType::kU8;
  };
  if (is_blob()) return all;
  all.insert(all.end(), {kLong, kType, kRank});
  if (letter == 'o') all.push_back(kLarger);
  return all;
}

TEST(Kernels, RefuseBrokenOperands) {
  Random random(2);
  int refused = 0;
  for (const PteOp op : kOps) {
    const size_t count = std::strlen(abi::info(op).arguments);
    for (size_t arg = 0; arg < count; ++arg) {
      int accepted = 0, tried = 0;
      for (const Damage& damage : damages_of(op, arg, random)) {
        const std::optional<Status> status = status_of_damage(op, arg, damage, random);
        if (!status) continue;
        ++tried;
        accepted += *status == Status::kOk ? 1 : 0;
        refused += *status == Status::kOk ? 0 : 1;
        if (is_unchecked_argument(op, arg)) continue;
        EXPECT_NE(*status, Status::kOk)
            << abi::info(op).name << " argument " << arg << ": " << damage.name;
      }
      if (is_unchecked_argument(op, arg) && tried > 0) {
        EXPECT_GT(accepted, 0) << abi::info(op).name << " checks argument " << arg
                               << ": remove it from is_unchecked_argument()";
      }
    }
  }
  EXPECT_GE(refused, 3200);
}

TEST(Kernels, RefuseIntegersBeyond32Bits) {
  Random random(3);
  for (const PteOp op : kOps) {
    const std::string letters = abi::info(op).arguments;
    for (size_t arg = 0; arg < letters.size(); ++arg) {
      if (letters[arg] != 'i' && letters[arg] != 'b') continue;
      // A slice step beyond the end is valid: it selects one element.
      if (op == PteOp::aten_slice_copy && arg == 4) continue;
      // A file reader gives bools as 0 or 1.
      if (letters[arg] == 'b' && !std::string_view(abi::info(op).name).starts_with("cortex_m::")) {
        continue;
      }
      Invocation call = sample(op, random);
      call.args[arg].integer += int64_t{1} << 32;
      EXPECT_NE(call.check(), Status::kOk) << abi::info(op).name << " argument " << arg;
    }
  }
}

TEST(Kernels, RefuseMisalignedData) {
  Random random(4);
  const PteOp ops[] = {PteOp::thimble_conv2d, PteOp::thimble_log_softmax, PteOp::thimble_mean};
  for (const PteOp op : ops) {
    Invocation call = sample(op, random);
    Value& params = call.value(1);
    std::vector<uint8_t> bytes(params.data.get(), params.data.get() + params.bytes);
    bytes.insert(bytes.begin(), 1, 0);
    params = constant_bytes(bytes);
    call.check();
    Arg args[3] = {call.args[0], call.args[1], call.args[2]};
    args[1].tensor.data = static_cast<uint8_t*>(args[1].tensor.data) + 1;
    args[1].tensor.bytes -= 1;
    Call raw;
    raw.args = args;
    EXPECT_EQ(call.kernel->check(raw), Status::kMisaligned);
  }
}

/// A tensor too large to allocate; check() reads none of its data.
Value unallocated_tensor(Sizes sizes, Order order) {
  Value value;
  value.bytes = 1;
  for (const int32_t size : sizes) value.bytes *= static_cast<uint32_t>(size);
  value.sizes = std::move(sizes);
  value.order = std::move(order);
  return value;
}

Status huge_pool(Sizes x, Sizes y, int32_t stride, int32_t dilation) {
  Invocation call(PteOp::cortex_m_quantized_max_pool2d);
  call.add(unallocated_tensor(std::move(x), kNhwc)).add({1, 1}).add({stride, 1}).add({0, 0});
  call.add({dilation, 1}).add(int64_t{0}).add(int64_t{0}).add(int64_t{0});
  call.add(int64_t{-128}).add(int64_t{127}).add(unallocated_tensor(std::move(y), kNhwc));
  return call.check_unplaced();
}

TEST(Kernels, BoundSizesSoThatPositionsFit32Bits) {
  constexpr int32_t kBig = 1 << 28;
  EXPECT_EQ(huge_pool({1, 1, 8, kBig / 8}, {1, 1, 1, kBig / 8}, 8, 1), Status::kOk);
  EXPECT_EQ(huge_pool({1, 1, 8, kBig / 4}, {1, 1, 1, kBig / 4}, 8, 1), Status::kOk);
  EXPECT_EQ(huge_pool({1, 1, 8, kBig / 2}, {1, 1, 1, kBig / 2}, 8, 1), Status::kBadShape);
  // An axis so long that positions could overflow.
  EXPECT_EQ(huge_pool({1, 1, kBig + 1, 1}, {1, 1, kBig / 32767 + 1, 1}, 32767, 1),
            Status::kBadShape);
  // The distance between two rows of a dilated window.
  EXPECT_EQ(huge_pool({1, kBig / 512, 1, 512}, {1, kBig / 512, 1, 512}, 1, 7), Status::kOk);
  EXPECT_EQ(huge_pool({1, kBig / 512, 1, 512}, {1, kBig / 512, 1, 512}, 1, 8), Status::kBadShape);
  EXPECT_EQ(huge_pool({1, 1, 1, 1}, {1, 1, 1, 1}, 1, 32767), Status::kOk);

  for (const int32_t count : {8421504, 8421505}) {
    const std::vector<int32_t> params = {1, 128, 0, 1 << 30, -22, -128, 127};
    Invocation mean(PteOp::thimble_mean);
    mean.add(unallocated_tensor({count}, {0}))
        .add(constant_words(params))
        .add(unallocated_tensor({1}, {0}));
    EXPECT_EQ(mean.check_unplaced(), count == 8421504 ? Status::kOk : Status::kBadShape);
  }
}

TEST(Kernels, PoolsRefuseListsOfThreeNumbers) {
  const std::pair<PteOp, size_t> pools[] = {
      {PteOp::aten_avg_pool2d, 3}, {PteOp::aten_max_pool2d, 4}, {PteOp::thimble_max_pool2d_f32, 4}};
  Random random(5);
  for (const auto& [op, lists] : pools) {
    for (size_t list = 1; list <= lists; ++list) {
      Invocation call = sample(op, random);
      ASSERT_EQ(call.check(), Status::kOk);
      call.args[list].ints.count = 3;
      call.args[list].ints.items[2] = 1;
      EXPECT_EQ(call.check(), Status::kBadParameter) << abi::info(op).name << ' ' << list;
    }
  }
}

// Fuzz: valid calls with a few broken values. Most are refused; the others must run cleanly.

int32_t odd_integer(Random& random) {
  static const int32_t kOdd[] = {
      0,       1,       -1, 2,  3,       127,       128,       -128,          -129,        255,
      256,     30,      31, 32, -31,     -32,       65793,     65794,         32767,       32768,
      1 << 20, 1 << 28, 5,  7,  1 << 30, INT32_MAX, INT32_MIN, INT32_MIN + 1, -2147483646, 4,
      6,       9};
  return kOdd[random() % std::size(kOdd)];
}

constexpr uint64_t kMaxRunBytes = 1 << 18;

/// Sets `bytes` to the size of the value's shape. Returns false if that is too large to run.
bool count_bytes(Value& v) {
  uint64_t bytes = bytes_of(v.dtype);
  for (const int32_t size : v.sizes) {
    bytes *= static_cast<uint64_t>(size < 0 ? 0 : size);
    if (bytes > kMaxRunBytes) return false;
  }
  v.bytes = static_cast<uint32_t>(bytes);
  return true;
}

/// Replaces the buffer with one of `bytes` bytes and keeps the old content that fits.
void resize(Value& v, uint32_t old_bytes, Random& random) {
  Buffer fresh = allocate(v.bytes);
  for (uint32_t i = 0; i < v.bytes; ++i) fresh.get()[i] = static_cast<uint8_t>(random());
  if (v.data) std::memcpy(fresh.get(), v.data.get(), std::min(old_bytes, v.bytes));
  v.data = std::move(fresh);
}

bool mutate_value(Value& v, Random& random) {
  const uint32_t old_bytes = v.bytes;
  bool update_size = true;
  const size_t rank = v.sizes.size();
  switch (random() % 9) {
    case 0:
      if (rank > 0) v.sizes[random() % rank] ^= 1;
      break;
    case 1:
      if (rank > 0) v.sizes[random() % rank] = odd_integer(random);
      break;
    case 2:
      std::shuffle(v.order.begin(), v.order.end(), random);
      break;
    case 3:
      if (rank > 0)
        v.order[random() % rank] = static_cast<uint8_t>(random() % (random() % 2 == 0 ? 8 : 256));
      break;
    case 4:
      v.sizes.insert(v.sizes.begin() + static_cast<int>(random() % (rank + 1)), 1);
      v.order = random_order(random, rank + 1);
      break;
    case 5:
      v.dtype = static_cast<DType>(random() % 13);
      break;
    case 6:
      (random() % 2 == 0 ? v.null : v.constant) ^= true;
      break;
    case 7:
      v.bytes = static_cast<uint32_t>(static_cast<int>(v.bytes) + uniform(random, -4, 20));
      if (v.bytes > kMaxRunBytes) v.bytes = 0;
      update_size = false;
      break;
    default:
      break;
  }
  if (update_size && !count_bytes(v)) return false;
  resize(v, old_bytes, random);
  const bool change_word = v.bytes >= 4 && random() % 2 == 0;
  if (change_word) {
    // Constants begin with a header of words: changes are concentrated on the first ones.
    const uint32_t words = v.bytes / 4;
    const uint32_t word =
        static_cast<uint32_t>(random()) % (random() % 4 == 0 ? words : std::min(words, 14U));
    const int32_t value = odd_integer(random);
    std::memcpy(v.data.get() + word * 4, &value, sizeof value);
  }
  return true;
}

bool mutate(Invocation& call, Random& random) {
  const size_t arg = random() % call.args.size();
  switch (call.kernel->arguments[arg]) {
    case 'i':
    case 'j':
    case 'b': {
      int64_t& integer = call.args[arg].integer;
      const int64_t wide = static_cast<int64_t>(random()) << (random() % 33);
      integer = random() % 4 == 0 ? integer ^ 1 : random() % 8 == 0 ? wide : odd_integer(random);
      return true;
    }
    case 'd':
    case 'y':
    case 'z':
      call.args[arg].number =
          random() % 16 == 0 ? std::nan("")
                             : static_cast<double>(odd_integer(random)) / uniform(random, 1, 5);
      return true;
    case 'c':
      call.args[arg].text.bytes = static_cast<uint32_t>(random() % 5);
      return true;
    case 'q': {
      DoubleList& list = call.args[arg].doubles;
      list.count = static_cast<uint32_t>(random() % 3);
      list.items[random() % 2] = static_cast<double>(odd_integer(random)) / uniform(random, 1, 5);
      return true;
    }
    case 'l':
    case 'k': {
      IntList& list = call.args[arg].ints;
      if (random() % 4 == 0) {
        list.count = static_cast<uint32_t>(random() % (abi::kMaxIntList + 1));
      } else {
        list.items[random() % abi::kMaxIntList] = odd_integer(random);
      }
      return true;
    }
    default:
      return mutate_value(call.values[random() % call.values.size()], random);
  }
}

TEST(Kernels, AcceptedCallsRunWithoutInvalidAccess) {
  for (const PteOp op : kOps) {
    int passed = 0;
    for (uint32_t seed = 0; seed < 6000; ++seed) {
      Random random(seed * 64 + static_cast<uint32_t>(op));
      Invocation call = sample(op, random);
      bool small = true;
      for (uint32_t k = 0; small && k <= random() % 3; ++k) small = mutate(call, random);
      if (!small || call.check() != Status::kOk) continue;
      SCOPED_TRACE(seed);
      ASSERT_NO_FATAL_FAILURE(call.run());
      ++passed;
    }
    EXPECT_GT(passed, 300) << abi::info(op).name;
    RecordProperty(abi::info(op).id, passed);
  }
}

}  // namespace
}  // namespace thimble::kernels::test
