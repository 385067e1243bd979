thimble_engine(abacus HEADER target/abacus/engine.h DEVICES hostrun/abacus.h RUNNER cortex-m33)
