// SPDX-License-Identifier: Apache-2.0
#pragma once
// One list with a layer of nearly every kind. Inputs: an image and a state. Outputs: a smaller
// image, a softmax and the next state.

#include "axon_list.h"

namespace thimble::axon_test {

/// Layer indices of sample_list().
enum SampleLayer : size_t {
  kSampleConv,
  kSampleDepthwise,
  kSampleMax,
  kSampleSlice,  // in place: channels 1 and 2 of the pool's result
  kSamplePad,
  kSampleConcat,  // of the pool's result and the padded slice
  kSampleAverage,
  kSampleFc,  // int16 result
  kSampleTanh,
  kSampleAdd,  // adds to the state
  kSampleAssign,
  kSampleMultiply,  // in place, by a constant
  kSampleLogits,    // int32 result
  kSampleSoftmax,
  kSampleBlocks,
  kSampleBack,
  kSampleResize,
  kSampleReshape,
  kSampleLayers
};

/// Inputs: int8 [1,2,6,7], state int8 [1,1,1,5]. Outputs: next state, softmax, image.
List sample_list();

}  // namespace thimble::axon_test
