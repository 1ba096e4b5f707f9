import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programOf } from '../program.ts'
import type { Pace } from './fast-time.ts'
import { controlOfVenue, type VenueAccess, type VenueControl } from './venue-control.ts'

/** A venue in a process of its own. */
export interface RemoteVenue extends VenueControl, VenueAccess {
  close(): Promise<void>
}

export interface RemoteVenueOptions {
  readonly perpetuals?: readonly string[]
  /** As fast as the machine's clock, unless told. */
  readonly pace?: Pace
}

export const startRemoteVenue = async (options: RemoteVenueOptions = {}): Promise<RemoteVenue> => {
  const child = spawn(process.execPath, [programOf('venue/venue-process'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const told = JSON.parse(line) as VenueAccess
  return {
    ...told,
    ...controlOfVenue(told.baseUrl),
    close: async () => {
      child.stdin.end()
      await exited
    },
  }
}
