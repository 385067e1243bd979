// Names of kernels and functions, texts of statuses.

#include "engines/neutron/container/program.h"

namespace thimble::neutron {

const char* kernel_name(Kernel kernel) {
  switch (kernel) {
#define NEUTRON_KERNEL(name, number, operands, check, run) \
  case Kernel::k##name:                                    \
    return #name;
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
  }
  return "?";
}

const char* function_name(Function function) {
  switch (function) {
    case Function::kNone:
      return "NONE";
    case Function::kAbs:
      return "ABS";
    case Function::kClamp:
      return "CLAMP";
    case Function::kExp:
      return "EXP";
    case Function::kHardSwish:
      return "HARD_SWISH";
    case Function::kLeakyRelu:
      return "LEAKY_RELU";
    case Function::kLog:
      return "LOG";
    case Function::kLogistic:
      return "LOGISTIC";
    case Function::kNeg:
      return "NEG";
    case Function::kRelu:
      return "RELU";
    case Function::kRsqrt:
      return "RSQRT";
    case Function::kTanh:
      return "TANH";
    case Function::kRescale:
      return "RESCALE";
  }
  return "?";
}

const char* status_text(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kMisaligned:
      return "program or weights do not start at a multiple of 16";
    case Status::kTruncated:
      return "program or weights are truncated";
    case Status::kNoProgram:
      return "no kernel list (TNeu)";
    case Status::kBadVersion:
      return "kernel list is of another version";
    case Status::kBadHeader:
      return "header: counts, sizes or sections are wrong";
    case Status::kBadIo:
      return "an input or output is wrong, or no kernel writes it";
    case Status::kBadView:
      return "a view is outside its memory or does not have the kernel's shape";
    case Status::kBadKernel:
      return "window, constants or numbers do not fit the kernel, or the kernel is unknown";
    case Status::kBadScale:
      return "a multiplier or shift is out of range";
    case Status::kBadOverlap:
      return "a kernel overwrites data that it reads";
    case Status::kBadPrefetch:
      return "prefetched weights are outside a memory, or overwrite the previous prefetch";
    case Status::kBadHash:
      return "the content hash does not match";
  }
  return "unknown status";
}

}  // namespace thimble::neutron
