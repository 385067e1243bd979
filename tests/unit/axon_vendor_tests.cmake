# What touches Nordic's SDK: with stand-ins of our own, and, if SDK_EDGE_AI_PATH is set when the
# tests run, with the SDK itself.
set(standins ${CMAKE_CURRENT_LIST_DIR}/../axon_vendor)

# A compiler library of ours, where the SDK has Nordic's.
include(CMakePackageConfigHelpers)
set(standin_sdk ${CMAKE_BINARY_DIR}/tests/axon_standin_sdk)
add_library(axon_standin_compiler MODULE ${standins}/standin_compiler.c)
target_compile_options(axon_standin_compiler PRIVATE -Wall -Wextra)
set_target_properties(axon_standin_compiler PROPERTIES
  PREFIX "" SUFFIX "" OUTPUT_NAME standin_compiler
  LIBRARY_OUTPUT_DIRECTORY ${standin_sdk})

foreach(part)  # format sdk program header: with their sources
  thimble_test(axon_vendor_${part}_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/axon_vendor_${part}_test.cpp
    DEPS thimble_target thimble_formats thimble_axon thimble_axon_model thimble_runtime
    LABELS unit)
  target_include_directories(axon_vendor_${part}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(axon_vendor_${part}_test PRIVATE
    THIMBLE_AXON_HELPER="$<TARGET_FILE:thimble-axon-sdk>"
    THIMBLE_AXON_STANDIN="$<TARGET_FILE:axon_standin_compiler>"
    THIMBLE_AXON_SOURCES="${CMAKE_SOURCE_DIR}")
  add_dependencies(axon_vendor_${part}_test thimble-axon-sdk axon_standin_compiler)
endforeach()
