#include "interchange/tflite.h"
namespace thimble::interchange {
Result<Bytes> to_tflite(const ir::Graph&) { return unsupported("no"); }
}
