# SPDX-License-Identifier: Apache-2.0
# The runtime as a shared library for Linux, and an Ethos-U behind the kernel's driver, for which a library stands in (LD_PRELOAD).
if(TARGET thimble AND TARGET thimble_linux)
  add_library(ethosu_standin MODULE ${CMAKE_CURRENT_LIST_DIR}/standin.cpp)
  target_link_libraries(ethosu_standin PRIVATE thimble_options thimble_ethos_u_model thimble_ethos_u_delegate ${CMAKE_DL_LIBS})
  add_executable(linux_app ${CMAKE_CURRENT_LIST_DIR}/app.c)
  target_include_directories(linux_app PRIVATE ${CMAKE_SOURCE_DIR}/runtime/include ${CMAKE_SOURCE_DIR}/engines/ethos_u/linux_driver/include)
  target_link_libraries(linux_app PRIVATE thimble_linux)
  add_test(NAME linux_npu COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/linux_npu_test.py $<TARGET_FILE:thimble> $<TARGET_FILE:linux_app>
                                  $<TARGET_FILE:ethosu_standin> ${CMAKE_SOURCE_DIR}/models)
  set_tests_properties(linux_npu PROPERTIES LABELS e2e TIMEOUT 300)
  # THIMBLE_AARCH64: the shared library for another processor (minutes, without a compiler cache).
  option(THIMBLE_AARCH64 "Test the shared library for aarch64 under qemu-aarch64" OFF)
  if(THIMBLE_AARCH64)
    add_test(NAME linux_aarch64 COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/aarch64_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR}
                                        ${CMAKE_BINARY_DIR}/linux_aarch64)
    set_tests_properties(linux_aarch64 PROPERTIES LABELS portability TIMEOUT 900 SKIP_RETURN_CODE 77)
  endif()
endif()
