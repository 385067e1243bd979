thimble_engine(neutron HEADER target/neutron/engine.h)
