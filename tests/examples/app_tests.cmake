# The application outside the tree needs the program, the cross compiler and the emulator.
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  foreach(core cortex-m4 cortex-m33 cortex-m55)
    add_test(NAME example_app_${core}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/app_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${core})
    set_tests_properties(example_app_${core} PROPERTIES LABELS e2e TIMEOUT 300)
  endforeach()
endif()
