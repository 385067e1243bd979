// SPDX-License-Identifier: Apache-2.0
// Bundled programs, data files, methods and debug handles: what is written is read again, and
// damaged bytes give an error or a valid result, never a crash.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "emit/debug_handles.h"
#include "formats/bundle/bundle.h"
#include "formats/ptd/ptd.h"
#include "formats/pte/io_names.h"
#include "formats/pte/select_method.h"
#include "formats/pte/write.h"
#include "tests/unit/formats_pte_sample.h"

namespace thimble::formats {
namespace {

Bytes file_of(const std::string& name) {
  std::ifstream stream(std::string(THIMBLE_DEVTOOLS_FILES) + "/" + name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  const ByteView bytes = as_byte_view(text);
  return {bytes.begin(), bytes.end()};
}

bundle::BundledProgram bundled_sample() {
  const bundle::Tensor floats{pte::ScalarType::kFloat, {1, 4}, {0, 1}, pte::bytes_of(16, 1)};
  const bundle::Tensor chars{pte::ScalarType::kChar, {2, 3, 1}, {0, 2, 1}, pte::bytes_of(6, 9)};
  const bundle::Tensor empty{pte::ScalarType::kInt, {0}, {0}, {}};
  return {{{"encode", {}}, {"forward", {{{floats, chars}, {chars}}, {{empty}, {}}}}},
          *pte::write(pte::add_program())};
}

/// Calls `read` with 2,000 mutations of the file, and with each of its truncations.
template <typename Read>
void expect_no_crash(const Bytes& file, Read read) {
  for (size_t size = 0; size < file.size(); ++size) {
    read(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Bytes changed = file;
    for (unsigned k = 0; k < 1 + random() % 3; ++k) {
      changed[random() % changed.size()] = static_cast<std::byte>(random() & 0xFF);
    }
    read(changed);
  }
}

TEST(Bundle, ReadsWhatItWrites) {
  const bundle::BundledProgram sample = bundled_sample();
  const Bytes file = bundle::write(sample);
  const auto read = bundle::read(file, "b");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, sample);
}

TEST(Bundle, AlignsItsBytes) {
  const bundle::BundledProgram sample = bundled_sample();
  const Bytes file = bundle::write(sample);
  const auto at = [&](ByteView bytes) { return as_text(file).find(as_text(bytes)); };
  EXPECT_EQ(at(sample.program) % 32, 0U);
  EXPECT_EQ(at(sample.suites[1].cases[0].inputs[0].data) % 16, 0U);
}

TEST(Bundle, DamagedBytes) {
  size_t errors = 0;
  expect_no_crash(bundle::write(bundled_sample()),
                  [&](const Bytes& bytes) { errors += bundle::read(bytes, "b").ok() ? 0 : 1; });
  EXPECT_GT(errors, 500U);
}

TEST(Bundle, OfExecutorch) {
  const auto read = bundle::read(file_of("bundled.bpte"), "b");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->suites.size(), 2U);
  EXPECT_EQ(read->suites[0].method, "double");
  EXPECT_EQ(read->suites[1].cases.size(), 3U);
}

TEST(DataFile, OfExecutorch) {
  const Bytes file = file_of("external.ptd");
  const auto data = ptd::read(file, "d");
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_EQ(data->size(), 2U);
  EXPECT_EQ(data->at("a").layout->sizes, (std::vector<int32_t>{6, 4}));
  EXPECT_EQ(data->at("b").bytes.size(), 24U);
}

TEST(DataFile, DamagedBytes) {
  size_t errors = 0;
  expect_no_crash(file_of("external.ptd"),
                  [&](const Bytes& bytes) { errors += ptd::read(bytes, "d").ok() ? 0 : 1; });
  EXPECT_GT(errors, 500U);
}

pte::Program external_program() {
  pte::Program program = pte::add_program();
  auto& tensor = std::get<pte::Tensor>(program.plans[0].values[1]);
  tensor.data_buffer_idx = 0;
  tensor.extra = pte::ExtraTensorInfo{0, "w", pte::TensorLocation::kExternal, {}};
  program.constants.resize(1);
  return program;
}

TEST(DataFile, Merges) {
  pte::Program program = external_program();
  ASSERT_TRUE(ptd::has_external(program));
  const ptd::TensorLayout layout{pte::ScalarType::kFloat, {1, 4}, {0, 1}};
  const Bytes weights = pte::bytes_of(16, 1), blob = pte::bytes_of(3, 1);
  const ptd::DataFile data = {{"w", {weights, layout}}, {"blob", {blob, {}}}};
  ASSERT_TRUE(ptd::merge(data, "d", &program).ok());
  EXPECT_FALSE(ptd::has_external(program));
  const auto& tensor = std::get<pte::Tensor>(program.plans[0].values[1]);
  EXPECT_EQ(program.constants[tensor.data_buffer_idx], weights);
  EXPECT_NE(pte::find_named_data(program, "blob"), nullptr);
  EXPECT_EQ(pte::find_named_data(program, "w"), nullptr);
  EXPECT_TRUE(pte::write(program).ok());
}

TEST(DataFile, RefusesOtherTensors) {
  const ptd::TensorLayout good{pte::ScalarType::kFloat, {1, 4}, {0, 1}};
  ptd::TensorLayout other_type = good, other_sizes = good, other_order = good;
  other_type.scalar_type = pte::ScalarType::kInt;
  other_sizes.sizes = {4, 1};
  other_order.dim_order = {1, 0};
  for (const ptd::TensorLayout& layout : {other_type, other_sizes, other_order}) {
    pte::Program program = external_program();
    EXPECT_FALSE(ptd::merge({{"w", {pte::bytes_of(16, 1), layout}}}, "d", &program).ok());
  }
  pte::Program program = external_program();
  EXPECT_FALSE(ptd::merge({{"w", {pte::bytes_of(15, 1), good}}}, "d", &program).ok());
  EXPECT_FALSE(ptd::merge({{"v", {pte::bytes_of(16, 1), good}}}, "d", &program).ok());
}

TEST(Methods, Select) {
  pte::Program program = pte::full_program();
  ASSERT_EQ(program.plans.size(), 2U);
  const pte::ExecutionPlan second = program.plans[1];
  ASSERT_TRUE(pte::select_method(second.name, "p", &program).ok());
  EXPECT_EQ(program.plans, std::vector{second});
  const Status missing = pte::select_method("forward", "p", &program);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find(second.name), std::string::npos);
}

TEST(DebugHandles, ReadsWhatItWrites) {
  pte::Program program = pte::add_program();
  const std::vector<emit::DebugCall> calls = {{{"conv2d", "relu"},
                                               {{"relu", 0.015625, -4}, {"second", 0, 0}},
                                               {{120, {"conv2d"}}, {1234567, {}}}}};
  program.named_data.push_back(emit::debug_entry(calls));
  const auto read = emit::read_debug(program);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, calls);
}

TEST(DebugHandles, RefusesOtherText) {
  for (const std::string text : {"node\tx\n", "call\nresult\tx\t1\n", "call\noperation\tx\n",
                                 "call\ncall\n", "call\nother\n", "call\nnode\t\x1B[2J\n"}) {
    pte::Program program = pte::add_program();
    const ByteView bytes = as_byte_view(text);
    program.named_data.push_back({emit::kDebugKey, 16, {bytes.begin(), bytes.end()}});
    EXPECT_FALSE(emit::read_debug(program).ok()) << text;
  }
}

TEST(IoNames, RefusesControlCharacters) {
  pte::Program program = pte::add_program();
  const std::string_view text = "x\x1B[2J\ny\n\nsum\n";
  const ByteView bytes = as_byte_view(text);
  program.named_data.push_back({pte::kNamesKey, 16, {bytes.begin(), bytes.end()}});
  const auto names = pte::read_names(program, program.plans[0]);
  ASSERT_FALSE(names.ok());
  EXPECT_NE(names.error().message.find("a control character in a name"), std::string::npos)
      << names.error().message;
}

}  // namespace
}  // namespace thimble::formats
