// SPDX-License-Identifier: Apache-2.0
#include <flatbuffers/flatbuffers.h>

#include "bundle_generated.h"
#include "formats/bundle/bundle.h"

namespace thimble::formats::bundle {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr size_t kTensorAlignment = 16, kProgramAlignment = 32;

Offset<flatbuffers::Vector<uint8_t>> aligned_bytes(FlatBufferBuilder& builder, ByteView bytes,
                                                   size_t alignment) {
  builder.ForceVectorAlignment(bytes.size(), sizeof(uint8_t), alignment);
  return builder.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

Offset<flatbuffers::Vector<Offset<fb::Value>>> write_tensors(FlatBufferBuilder& builder,
                                                             const std::vector<Tensor>& tensors) {
  std::vector<Offset<fb::Value>> values;
  for (const Tensor& tensor : tensors) {
    const auto sizes = builder.CreateVector(tensor.sizes);
    const auto data = aligned_bytes(builder, tensor.data, kTensorAlignment);
    const auto order = builder.CreateVector(tensor.dim_order);
    const auto table =
        fb::CreateTensor(builder, static_cast<int8_t>(tensor.scalar_type), sizes, data, order);
    values.push_back(fb::CreateValue(builder, fb::ValueUnion::Tensor, table.Union()));
  }
  return builder.CreateVector(values);
}

}  // namespace

Bytes write(const BundledProgram& bundled) {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::MethodTestSuite>> suites;
  for (const TestSuite& suite : bundled.suites) {
    std::vector<Offset<fb::TestCase>> cases;
    for (const TestCase& test_case : suite.cases) {
      const auto inputs = write_tensors(builder, test_case.inputs);
      const auto outputs = write_tensors(builder, test_case.expected_outputs);
      cases.push_back(fb::CreateTestCase(builder, inputs, outputs));
    }
    const auto list = builder.CreateVector(cases);
    const auto method = builder.CreateString(suite.method);
    suites.push_back(fb::CreateMethodTestSuite(builder, method, list));
  }
  const auto list = builder.CreateVector(suites);
  const auto program = aligned_bytes(builder, bundled.program, kProgramAlignment);
  builder.Finish(fb::CreateBundledProgram(builder, 0, list, program),
                 fb::BundledProgramIdentifier());
  const auto* bytes = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {bytes, bytes + builder.GetSize()};
}

}  // namespace thimble::formats::bundle
