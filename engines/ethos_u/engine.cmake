thimble_engine(ethos_u HEADER engines/ethos_u/compiler/engine.h DEVICES engines/ethos_u/hostrun/npu.h)
