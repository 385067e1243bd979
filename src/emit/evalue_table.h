// SPDX-License-Identifier: Apache-2.0
#pragma once
// The value table of a program under construction: equal values share an index.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/pte/constant_pool.h"
#include "formats/pte/program.h"

namespace thimble::emit {

class EValueTable {
 public:
  int32_t integer(int64_t value);
  int32_t boolean(bool value);
  int32_t number(double value);
  int32_t null();
  /// Adds a list of Int values; the list holds their indices.
  int32_t integers(const std::vector<int64_t>& values);
  int32_t tensors(const std::vector<int32_t>& indices);
  int32_t tensor(const formats::pte::Tensor& tensor);
  /// Adds a value even if an equal one exists.
  int32_t add(formats::pte::EValue value);

  [[nodiscard]] std::vector<formats::pte::EValue> take() { return std::move(values_); }

 private:
  int32_t intern(const std::string& key, formats::pte::EValue value);

  std::vector<formats::pte::EValue> values_;
  std::map<std::string, int32_t> index_;  // by a textual key of the value
};

}  // namespace thimble::emit
