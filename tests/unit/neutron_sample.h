// SPDX-License-Identifier: Apache-2.0
#pragma once
// One list with every kernel, dense and small, for tests of the check and of the text form.

#include "neutron_list.h"

namespace thimble::neutron_test {

/// Kernel indices of sample_list(), named by what they test.
namespace sample {
enum : uint32_t {
  kConvolution,  // [1,4,4,3] to [1,4,4,8], per channel, prefetched
  kPointwise,
  kDepthwise,
  kTransposed,
  kFullyConnected,
  kMatMul,
  kAdd,
  kSub,
  kMul,
  kMaximum,
  kMinimum,
  kPRelu,
  kTable,
  kRescale,
  kMaxPool,
  kAvgPool,
  kGlobalAvgPool,
  kReduceMean,
  kReduceMax,
  kReduceMin,
  kSoftmax,
  kTranspose,
  kSlice,
  kConcat,
  kCopy,
  kPad,
  kMirrorPad,
  kNearest,
  kBilinear,
  kKernels
};
}  // namespace sample

List sample_list();
/// Returns inputs for a run of the list.
std::vector<Bytes> sample_inputs(const List& list);

}  // namespace thimble::neutron_test
