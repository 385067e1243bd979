# SPDX-License-Identifier: Apache-2.0
# The network and sample images, compiled with the application.
set(THIMBLE_ROOT ${CMAKE_CURRENT_LIST_DIR}/../../../.. CACHE PATH "Thimble's source tree")
set(NEUTRON "" CACHE STRING "What the NPU gets: sdk (microcode of the vendor's converter) or model (Thimble's, on the core)")
set(EIQ_NEUTRON_SDK_PATH "$ENV{EIQ_NEUTRON_SDK_PATH}" CACHE PATH "The eIQ Neutron SDK, whose converter makes microcode")
set(SAMPLES 10 CACHE STRING "How many pictures")
include(${THIMBLE_ROOT}/cmake/subproject.cmake)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

if(NOT NEUTRON)
  set(NEUTRON model)
  if(EIQ_NEUTRON_SDK_PATH)
    set(NEUTRON sdk)
  endif()
endif()
set(options --io int8 --io-layout nhwc --neutron ${NEUTRON})
if(NEUTRON STREQUAL "sdk")
  list(APPEND options --neutron-sdk ${EIQ_NEUTRON_SDK_PATH})
endif()
set(model ${THIMBLE_ROOT}/models/cifarnet)
thimble_add_model(${MCUX_SDK_PROJECT_NAME} ${model}/cifarnet.pt2 TARGET imxrt700cm CALIBRATE ${model}/calibrate.npz
                  NAME cifarnet OPTIONS ${options})
if(NEUTRON STREQUAL "model")
  target_link_libraries(${MCUX_SDK_PROJECT_NAME} PRIVATE thimble_neutron_model)
endif()

set(folder ${CMAKE_CURRENT_BINARY_DIR}/thimble/${MCUX_SDK_PROJECT_NAME}) # the output folder of thimble_add_model
set(header ${THIMBLE_ROOT}/examples/nordic/shared/inputs.py)
add_custom_command(OUTPUT ${folder}/inputs.h
  COMMAND ${Python3_EXECUTABLE} ${header} ${model}/test.npz ${folder}/cifarnet.json --samples ${SAMPLES} --nhwc
          -o ${folder}/inputs.h
  DEPENDS ${model}/test.npz ${folder}/cifarnet.json ${header} VERBATIM)
target_sources(${MCUX_SDK_PROJECT_NAME} PRIVATE ${folder}/inputs.h)
