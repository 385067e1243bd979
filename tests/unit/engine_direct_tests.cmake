# SPDX-License-Identifier: Apache-2.0
thimble_test(engine_direct_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_direct_test.cpp DEPS thimble_engines LABELS unit fast)
# A parameter struct that differs from the attributes of its operator does not compile.
if(THIMBLE_TESTS)
  add_test(NAME params_must_not_compile
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/../must_not_compile/must_not_compile.py ${CMAKE_CXX_COMPILER} ${CMAKE_SOURCE_DIR})
  set_tests_properties(params_must_not_compile PROPERTIES LABELS "unit;fast")
endif()
