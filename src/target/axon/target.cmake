thimble_engine(axon HEADER target/axon/engine.h DEVICES hostrun/axon.h)
