# SPDX-License-Identifier: Apache-2.0
# nordic_example(NAME [SAMPLES n] [OPTIONS ...]): sources and model of an application in this folder. The network becomes a
# `.pte` in flash when the application is built (OPTIONS go to `thimble compile`). The first n samples of test.npz become
# inputs.h. --npu-small keeps small networks on the NPU, although the core alone would be faster.
set(NORDIC_TARGET nrf54lm20b CACHE STRING "What the network is compiled for: one of `thimble targets`")
set(NORDIC_AXON "" CACHE STRING "How the NPU gets its program: program, header or layers (thimble compile --axon)")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# If Nordic's compiler library is available, it makes the program. Layer lists are for boards that execute them on the core.
function(nordic_form result)
  if(NORDIC_AXON)
    set(form ${NORDIC_AXON})
  elseif(DEFINED ENV{SDK_EDGE_AI_PATH})
    set(form program)
  elseif(CONFIG_THIMBLE_NORDIC_AXON_MODEL)
    set(form layers)
  else()
    message(FATAL_ERROR "SDK_EDGE_AI_PATH is not set: without Nordic's compiler library there is no program for the NPU. "
                        "With CONFIG_THIMBLE_NORDIC_AXON_MODEL=y the core computes what the NPU would.")
  endif()
  set(${result} ${form} PARENT_SCOPE)
endfunction()

function(nordic_example name)
  cmake_parse_arguments(arg "" "SAMPLES" "OPTIONS" ${ARGN})
  set(here ${CMAKE_CURRENT_SOURCE_DIR})
  set(shared ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  target_sources(app PRIVATE ${here}/src/main.c ${shared}/app/app.c)
  target_include_directories(app PRIVATE ${shared}/app ${here}/src)
  nordic_form(form)
  thimble_add_model(app ${here}/${name}.pt2 TARGET ${NORDIC_TARGET} CALIBRATE ${here}/calibrate.npz NAME ${name}
                    OPTIONS --npu-small --axon ${form} ${arg_OPTIONS})
  if(arg_SAMPLES)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/thimble/app) # the output folder of thimble_add_model
    add_custom_command(OUTPUT ${folder}/inputs.h
      COMMAND ${Python3_EXECUTABLE} ${shared}/inputs.py ${here}/test.npz ${folder}/${name}.json --samples ${arg_SAMPLES}
              -o ${folder}/inputs.h
      DEPENDS ${here}/test.npz ${folder}/${name}.json ${shared}/inputs.py VERBATIM)
    target_sources(app PRIVATE ${folder}/inputs.h)
  endif()
endfunction()
