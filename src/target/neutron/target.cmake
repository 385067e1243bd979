thimble_engine(neutron HEADER target/neutron/engine.h DEVICES hostrun/neutron.h)
