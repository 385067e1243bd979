# SPDX-License-Identifier: Apache-2.0
# The wheel: wheel_build builds it once, the others install it in bare virtual environments. The tools that build it are
# downloaded by name; without a network, all of them are skipped.
# THIMBLE_WHEEL_SDIST: also builds the wheel from the source distribution, without compiler cache (10 minutes).
option(THIMBLE_WHEEL_SDIST "Test that the source distribution gives the same wheel" OFF)
if(TARGET thimble AND ARM_CXX AND QEMU_ARM AND UNIX)
  set(sdist)
  set(tests Wheel Notebook)
  if(THIMBLE_WHEEL_SDIST)
    set(sdist --sdist)
    list(APPEND tests Sdist)
  endif()
  add_test(NAME wheel_build COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/build.py ${CMAKE_SOURCE_DIR}
                                    ${CMAKE_BINARY_DIR}/wheel ${CMAKE_COMMAND} --optional ${sdist})
  set_tests_properties(wheel_build PROPERTIES LABELS wheel TIMEOUT 3600 COST 1000 FIXTURES_SETUP wheel
                                              SKIP_REGULAR_EXPRESSION "skipped: the tools")
  foreach(test ${tests})
    string(TOLOWER wheel_${test} name)
    string(REPLACE wheel_wheel wheel name ${name})
    add_test(NAME ${name} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/wheel_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
                                  ${test})
    set_tests_properties(${name} PROPERTIES LABELS wheel TIMEOUT 600 FIXTURES_REQUIRED wheel SKIP_RETURN_CODE 77)
  endforeach()
  set_tests_properties(wheel_notebook PROPERTIES LABELS "wheel;notebooks")
endif()
