# SPDX-License-Identifier: Apache-2.0
# A library that reads cases, a program that runs them, and the test of the cases in tests/data/ethos_u.
if(THIMBLE_TESTS)
  add_library(thimble_npu_case STATIC ${CMAKE_CURRENT_LIST_DIR}/case.cpp)
  target_link_libraries(thimble_npu_case PUBLIC thimble_options thimble_ethos_u_model
                                                thimble_ethos_u_text)
  add_executable(npu_run ${CMAKE_CURRENT_LIST_DIR}/npu_run.cpp)
  target_link_libraries(npu_run PRIVATE thimble_npu_case)
  thimble_test(npu_streams_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/streams_test.cpp
               DEPS thimble_npu_case LABELS unit fast)
endif()
