#pragma once
// One list with a layer of nearly every kind: a picture and a state come in, a smaller picture, a
// distribution and the next state go out.

#include "axon_list.h"

namespace thimble::axon_test {

/// Layers of sample_list(), by their indices.
enum SampleLayer : size_t {
  kSampleConv,
  kSampleDepthwise,
  kSampleMax,
  kSampleSlice,  // in place: channels 1 and 2 of the pool's
  kSamplePad,
  kSampleConcat,  // of the pool and the padded piece
  kSampleAverage,
  kSampleFc,  // int16
  kSampleTanh,
  kSampleAdd,  // to the state
  kSampleAssign,
  kSampleMultiply,  // in place, by a constant
  kSampleLogits,    // int32
  kSampleSoftmax,
  kSampleBlocks,
  kSampleBack,
  kSampleResize,
  kSampleReshape,
  kSampleLayers
};

/// Inputs: int8 [1,2,6,7], state int8 [1,1,1,5]. Outputs: next state, distribution, picture.
List sample_list();

}  // namespace thimble::axon_test
