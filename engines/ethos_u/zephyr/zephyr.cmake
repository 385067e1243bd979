# The delegate for ExecuTorch's own runtime, in a Zephyr build.
if(CONFIG_EXECUTORCH_BUILD_THIMBLE_ETHOS_U)
  thimble_zephyr_executorch(ethos_u)
endif()
