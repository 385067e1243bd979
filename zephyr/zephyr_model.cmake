# thimble_zephyr_model(MODEL.pt2 [TARGET name] [CALIBRATE DATA.npz] [NAME name] [OPTIONS ...])
#
# thimble_add_model for the application. TARGET is CONFIG_THIMBLE_TARGET by default. A target whose instructions the build of
# the board does not have is an error that names the option.
include_guard(GLOBAL)

# Ends the configuration if the board is built without the instructions of the target.
function(thimble_zephyr_check_target target)
  execute_process(COMMAND ${THIMBLE_PROGRAM} targets ${target} --json OUTPUT_VARIABLE facts ERROR_VARIABLE error
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "thimble_zephyr_model: TARGET ${target}: ${error}")
  endif()
  string(JSON isa GET "${facts}" isa)
  string(JSON cpu GET "${facts}" cpu)
  set(ranks thumb1 thumb2 dsp mve) # each contains those before
  list(FIND ranks "${isa}" needed)
  list(FIND ranks "${CONFIG_THIMBLE_ISA}" available)
  if(needed GREATER available)
    set(option_mve "CONFIG_FPU, with a core that selects CONFIG_ARMV8_1_M_MVEI")
    set(option_dsp "CONFIG_ARMV8_M_DSP")
    set(option_thumb2 "CONFIG_ARMV7_M_ARMV8_M_MAINLINE")
    message(FATAL_ERROR "thimble_zephyr_model: TARGET ${target} is for a ${cpu} with ${isa} instructions, but "
                        "${BOARD}${BOARD_QUALIFIERS} is built with ${CONFIG_THIMBLE_ISA} instructions only; needed: ${option_${isa}}")
  endif()
endfunction()

function(thimble_zephyr_model model)
  cmake_parse_arguments(arg "" "TARGET;NAME" "" ${ARGN})
  if(NOT THIMBLE_PROGRAM)
    message(FATAL_ERROR "thimble_zephyr_model: the program `thimble` was not found: `pip install thimble-ml`, or set "
                        "-DTHIMBLE_PROGRAM=FILE")
  endif()
  set(target ${CONFIG_THIMBLE_TARGET})
  if(arg_TARGET)
    set(target ${arg_TARGET})
  endif()
  if(NOT target)
    message(FATAL_ERROR "thimble_zephyr_model: no target for the core of ${BOARD}: set CONFIG_THIMBLE_TARGET, or pass TARGET")
  endif()
  thimble_zephyr_check_target(${target})
  set(name ${arg_NAME})
  if(NOT name)
    get_filename_component(name ${model} NAME_WE)
  endif()
  message(STATUS "Thimble: ${name} for ${target}")
  thimble_add_model(app ${model} ${arg_UNPARSED_ARGUMENTS} TARGET ${target} NAME ${name})
  # The library of the model has the options of the application, but the C++ standard of the runtime.
  target_link_libraries(app_${name} PRIVATE zephyr_interface)
  get_target_property(sources app_${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set_property(SOURCE ${sources} TARGET_DIRECTORY app_${name} APPEND PROPERTY COMPILE_OPTIONS -std=c++17)
  add_dependencies(app_${name} zephyr_generated_headers)
endfunction()
