// SPDX-License-Identifier: Apache-2.0
#include <flatbuffers/flatbuffers.h>

#include "base/aligned_bytes.h"
#include "bundle_generated.h"
#include "formats/bundle/bundle.h"

namespace thimble::formats::bundle {
namespace {

/// Far above any file that a tool writes.
constexpr flatbuffers::uoffset_t kDepthMax = 16, kTablesMax = 10'000'000;

Bytes bytes_of(const flatbuffers::Vector<uint8_t>* vector) {
  if (vector == nullptr) return {};
  const auto* first = reinterpret_cast<const std::byte*>(vector->data());
  return {first, first + vector->size()};
}

Result<std::vector<Tensor>> read_tensors(
    const flatbuffers::Vector<flatbuffers::Offset<fb::Value>>* values, const std::string& place,
    uint64_t* left) {
  std::vector<Tensor> tensors;
  if (values == nullptr) return tensors;
  for (const fb::Value* value : *values) {
    const std::string where = fmt::format("{}[{}]", place, tensors.size());
    const fb::Tensor* from = value->val_as_Tensor();
    if (from == nullptr) return unsupported("{}: not a tensor", where);
    Tensor& tensor = tensors.emplace_back();
    tensor.scalar_type = static_cast<pte::ScalarType>(from->scalar_type());
    if (from->sizes() != nullptr) tensor.sizes.assign(from->sizes()->begin(), from->sizes()->end());
    if (from->dim_order() != nullptr) {
      tensor.dim_order.assign(from->dim_order()->begin(), from->dim_order()->end());
    }
    // Tables of a flatbuffer may share data. Each tensor is a copy.
    const uint64_t bytes = from->data() == nullptr ? 0 : from->data()->size();
    if (bytes > *left) return bad_input("{}: the tensors have more bytes than the file", where);
    *left -= bytes;
    tensor.data = bytes_of(from->data());
    uint64_t count = 1;
    for (const int32_t size : tensor.sizes) {
      if (size < 0) return bad_input("{}: size {} is negative", where, size);
      if (size != 0 && count > UINT32_MAX) return bad_input("{}: the tensor is too large", where);
      count *= static_cast<uint64_t>(size);
    }
    const uint64_t expected = count * pte::size_bytes(tensor.scalar_type);
    if (expected != tensor.data.size()) {
      return bad_input("{}: {} bytes, expected {} for its type and sizes", where,
                       tensor.data.size(), expected);
    }
  }
  return tensors;
}

}  // namespace

Result<BundledProgram> read(ByteView bytes, std::string_view label) {
  const AlignedBytes copy(bytes);
  if (bytes.size() < 8 || !fb::BundledProgramBufferHasIdentifier(copy.data())) {
    return bad_input("{}: not a bundled program: the identifier {} is missing", label,
                     fb::BundledProgramIdentifier());
  }
  flatbuffers::Verifier verifier(copy.data(), copy.size(), kDepthMax, kTablesMax);
  if (!fb::VerifyBundledProgramBuffer(verifier)) {
    return bad_input("{}: the flatbuffer is truncated or damaged", label);
  }
  const fb::BundledProgram* root = fb::GetBundledProgram(copy.data());
  uint64_t left = bytes.size();
  BundledProgram bundled;
  bundled.program = bytes_of(root->program());
  if (root->method_test_suites() == nullptr) return bundled;
  for (const fb::MethodTestSuite* suite : *root->method_test_suites()) {
    TestSuite& to = bundled.suites.emplace_back();
    if (suite->method_name() != nullptr) to.method = suite->method_name()->str();
    if (suite->test_cases() == nullptr) continue;
    for (const fb::TestCase* from : *suite->test_cases()) {
      const std::string place =
          fmt::format("{}: method {}: test case {}", label, to.method, to.cases.size());
      TestCase& test_case = to.cases.emplace_back();
      THIMBLE_TRY(test_case.inputs, read_tensors(from->inputs(), place + ": inputs", &left));
      THIMBLE_TRY(test_case.expected_outputs,
                  read_tensors(from->expected_outputs(), place + ": expected outputs", &left));
    }
  }
  return bundled;
}

}  // namespace thimble::formats::bundle
