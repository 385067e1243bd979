// SPDX-License-Identifier: Apache-2.0
#include "tools/measured_option.h"

#include "driver/output_quality.h"
#include "driver/recipe.h"
#include "driver/stages.h"
#include "driver/tried_options.h"
#include "engine/part.h"
#include "quant/pins.h"

namespace thimble::tools {

Result<std::optional<MeasuredOption>> measured_option(const std::filesystem::path& float_model,
                                                      const driver::Samples& samples,
                                                      const driver::CompileOptions& asked) {
  THIMBLE_TRY(const engine::Part part, engine::find_part(asked.target));
  const driver::CompileOptions options = driver::with_recipe(asked, part.recipe);
  driver::StageFiles none({});
  THIMBLE_TRY(const driver::FloatModel model, driver::import_model(float_model, options, &none));
  if (quant::is_prequantized(model.graph)) return std::optional<MeasuredOption>();
  driver::Calibration data;
  data.samples = samples;
  THIMBLE_TRY(const quant::QuantizedModel quantized,
              driver::quantize_model(model, data, options, driver::arithmetic_of(options, part)));
  const std::optional<double> before = driver::lowest_sqnr_db(quantized.report);
  if (!before) return std::optional<MeasuredOption>();
  THIMBLE_TRY(const auto tried, driver::try_options({model, data, options, part}, quantized));
  const quant::TriedOption* const best = driver::best_option(tried, *before);
  if (best == nullptr) return std::optional<MeasuredOption>();
  return std::optional(MeasuredOption{best->text, *before, best->sqnr_db});
}

}  // namespace thimble::tools
