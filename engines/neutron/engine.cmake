thimble_engine(neutron HEADER engines/neutron/compiler/engine.h DEVICES engines/neutron/hostrun/neutron.h)
