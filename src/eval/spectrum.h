// SPDX-License-Identifier: Apache-2.0
#pragma once
// Power spectra of frames in double, for the evaluator and for calibration, which passes functions
// that give the same bits on every host.

#include <complex>
#include <span>
#include <vector>

#include "eval/call.h"

namespace thimble::eval {

struct MathFunctions {
  double (*cos)(double);
  double (*sin)(double);
  double (*log)(double);
};

/// Computes |DFT|^2 of frames of n samples, multiplied by a window.
class PowerSpectrum {
 public:
  PowerSpectrum(std::span<const float> window, const MathFunctions& math);

  /// Returns the powers of the bins 0 to n / 2 of the frame that starts at `x`. Valid until the
  /// next call.
  std::span<const double> of(const float* x);

 private:
  using Complex = std::complex<double>;
  void transform(const Complex* x, size_t count, size_t step, Complex* y);

  std::span<const float> window_;
  std::vector<Complex> twiddles_;  // e^(-2 pi i k / n)
  std::vector<Complex> frame_, spectrum_;
  std::vector<double> powers_;
};

/// The semantics of `log_mel`.
void log_mel(const Call& call, const MathFunctions& math);

}  // namespace thimble::eval
