# SPDX-License-Identifier: Apache-2.0
# The binary interfaces of the runtime and of the C API are those of the recorded versions.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_test(NAME interface COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/interface_test.py ${CMAKE_SOURCE_DIR})
  set_tests_properties(interface PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)
endif()
