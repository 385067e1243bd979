// SPDX-License-Identifier: Apache-2.0
// Measures the SQNR of each observer on networks, and the cost of calibration:
//
//   thimble_observers FOLDER...       (models/digits_cnn models/resnet8 ...)
//
// Each folder has <name>.pt2, calibrate.npz and test.npz. Prints one line per network: for each
// observer the SQNR of the output on test.npz in dB and, in brackets, the mean SQNR of all
// operators, which has less random variation; then the time and memory of the last observer, with
// all threads.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/quant_models.h"

namespace {

using thimble::quant::Observer;

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int measure(const char* folder) {
  constexpr size_t kTestsMax = 256;
  const auto network = thimble::test::load_network(folder, kTestsMax);
  if (!network) {
    std::fprintf(stderr, "%s\n", network.error().message.c_str());
    return 2;
  }
  std::printf("%-44s", folder);
  double seconds = 0, quality = 0;
  for (const Observer observer : {Observer::kMinMax, Observer::kPercentile, Observer::kMse}) {
    thimble::quant::QuantizeOptions options;
    options.observer = observer;
    const auto model = thimble::quant::quantize(network->graph, network->calibration, {}, options);
    if (!model) {
      std::fprintf(stderr, "%s\n", model.error().message.c_str());
      return 2;
    }
    const double sqnr_db =
        thimble::test::measure_sqnr_db(network->graph, model->graph, network->tests);
    double mean_db = 0;
    for (const auto& op : model->report.ops) mean_db += op.sqnr_db;
    mean_db /= static_cast<double>(model->report.ops.size());
    std::printf("  %s %5.2f (%5.2f)", std::string(observer_name(observer)).c_str(), sqnr_db,
                mean_db);
    seconds = model->report.calibrate_seconds;
    quality = model->report.quality_seconds;
    if (std::getenv("VERBOSE") != nullptr && observer == thimble::quant::kDefaultObserver) {
      for (const auto& op : model->report.ops) {
        std::printf("\n   %6.2f dB %-12s %s", op.sqnr_db, op.op.c_str(), op.source.where().c_str());
      }
    }
  }
  std::printf("  calibrate %.2f s  quality %.2f s  peak %.0f MB\n", seconds, quality,
              peak_megabytes());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  for (int i = 1; i < argc && status == 0; ++i) status = measure(argv[i]);
  return status;
}
