# SPDX-License-Identifier: Apache-2.0
# Tests of the Ethos-U compiler: blocks, emission, schedules.
thimble_test_library(test_ethos_u_programs SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_programs.cpp
                     DEPS thimble_engines thimble_ethos_u_model)
set(deps test_ethos_u_programs thimble_engines thimble_ethos_u_model thimble_ethos_u_text)
foreach(part block cascade emit)
  thimble_test(ethos_u_${part}_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_${part}_test.cpp
    DEPS ${deps}
    LABELS unit fast)
endforeach()
thimble_test(ethos_u_schedule_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/ethos_u_schedule_test.cpp
  DEPS ${deps}
  LABELS unit)
