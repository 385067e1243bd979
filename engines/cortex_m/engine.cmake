thimble_engine(cortex_m CORES compiler/cortex_m.h)
