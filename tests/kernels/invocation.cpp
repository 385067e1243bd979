// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/invocation.h"

#include <gtest/gtest.h>
#include <new>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "tests/matrix/ledger.h"

namespace thimble::kernels::test {

Order contiguous(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

int32_t uniform(Random& random, int32_t low, int32_t high) {
  return std::uniform_int_distribution<int32_t>(low, high)(random);
}

Order random_order(Random& random, size_t rank) {
  Order order = contiguous(rank);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return "u8";
    case DType::kI8:
      return "i8";
    case DType::kI16:
      return "i16";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kF32:
      return "f32";
    case DType::kBool:
      return "bool";
  }
  return "?";
}

uint32_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::kI16:
      return 2;
    case DType::kI32:
    case DType::kF32:
      return 4;
    case DType::kI64:
      return 8;
    default:
      return 1;
  }
}

Buffer allocate(uint32_t bytes) {
  return Buffer(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{16})));
}

size_t Value::at(const Sizes& index) const {
  size_t position = 0;
  for (const uint8_t d : order) {
    position = position * static_cast<size_t>(sizes[d]) + static_cast<size_t>(index[d]);
  }
  return position;
}

Tensor Value::tensor() const {
  Tensor t;
  t.data = data.get();
  t.sizes = sizes.data();
  t.dim_order = order.data();
  t.bytes = bytes;
  t.rank = static_cast<uint8_t>(sizes.size());
  t.dtype = dtype;
  t.is_constant = constant;
  t.is_null = null;
  return t;
}

void Value::fill(Random& random) {
  for (uint32_t i = 0; i < bytes; ++i) data.get()[i] = static_cast<uint8_t>(random());
}

Value make(DType dtype, Sizes sizes, Order order) {
  Value value;
  value.dtype = dtype;
  value.order = order.empty() ? contiguous(sizes.size()) : std::move(order);
  value.bytes = bytes_of(dtype);
  for (const int32_t size : sizes) value.bytes *= static_cast<uint32_t>(size);
  value.sizes = std::move(sizes);
  value.data = allocate(value.bytes);
  std::memset(value.data.get(), 0x55, value.bytes);
  return value;
}

Value random_codes(Random& random, Sizes sizes, Order order) {
  Value value = make(DType::kI8, std::move(sizes), std::move(order));
  value.fill(random);
  return value;
}

Value constant_words(const std::vector<int32_t>& words) {
  Value value = make(DType::kI32, {static_cast<int32_t>(words.size())});
  std::memcpy(value.data.get(), words.data(), value.bytes);
  value.constant = true;
  return value;
}

Value constant_bytes(const std::vector<uint8_t>& bytes) {
  Value value = make(DType::kU8, {static_cast<int32_t>(bytes.size())});
  std::memcpy(value.data.get(), bytes.data(), value.bytes);
  value.constant = true;
  return value;
}

