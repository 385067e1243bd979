# SPDX-License-Identifier: Apache-2.0
# Checks the rules of tidy.py on every tracked file, and that every header compiles alone.
add_test(NAME tidy COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tidy.py)
add_test(NAME tidy_headers
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/headers.py --compiler ${CMAKE_CXX_COMPILER}
                 --include ${CMAKE_BINARY_DIR}/generated/program --include ${CMAKE_BINARY_DIR}/generated/tflite
                 --cache ${CMAKE_BINARY_DIR}/tidy_headers.txt)
add_test(NAME tidy_switches COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/count_switches.py --check)
set_tests_properties(tidy_switches PROPERTIES LABELS "tidy;fast")
# Every file has a copyright and a licence (REUSE.toml), as the REUSE specification 3.3 requires.
add_test(NAME tidy_reuse COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/reuse.py ${CMAKE_BINARY_DIR}/python-venv ${CMAKE_SOURCE_DIR})
set_tests_properties(tidy_reuse PROPERTIES LABELS "tidy;fast" SKIP_RETURN_CODE 77)
set(number 0)
foreach(root ${THIMBLE_EXAMPLE_TARGET} ${THIMBLE_EXTRA_TARGETS})
  get_filename_component(name ${root} NAME)
  add_test(NAME tidy_outside_${number}_${name} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tidy.py ${root})
  set_tests_properties(tidy_outside_${number}_${name} PROPERTIES LABELS "tidy;fast")
  math(EXPR number "${number} + 1")
endforeach()
set_tests_properties(tidy PROPERTIES LABELS "tidy;fast" TIMEOUT 600)
set_tests_properties(tidy_headers PROPERTIES LABELS tidy TIMEOUT 600)
# Every test has a label, and CONTRIBUTING.md lists the labels.
if(THIMBLE_TESTS)
  add_test(NAME tidy_labels COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/labels.py ${CMAKE_CTEST_COMMAND} ${CMAKE_BINARY_DIR}
                                    ${CMAKE_SOURCE_DIR})
  set_tests_properties(tidy_labels PROPERTIES LABELS "tidy;fast")
endif()
