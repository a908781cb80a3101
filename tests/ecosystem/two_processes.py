"""The jobs over eight devices of two processes: `two_processes.py ADDRESS COUNT NUMBER`."""

import sys

import jax
import numpy as np

from tests.ecosystem.sharded_jobs import arguments, collectives, JOBS, lower, make_mesh, place


def main():
    address, count, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    jax.config.update("jax_num_cpu_devices", 4)
    jax.distributed.initialize(address, count, number)
    mesh, values = make_mesh(8), arguments()
    for job in JOBS:
        given = place(job, mesh)
        compiled = lower(job, mesh).lower(*given).compile()
        assert {name for name, _ in collectives(compiled)} == job.sends, job.name
        got, want = compiled(*given), jax.jit(job.run)(*(values[name] for name in job.takes))
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
            assert len(a.addressable_shards) == 4 and len(a.sharding.device_set) == 8
            for part in a.addressable_shards:
                np.testing.assert_allclose(part.data, b[part.index], rtol=1e-5, atol=1e-6)
    print(f"process {number}: {len(JOBS)} jobs equal those of one device", flush=True)


main()
