thimble_engine(ethos_u HEADER target/ethos_u/engine.h DEVICES hostrun/npu.h)
