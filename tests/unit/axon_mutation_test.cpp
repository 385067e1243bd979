// SPDX-License-Identifier: Apache-2.0
// Lists with changed bytes: ten thousand random changes and truncations. Each gives a status, or a
// run that writes nothing outside its memories; the address sanitizer also detects reads outside
// them. And lists whose layers work in place.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "axon_reference.h"
#include "axon_sample.h"
#include "engines/axon/model/model.h"

namespace thimble::axon_test {
namespace {

using runtime_test::GuardedMemory;

constexpr size_t kMemoryMost = size_t{1} << 20;  // larger memories only make the test slower

uint32_t dense_bytes(const axon::IoRecord& io) {
  return uint32_t{io.n} * io.c * io.h * io.w * io.element_bytes;
}

/// Returns the bytes of all outputs in sequence; empty if check() refuses the list.
std::vector<uint8_t> run_bytes(const std::vector<uint8_t>& bytes, uint8_t fill_byte,
                               axon::Status& status) {
  const AlignedBytes data{ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  status = axon::check(data.data(), static_cast<uint32_t>(data.size()));
  if (status != axon::Status::kOk) return {};
  const axon::Container container(data.data());
  const axon::Header header = container.header();
  if (header.interlayer_bytes + header.persistent_bytes > kMemoryMost) return {};
  std::vector<GuardedMemory> inputs, outputs;
  std::vector<const uint8_t*> in;
  std::vector<uint8_t*> out;
  for (uint32_t i = 0; i < header.input_count; ++i) {
    const uint32_t size = dense_bytes(container.input(i));
    if (size > kMemoryMost) return {};
    inputs.emplace_back(size, 0x31);
    in.push_back(inputs.back().data());
  }
  for (uint32_t i = 0; i < header.output_count; ++i) {
    outputs.emplace_back(dense_bytes(container.output(i)), fill_byte);
    out.push_back(outputs.back().data());
  }
  const GuardedMemory interlayer(header.interlayer_bytes, fill_byte);
  const GuardedMemory persistent(header.persistent_bytes, fill_byte);
  axon::run({container, in.data(), out.data(), interlayer.data(), persistent.data()});
  EXPECT_TRUE(interlayer.intact() && persistent.intact());
  EXPECT_TRUE(std::all_of(inputs.begin(), inputs.end(), [](const auto& m) { return m.intact(); }));
  EXPECT_EQ(std::memcmp(bytes.data(), data.data(), bytes.size()), 0) << "the list was written to";
  std::vector<uint8_t> all;
  for (uint32_t i = 0; i < header.output_count; ++i) {
    EXPECT_TRUE(outputs[i].intact());
    all.insert(all.end(), out[i], out[i] + dense_bytes(container.output(i)));
  }
  return all;
}

/// Results do not depend on the initial content of the memories.
TEST(AxonMutation, ResultsDoNotDependOnInitialMemory) {
  const std::vector<uint8_t> bytes = sample_list().build();
  axon::Status status;
  const std::vector<uint8_t> first = run_bytes(bytes, 0x00, status);
  EXPECT_EQ(status, axon::Status::kOk);
  EXPECT_EQ(first.size(), 5U + 4U + 24U);
  EXPECT_EQ(run_bytes(bytes, 0xA7, status), first);
}

TEST(AxonMutation, RandomlyChangedListsAreSafe) {
  constexpr int kChanges = 10000;
  const std::vector<uint8_t> good = sample_list().build();
  axon::Header header;
  std::memcpy(&header, good.data(), sizeof header);
  std::mt19937 random(20261122);
  std::map<axon::Status, int> seen;
  for (int i = 0; i < kChanges; ++i) {
    std::vector<uint8_t> bytes = good;
    if (random() % 20 == 0) bytes.resize(random() % bytes.size());
    // Most changes are before the constants; weights may have any value.
    const size_t end =
        std::min<size_t>(bytes.size(), random() % 10 == 0 ? bytes.size() : header.constants_offset);
    const auto changes = 1 + random() % 3;
    for (unsigned change = 0; change < changes && end != 0; ++change) {
      uint8_t& byte = bytes[random() % end];
      byte = random() % 2 == 0 ? static_cast<uint8_t>(byte ^ (1U << random() % 8))
                               : static_cast<uint8_t>(random());
    }
    axon::Status status;
    run_bytes(bytes, 0x77, status);
    ++seen[status];
    ASSERT_FALSE(testing::Test::HasFailure()) << "change " << i;
  }
  for (const auto& [status, count] : seen) {
    std::printf("%5d %s\n", count, axon::status_text(status));
  }
  EXPECT_GT(seen[axon::Status::kOk], kChanges / 50);
  EXPECT_LT(seen[axon::Status::kOk], kChanges * 9 / 10);
  // Every status of check() except the one for a misaligned start.
  EXPECT_GE(seen.size(), 11U);
}

Tensor counted(const Shape& shape, int32_t from) {
  Tensor tensor = {shape, 1, 0, {}};
  for (uint32_t i = 0; i < shape.elements(); ++i) {
    tensor.values.push_back((from + static_cast<int32_t>(i) * 7) % 120);
  }
  return tensor;
}

/// Two layers write the halves of one buffer, and a concat copies nothing. A split is two views.
TEST(AxonInPlace, ConcatAndSplitWithoutCopies) {
  const Tensor a = counted({1, 2, 3, 5}, 1), b = counted({1, 1, 3, 5}, 60);
  List list;
  const Operand whole = list.interlayer({1, 3, 3, 5}, 1, 0);
  Operand first = whole, second = whole;
  first.c = 2;
  second.c = 1;
  second.offset += 6 * whole.row_stride;
  list.layer(Operation::kReshape, {list.external(a.shape, 1, 0)}, first);
  list.layer(Operation::kReshape, {list.external(b.shape, 1, 0)}, second);
  list.layer(Operation::kConcat, {first, second}, whole);
  list.output(whole);
  Operand middle = whole;
  middle.c = 2;
  middle.offset += 3 * whole.row_stride;
  LayerRecord& split = list.layer(Operation::kStridedSlice, {whole}, middle);
  split.attributes = list.ints({1, 0, 0, 3, 3, 5, 1, 1, 1});
  split.attribute_count = 9;
  list.output(middle);
  const std::vector<uint8_t> bytes = list.build();
  ASSERT_EQ(check_bytes(bytes), axon::Status::kOk);
  const auto results = execute(bytes, {a, b});
  Tensor expected = {{1, 3, 3, 5}, 1, 0, {}};
  reference_concat({a, b}, axon::Axis::kChannel, expected);
  EXPECT_EQ(results[0].values, expected.values);
  Tensor piece = {{1, 2, 3, 5}, 1, 0, {}};
  reference_slice(expected, {1, 0, 0}, {1, 1, 1}, piece);
  EXPECT_EQ(results[1].values, piece.values);
}

TEST(AxonInPlace, AddOfOneBufferInPlace) {
  const Tensor a = counted({1, 2, 3, 5}, 1);
  List list;
  const Operand place = list.interlayer(a.shape, 1, 0);
  list.layer(Operation::kReshape, {list.external(a.shape, 1, 0)}, place);
  // Both operands and the result are the same buffer.
  LayerRecord& add = list.layer(Operation::kAdd, {place, place}, place);
  scale(list, add, {3, 2}, {3});
  list.output(place);
  const std::vector<uint8_t> bytes = list.build();
  ASSERT_EQ(check_bytes(bytes), axon::Status::kOk);
  Tensor expected = {a.shape, 1, 0, {}};
  reference_add(a, a, 0, {{3, 2}, {3}}, expected);
  EXPECT_EQ(execute(bytes, {a})[0].values, expected.values);
}

/// A layer adds to a state in a hundred runs; each run's output state is the next run's input.
TEST(AxonState, StateAccumulatesOverHundredRuns) {
  List list;
  const Operand state = list.variable({1, 1, 1, 6}, 2, 0);
  const Operand sum = list.interlayer({1, 1, 1, 6}, 2, 0);
  LayerRecord& add = list.layer(Operation::kAdd, {list.external({1, 1, 1, 6}, 1, -2), state}, sum);
  scale(list, add, {64, 31}, {5});
  list.layer(Operation::kVariableAssign, {sum}, state);
  const std::vector<uint8_t> bytes = list.build();
  ASSERT_EQ(check_bytes(bytes), axon::Status::kOk);
  Tensor kept = {{1, 1, 1, 6}, 2, 0, std::vector<int32_t>(6)};
  Tensor expected = kept;
  for (int32_t step = 0; step < 100; ++step) {
    Tensor in = counted({1, 1, 1, 6}, 5 * step);
    Tensor next = {kept.shape, 2, 0, {}};
    reference_add(in, expected, 0, {{64, 31}, {5}}, next);
    expected = next;
    // The inputs have the order of the list, in which the variable is first.
    kept = execute(bytes, {kept, in})[0];
    ASSERT_EQ(kept.values, expected.values) << step;
  }
  EXPECT_NE(kept.values, std::vector<int32_t>(6));
}

}  // namespace
}  // namespace thimble::axon_test
