# nordic_example(NAME [SAMPLES n] [OPTIONS ...]): what an application of this folder consists of. Its network becomes a `.pte`
# in flash when the application is built (OPTIONS go to `thimble compile`), and the first n samples of test.npz become inputs.h.
# Small networks are told to stay on the NPU, although the core alone would be quicker with them.
set(NORDIC_TARGET nrf54lm20b CACHE STRING "What the network is compiled for: one of `thimble targets`")
set(NORDIC_AXON "" CACHE STRING "How the NPU gets its program: program, header or layers (thimble compile --axon)")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Where Nordic's compiler library is, it makes the program. Layer lists alone are for boards that compute them on the core.
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
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/thimble/app) # where thimble_add_model writes
    add_custom_command(OUTPUT ${folder}/inputs.h
      COMMAND ${Python3_EXECUTABLE} ${shared}/inputs.py ${here}/test.npz ${folder}/${name}.json --samples ${arg_SAMPLES}
              -o ${folder}/inputs.h
      DEPENDS ${here}/test.npz ${folder}/${name}.json ${shared}/inputs.py VERBATIM)
    target_sources(app PRIVATE ${folder}/inputs.h)
  endif()
endfunction()
