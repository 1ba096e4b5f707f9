import { expect, it } from 'vitest'
import { leaseFaultOf } from './lease-fault.ts'

it.each([
  [{ token: 1_000_007, endsInMs: 300_000 }, null],
  [
    { token: 1_000_008, endsInMs: 0 },
    'the store names leader 1000008, but the newest leader in the log is 7',
  ],
  [{ token: 7, endsInMs: 300_001 }, 'the lease of the leader lasts for another 300 s'],
  [{ token: 7, endsInMs: Number.POSITIVE_INFINITY }, 'the lease of the leader never ends'],
])('finds a lease that ends no leader: %j', (lease, fault) => {
  const found = leaseFaultOf(lease, 7)
  if (fault === null) expect(found).toBeNull()
  else expect(found).toContain(fault)
})
