# SPDX-License-Identifier: Apache-2.0
# One program with all kernels, called without the runtime. Direct operators are compared with the reference evaluator.
file(GLOB kernel_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
thimble_test(kernels_test SOURCES ${kernel_test_sources} ${CMAKE_CURRENT_LIST_DIR}/../matrix/ledger.cpp
             DEPS thimble_kernels thimble_engines thimble_eval thimble_ir
  APART samples_executorch.cpp samples_float.cpp samples_wide.cpp samples_rows.cpp wide_test.cpp scalar_test.cpp scalar_case.cpp matmul_mve_test.cpp matmul_mve_case.cpp dsp_test.cpp int4_case.cpp int4_test.cpp depthwise_mve_test.cpp move_test.cpp
  LABELS kernels fast)
# A separate ctest entry, because thousands of damaged calls of each kernel take longer than all other cases together.
if(THIMBLE_TESTS)
  thimble_optimize(kernels_test -O1)
  set(damaged_calls Kernels.AcceptedCallsRunWithoutInvalidAccess)
  set_tests_properties(kernels_test PROPERTIES ENVIRONMENT GTEST_FILTER=-${damaged_calls})
  add_test(NAME kernels_fuzz_test COMMAND kernels_test --gtest_filter=${damaged_calls})
  set_tests_properties(kernels_fuzz_test PROPERTIES LABELS "kernels;fuzz" TIMEOUT 600 FAIL_REGULAR_EXPRESSION "Running 0 tests")
endif()
