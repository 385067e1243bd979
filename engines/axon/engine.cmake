thimble_engine(axon HEADER engines/axon/compiler/engine.h DEVICES engines/axon/hostrun/axon.h)
