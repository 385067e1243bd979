thimble_engine(abacus HEADER engines/abacus/compiler/engine.h DEVICES engines/abacus/hostrun/abacus.h RUNNER cortex-m33)
