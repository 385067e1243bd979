// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the output of the vendor's converter: a LiteRT model with one operator, CUSTOM
// NeutronGraph, that has microcode, weights and kernels as constants. docs/neutron.md, "Converter
// of the vendor".
//
//   inputs    model inputs..., microcode, weights, kernels
//   outputs   model outputs..., scratch [, profile, debug]   the last two from version 1 on

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "formats/tflite/read.h"

namespace thimble::engine::neutron {

struct NeutronGraphOp {
  uint8_t version = 0;                // payload version
  std::vector<uint8_t> input_map;     // operator input index to model input index
  std::vector<uint8_t> output_map;    // operator output index to model output index
  Bytes microcode, weights, kernels;  // opaque
};

/// `sent` is the model that was converted. Its inputs and outputs are matched with those of the
/// converted model by name if all names still exist, else by position. Messages begin with `name`.
[[nodiscard]] Result<NeutronGraphOp> read_neutron_graph(const formats::tflite::File& sent,
                                                        const formats::tflite::File& converted,
                                                        std::string_view name);

}  // namespace thimble::engine::neutron
