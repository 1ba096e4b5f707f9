import { afterEach, expect, it } from 'vitest'
import type { Leadership, Lease } from './leadership.ts'

/** What every leadership does. `open` gives another process's view of the same log each time. */
export const leadershipContract = (name: string, open: () => Promise<Leadership>): void => {
  const leases: Lease[] = []
  const tried = async (leadership: Leadership): Promise<Lease | null> => {
    const lease = await leadership.tryToLead()
    if (lease !== null) leases.push(lease)
    return lease
  }
  afterEach(async () => {
    for (const lease of leases.splice(0)) await lease.release()
  })

  it(`${name}: one leads, the others do not, until it ends`, async () => {
    const [first, second] = [await open(), await open()]
    const lease = await tried(first)
    expect(lease).not.toBeNull()
    expect(await tried(second)).toBeNull()
    expect(await tried(second)).toBeNull()
    await lease?.release()
    await lease?.ended
    const next = await tried(second)
    expect(next).not.toBeNull()
    expect(await tried(first)).toBeNull()
  })

  it(`${name}: may be released twice`, async () => {
    const lease = await tried(await open())
    await lease?.release()
    await lease?.release()
    expect(await tried(await open())).not.toBeNull()
  })
}
