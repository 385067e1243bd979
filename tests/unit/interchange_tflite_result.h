// SPDX-License-Identifier: Apache-2.0
#pragma once
// A .tflite made from a graph's text, verified, with the accessors of the schema.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interchange/tflite.h"
#include "ir/print.h"
#include "tflite_generated.h"

namespace thimble::interchange {

namespace fb = formats::tflite::fb;

struct Made {
  Bytes bytes;
  const fb::Model* model = nullptr;
  const fb::SubGraph* graph = nullptr;

  [[nodiscard]] int code(unsigned op) const {
    const auto index = graph->operators()->Get(op)->opcode_index();
    return model->operator_codes()->Get(index)->builtin_code();
  }
  [[nodiscard]] std::vector<int> codes() const {
    std::vector<int> all;
    for (unsigned i = 0; i < graph->operators()->size(); ++i) all.push_back(code(i));
    return all;
  }
  [[nodiscard]] const fb::Tensor* operand(unsigned op, unsigned i) const {
    return graph->tensors()->Get(
        static_cast<unsigned>(graph->operators()->Get(op)->inputs()->Get(i)));
  }
  [[nodiscard]] std::vector<int> shape(const fb::Tensor* tensor) const {
    return {tensor->shape()->begin(), tensor->shape()->end()};
  }
};

inline Result<Bytes> emitted(const std::string& text, const TfliteProfile& profile = {}) {
  THIMBLE_TRY(const ir::Graph graph, ir::parse(text, "test.ir"));
  return to_tflite(graph, profile);
}

inline Made make(const std::string& text, const TfliteProfile& profile = {}) {
  Made made;
  auto bytes = emitted(text, profile);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
  if (!bytes.ok()) return made;
  made.bytes = *bytes;
  const auto* data = reinterpret_cast<const uint8_t*>(made.bytes.data());
  flatbuffers::Verifier verifier(data, made.bytes.size());
  EXPECT_TRUE(fb::VerifyModelBuffer(verifier));
  made.model = fb::GetModel(data);
  made.graph = made.model->subgraphs()->Get(0);
  return made;
}

}  // namespace thimble::interchange
