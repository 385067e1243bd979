# SPDX-License-Identifier: Apache-2.0
# Sizes that the compiler prints, compared with linked images (benchmarks/sizes).
if(TARGET firmware AND TARGET thimble AND QEMU_ARM)
  set(here ${CMAKE_CURRENT_LIST_DIR})
  foreach(network digits_cnn dscnn_kws decoder_step)
    add_test(NAME sizes_linked_${network}
             COMMAND python3 ${here}/linked_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${network})
    set_tests_properties(sizes_linked_${network} PROPERTIES LABELS "e2e;firmware" TIMEOUT 300)
  endforeach()
  add_test(NAME sizes_fits
           COMMAND python3 ${here}/fits_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  set_tests_properties(sizes_fits PROPERTIES LABELS "e2e;firmware" TIMEOUT 900)
  add_test(NAME sizes_many_calls
           COMMAND python3 ${here}/many_calls_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  set_tests_properties(sizes_many_calls PROPERTIES LABELS "e2e;firmware" TIMEOUT 300)
  add_test(NAME sizes_npu
           COMMAND python3 ${here}/npu_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  set_tests_properties(sizes_npu PROPERTIES LABELS "e2e;firmware" TIMEOUT 300)
  add_test(NAME sizes_readme
           COMMAND python3 ${here}/readme_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} arm-none-eabi-gcc)
  set_tests_properties(sizes_readme PROPERTIES LABELS "e2e;firmware" SKIP_RETURN_CODE 77 TIMEOUT 300)
  add_test(NAME sizes_tables
           COMMAND python3 ${CMAKE_SOURCE_DIR}/benchmarks/sizes/sections.py --check --firmware
                   ${CMAKE_BINARY_DIR}/firmware --cxx ${ARM_CXX})
  set_tests_properties(sizes_tables PROPERTIES LABELS "firmware;fast" SKIP_RETURN_CODE 77)
  add_test(NAME sizes_frames COMMAND python3 ${here}/frames_test.py ${CMAKE_SOURCE_DIR} ${ARM_CXX})
  set_tests_properties(sizes_frames PROPERTIES LABELS "firmware;fast")
endif()
