// SPDX-License-Identifier: Apache-2.0
// The integer model as a driver (thimble_axon.h).

#include "abi/status.h"
#include "engines/axon/model/model.h"
#include "thimble_axon.h"

using thimble::abi::Status;
namespace axon = thimble::axon;

extern "C" {

int32_t thimble_axon_model_load(const thimble_axon*, const void* container, uint32_t bytes) {
  const axon::Status status = axon::check(static_cast<const uint8_t*>(container), bytes);
  return static_cast<int32_t>(status == axon::Status::kOk ? Status::kOk : Status::kBadPayload);
}

int32_t thimble_axon_model_run(const thimble_axon*, thimble_axon_job* job) {
  axon::Job work;
  work.container = axon::Container(static_cast<const uint8_t*>(job->container));
  work.inputs = reinterpret_cast<const uint8_t* const*>(job->inputs);
  work.outputs = reinterpret_cast<uint8_t* const*>(job->outputs);
  work.interlayer = static_cast<uint8_t*>(job->interlayer);
  work.persistent = static_cast<uint8_t*>(job->persistent);
  axon::run(work);
  return static_cast<int32_t>(Status::kOk);
}

}  // extern "C"
