thimble_engine(axon HEADER target/axon/engine.h)