Value attributes(const std::vector<int32_t>& words) {
  std::vector<uint8_t> bytes(words.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return constant_bytes(bytes);
}

Value absent() {
  Value value;
  value.null = true;
  return value;
}

bool next(const Sizes& shape, Sizes& index) {
  if (index.size() != shape.size() || shape.empty()) {
    const bool first = index.empty();
    index.assign(shape.size(), 0);
    if (shape.empty()) index.assign(1, 0);
    return first;
  }
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

const Kernel& kernel_of(abi::PteOp op) {
  const KernelTable table = all_kernels();
  for (uint32_t i = 0; i < table.count; ++i) {
    const Kernel& kernel = *table.kernels[i];
    const bool same = std::strcmp(kernel.name, abi::info(op).name) == 0 &&
                      std::strcmp(kernel.arguments, abi::info(op).arguments) == 0;
    if (same) return kernel;
  }
  ADD_FAILURE() << "no kernel for " << abi::info(op).name;
  std::abort();
}

Invocation::Invocation(abi::PteOp op) : kernel(&kernel_of(op)) {}

Arg& Invocation::slot(const char* letters) {
  const char letter = kernel->arguments[args.size()];
  EXPECT_NE(std::strchr(letters, letter), nullptr)
      << kernel->name << " argument " << args.size() << " is " << letter;
  value_of.push_back(-1);
  list_of.emplace_back();
  return args.emplace_back();
}

Invocation& Invocation::add(Value value) {
  slot("Ttso");
  value_of.back() = static_cast<int>(values.size());
  values.push_back(std::move(value));
  return *this;
}

Invocation& Invocation::add(int64_t integer) {
  slot("ibj").integer = integer;
  return *this;
}

Invocation& Invocation::add(double number) {
  slot("dyz").number = number;
  return *this;
}

Invocation& Invocation::add(const std::vector<int32_t>& ints) {
  Arg& arg = slot("lk");
  arg.ints = IntList{};
  arg.ints.count = static_cast<uint32_t>(ints.size());
  std::copy(ints.begin(), ints.end(), arg.ints.items);
  return *this;
}

Invocation& Invocation::add_list(std::vector<Value> list) {
  slot("Rw").list = static_cast<uint32_t>(list.size());
  for (Value& value : list) {
    list_of.back().push_back(static_cast<int>(values.size()));
    values.push_back(std::move(value));
  }
  return *this;
}

Invocation& Invocation::add_text(const char* text) {
  slot("c").text = {text, static_cast<uint32_t>(std::strlen(text))};
  return *this;
}

Invocation& Invocation::add_doubles(const std::vector<double>& doubles) {
  Arg& arg = slot("q");
  arg.doubles = DoubleList{};
  arg.doubles.count = static_cast<uint32_t>(doubles.size());
  std::copy(doubles.begin(), doubles.end(), arg.doubles.items);
  return *this;
}

Call Invocation::refresh(bool placed) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (value_of[i] < 0) continue;
    args[i].tensor = value(i).tensor();
    if (!placed && !args[i].tensor.is_constant) args[i].tensor.data = nullptr;
  }
  Call call;
  call.args = args.data();
  call.context = this;
  call.list_item = [](const Call& c, uint32_t arg, uint32_t index) {
    const auto* self = static_cast<const Invocation*>(c.context);
    return self->values[static_cast<size_t>(self->list_of[arg][index])].tensor();
  };
  return call;
}

Status Invocation::check() {
  EXPECT_EQ(std::strlen(kernel->arguments), args.size()) << kernel->name;
  return kernel->check(refresh(true));
}

Status Invocation::check_unplaced() {
  return kernel->check(refresh(false));
}

void Invocation::run() {
  ASSERT_EQ(check_unplaced(), Status::kOk) << kernel->name;
  ASSERT_EQ(check(), Status::kOk) << kernel->name;
  kernel->run(refresh(true));
}

void Invocation::record_equal() {
  std::vector<DType> operands;
  for (size_t i = 0; i + 1 < args.size(); ++i) {
    const int index = value_of[i] >= 0 ? value_of[i] : list_of[i].empty() ? -1 : list_of[i][0];
    if (index < 0) continue;
    const Value& operand = values[static_cast<size_t>(index)];
    const bool packed = operand.constant && operand.dtype == DType::kU8;  // packed parameters
    if (!operand.null && !packed) operands.push_back(operand.dtype);
  }
  // The format of engine::call_types().
  std::string types = type_name(out().dtype);
  const bool keeps = operands.empty() ||
                     std::find(operands.begin(), operands.end(), out().dtype) != operands.end();
  if (!keeps) types = type_name(operands[0]) + ("->" + types);
  if (testing::Test::HasFailure()) return;
  thimble::test::record_comparison(kernel->name, types, thimble::test::kHost,
                                   thimble::test::Scope::kAlone, true);
}

}  // namespace thimble::kernels::test
