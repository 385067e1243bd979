// SPDX-License-Identifier: Apache-2.0
#include "driver/recipe.h"

#include <cassert>

namespace thimble::driver {
namespace {

quant::Observer observer_of(const engine::Recipe& recipe) {
  if (!recipe.observer) return quant::kDefaultObserver;
  for (const quant::Observer each : quant::kObservers) {
    if (quant::observer_name(each) == *recipe.observer) return each;
  }
  assert(false && "recipe_observers() has a name that no observer has");
  return quant::kDefaultObserver;
}

/// Sets `own`, if empty, to the value of the recipe, or else to `usual`.
template <class T>
void set_default(std::optional<T>* own, const std::optional<T>& recipe, T usual) {
  if (!*own) *own = recipe.value_or(usual);
}

}  // namespace

CompileOptions with_recipe(CompileOptions options, const engine::Recipe& recipe) {
  if (!options.observer) {
    options.choose_observer = !recipe.observer;
    options.observer = observer_of(recipe);
  }
  if (!options.dialect) {
    options.dialect =
        recipe.kernels == "executorch" ? engine::Dialect::kStock : engine::Dialect::kNative;
  }
  if (!options.wide_activations) {  // an accuracy goal chooses the 16-bit operators itself
    options.wide_activations = recipe.activations == "int16" && !options.goal;
  }
  set_default(&options.equalize, recipe.equalize, false);
  set_default(&options.tune, recipe.tune, false);
  set_default(&options.keep_small, recipe.keep_small, false);
  return options;
}

}  // namespace thimble::driver
