# The core of a Zephyr build. Compilers define no macro for the Cortex-M7, whose loops differ (kernels/dsp/dual_issue.h).
if(CONFIG_CPU_CORTEX_M7 AND TARGET thimble_device_kernels)
  target_compile_definitions(thimble_device_kernels PRIVATE THIMBLE_DUAL_ISSUE=1)
endif()
