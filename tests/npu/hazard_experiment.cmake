# SPDX-License-Identifier: Apache-2.0
# Removes waits and block dependencies from the streams of another compiler (tests/data/ethos_u).
if(THIMBLE_TESTS)
  add_executable(npu_hazard_experiment ${CMAKE_CURRENT_LIST_DIR}/hazard_checker_experiment.cpp)
  target_link_libraries(npu_hazard_experiment PRIVATE thimble_npu_case)
  add_test(NAME npu_hazard_experiment
           COMMAND npu_hazard_experiment ${CMAKE_SOURCE_DIR}/tests/data/ethos_u)
  set_tests_properties(npu_hazard_experiment PROPERTIES LABELS "unit;fast" TIMEOUT 600)
endif()
