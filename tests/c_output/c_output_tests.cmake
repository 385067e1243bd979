# SPDX-License-Identifier: Apache-2.0
# Tests `thimble compile --emit c`: compiles every network of models/ for all cores and runs it on the host. Small networks
# also run on emulated boards; with -DTHIMBLE_C_OUTPUT_ON_BOARDS=ON, all networks.
option(THIMBLE_C_OUTPUT_ON_BOARDS "Run the C of every network on emulated boards, not only of the small ones" OFF)
if(TARGET thimble AND ARM_CXX AND QEMU_ARM)
  set(here ${CMAKE_CURRENT_LIST_DIR})
  set(small ad_autoencoder decoder_step digits_cnn dscnn_kws gru_classifier hello_sin rnn_step streaming_conv tcn)
  file(GLOB models CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/*/*.pt2)
  foreach(model ${models})
    get_filename_component(folder ${model} DIRECTORY)
    get_filename_component(name ${folder} NAME)
    if(NOT EXISTS ${folder}/${name}.pt2 OR TEST c_output_${name})
      continue()
    endif()
    add_test(NAME c_output_${name}
             COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${folder})
    list(APPEND c_output_tests c_output_${name})
    if(name IN_LIST small OR THIMBLE_C_OUTPUT_ON_BOARDS)
      add_test(NAME c_output_boards_${name}
               COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${folder} --boards)
      list(APPEND c_output_tests c_output_boards_${name})
    endif()
  endforeach()
  add_test(NAME c_output_boards_log_mel
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/tests/data/log_mel/stream --boards)
  list(APPEND c_output_tests c_output_boards_log_mel)
  add_test(NAME c_output_boards_integers
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/tests/data/integers --boards=cortex-m55,cortex-m4)
  list(APPEND c_output_tests c_output_boards_integers)
  add_test(NAME c_output_boards_choices
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/tests/data/choices --boards=cortex-m55,cortex-m4)
  list(APPEND c_output_tests c_output_boards_choices)
  add_test(NAME c_output_boards_int4
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/models/dscnn_kws --boards=cortex-m55,cortex-m4 --weights=int4)
  list(APPEND c_output_tests c_output_boards_int4)
  # Bytes in, 16-bit values out.
  add_test(NAME c_output_boards_io
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/models/digits_cnn --boards=cortex-m4,cortex-m55 --io=x=uint8,linear=int16)
  list(APPEND c_output_tests c_output_boards_io)
  add_test(NAME c_output_layouts
           COMMAND python3 ${here}/c_layouts_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}
                   ${CMAKE_COMMAND})
  list(APPEND c_output_tests c_output_layouts)
  add_test(NAME c_output_memories
           COMMAND python3 ${here}/c_memories_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  list(APPEND c_output_tests c_output_memories)
  add_test(NAME c_output_boards_float
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/models/digits_cnn --boards=cortex-m55,cortex-m4 --float)
  list(APPEND c_output_tests c_output_boards_float)
  # A decoder step whose position is an input, with a cache that the runtime keeps.
  add_test(NAME c_output_boards_step
           COMMAND python3 ${here}/c_output_test.py $<TARGET_FILE:thimble> ${CMAKE_BINARY_DIR}
                   ${CMAKE_SOURCE_DIR}/tests/data/step --boards=cortex-m55)
  list(APPEND c_output_tests c_output_boards_step)
  set_tests_properties(${c_output_tests} PROPERTIES LABELS c_output TIMEOUT 600)
  set_property(TEST c_output_hello_sin c_output_digits_cnn c_output_streaming_conv c_output_boards_digits_cnn
               APPEND PROPERTY LABELS fast)
endif()
