# SPDX-License-Identifier: Apache-2.0
add_library(quant_models STATIC ${CMAKE_CURRENT_LIST_DIR}/quant_models.cpp)
target_link_libraries(quant_models PUBLIC thimble_quant thimble_import thimble_formats)

thimble_test(pt2e_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/pt2e_test.cpp
  DEPS thimble_quant thimble_import thimble_formats nlohmann_json::nlohmann_json
  LABELS unit fast)

thimble_test(quant_rounding_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/quant_rounding_test.cpp ${CMAKE_CURRENT_LIST_DIR}/quant_random_network.cpp
  DEPS test_graphs thimble_quant
  LABELS unit fast)

thimble_test(quant_reader_range_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/quant_reader_range_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_random_network.cpp
  DEPS test_graphs thimble_quant
  LABELS unit fast)

thimble_test(quant_sigmoid_scale_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/quant_sigmoid_scale_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_random_network.cpp
  DEPS test_graphs thimble_quant
  LABELS unit fast)

# Not a test: prints the table of docs/quantization.md.
add_executable(thimble_observers ${CMAKE_SOURCE_DIR}/benchmarks/observers/observers.cpp)
target_link_libraries(thimble_observers PRIVATE quant_models)

find_package(nlohmann_json REQUIRED)
thimble_test(quant_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/quant_annotate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_choice_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_engine_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_equalize_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_errors_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_fast_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_histogram_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_masked_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_networks_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_norm_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_random_network.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_rules_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_tied_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_wide_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/quant_preferences_test.cpp
  DEPS test_graphs quant_models nlohmann_json::nlohmann_json
  APART quant_annotate_test.cpp quant_preferences_test.cpp quant_rules_test.cpp quant_masked_test.cpp quant_norm_test.cpp quant_errors_test.cpp quant_tied_test.cpp
  LABELS unit fast)
