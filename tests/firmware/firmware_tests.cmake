# SPDX-License-Identifier: Apache-2.0
# Tests of firmware images under QEMU. Each program is one ctest entry; a case takes less than a second.
if(TARGET firmware AND QEMU_ARM)
  set(firmware_tests axon disassembly faults memory_protection neutron npu npu_faults runner size status variants)
  if(TARGET thimble)
    list(APPEND firmware_tests load)
  endif()
  foreach(name ${firmware_tests})
    set(labels firmware)
    if(NOT name MATCHES "faults|memory_protection|status|variants")
      list(APPEND labels fast)
    endif()
    thimble_test(firmware_${name}_test
      SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}_test.cpp ${CMAKE_CURRENT_LIST_DIR}/support.cpp
      DEPS thimble_formats thimble_base
      LABELS ${labels})
    if(TARGET firmware_${name}_test)
      target_compile_definitions(firmware_${name}_test PRIVATE
                                 THIMBLE_OBJDUMP="${ARM_OBJDUMP}"
                                                               THIMBLE_ARM_SIZE="${ARM_SIZE}"
                                 THIMBLE_TEST="${name}")
      add_dependencies(firmware_${name}_test firmware insn_count)
    endif()
  endforeach()
  if(TARGET firmware_axon_test)
    target_sources(firmware_axon_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/axon_list.cpp
                                              ${CMAKE_SOURCE_DIR}/tests/unit/axon_sample.cpp)
    target_link_libraries(firmware_axon_test PRIVATE thimble_hostrun)
  endif()
  if(TARGET firmware_neutron_test)
    target_sources(firmware_neutron_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/neutron_list.cpp
                                                 ${CMAKE_SOURCE_DIR}/tests/unit/neutron_sample.cpp)
    target_link_libraries(firmware_neutron_test PRIVATE thimble_hostrun)
  endif()
  if(TARGET firmware_npu_faults_test)
    target_sources(firmware_npu_faults_test PRIVATE
                   ${CMAKE_SOURCE_DIR}/tests/unit/axon_list.cpp ${CMAKE_SOURCE_DIR}/tests/unit/axon_sample.cpp
                   ${CMAKE_SOURCE_DIR}/tests/unit/neutron_list.cpp ${CMAKE_SOURCE_DIR}/tests/unit/neutron_sample.cpp)
    target_link_libraries(firmware_npu_faults_test PRIVATE thimble_hostrun)
  endif()
  if(TARGET firmware_status_test)
    target_sources(firmware_status_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/neutron_list.cpp
                                                ${CMAKE_SOURCE_DIR}/tests/unit/neutron_sample.cpp)
    target_link_libraries(firmware_status_test PRIVATE thimble_hostrun)
  endif()
  if(TARGET firmware_npu_test)
    target_link_libraries(firmware_npu_test PRIVATE thimble_hostrun)
  endif()
  if(TARGET thimble)
    add_test(NAME firmware_counting_plugin
             COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/counting_plugin_test.py $<TARGET_FILE:thimble>
                     ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/firmware)
    set_tests_properties(firmware_counting_plugin PROPERTIES LABELS firmware TIMEOUT 600)
  endif()
  if(TARGET firmware_load_test)
    target_compile_definitions(firmware_load_test PRIVATE
                               THIMBLE_PROGRAM="$<TARGET_FILE:thimble>")
    add_dependencies(firmware_load_test thimble)
  endif()
  add_test(NAME firmware_sizes
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/sizes_test.py ${CMAKE_SOURCE_DIR}
                   ${CMAKE_BINARY_DIR}/firmware ${ARM_CXX} ${ARM_SIZE})
  set_tests_properties(firmware_sizes PROPERTIES LABELS "firmware;fast" SKIP_RETURN_CODE 77)
  if(TARGET thimble)
    add_test(NAME firmware_application
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/application_test.py $<TARGET_FILE:thimble>
                     ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/firmware ${ARM_CXX} ${ARM_SIZE}
                     ${QEMU_ARM})
    set_tests_properties(firmware_application PROPERTIES LABELS "firmware;e2e" TIMEOUT 300)
  endif()
else()
  message(STATUS "no arm-none-eabi-g++, qemu-system-arm or THIMBLE_FIRMWARE: no tests of firmware images")
endif()
# Device code with every compiler that is installed, and without a C++ library. firmware/ is built with GCC and its library.
if(ARM_CXX)
  set(launcher)
  if(CCACHE)
    set(launcher ${CCACHE})
  endif()
  # firmware/ compiles for all cores with GCC. Each instruction set has one clang: Armv6-M, the DSP extension, Helium.
  foreach(compiler ${ARM_CXX} clang++-14 clang++-16 clang++-19)
    get_filename_component(name ${compiler} NAME)
    set(cores cortex-m55)
    if(name MATCHES "^clang.*-1[46]$")
      set(cores cortex-m4)
    elseif(name MATCHES "^clang")
      set(cores cortex-m0plus,cortex-m55)
    endif()
    add_test(NAME firmware_toolchains_${name}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/toolchains_test.py ${CMAKE_SOURCE_DIR} ${compiler} ${ARM_CXX} ${cores} ${launcher})
    set_tests_properties(firmware_toolchains_${name} PROPERTIES LABELS firmware TIMEOUT 900 SKIP_RETURN_CODE 77)
  endforeach()
endif()
