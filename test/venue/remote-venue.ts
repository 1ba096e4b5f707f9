import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { FaultOrder, Journal, ScheduleOrder, WorldChange } from './control.ts'
import type { Pace } from './fast-time.ts'

/** Steers a venue in another process. */
export interface VenueControl {
  change(change: WorldChange): Promise<void>
  addFault(order: FaultOrder): Promise<void>
  schedule(order: ScheduleOrder): Promise<void>
  clearFaults(): Promise<void>
  /** Lets an order that rests at the venue fill. */
  fill(clientOrderId: string): Promise<void>
  /** Closes a position by force. */
  liquidate(symbol: string): Promise<void>
  journal(): Promise<Journal>
}

/** A venue in a process of its own. */
export interface RemoteVenue extends VenueControl, VenueAccess {
  close(): Promise<void>
}

export interface VenueAccess {
  readonly baseUrl: string
  readonly apiKey: string
  readonly secret: string
}

export interface RemoteVenueOptions {
  readonly perpetuals?: readonly string[]
  /** As fast as the machine's clock, unless told. */
  readonly pace?: Pace
}

export const startRemoteVenue = async (options: RemoteVenueOptions = {}): Promise<RemoteVenue> => {
  const child = spawn(process.execPath, ['--import', LOADER, PROGRAM, JSON.stringify(options)], {
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

export const controlOfVenue = (baseUrl: string): VenueControl => {
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const response = await fetch(`${baseUrl}/control/${path}`, init)
    if (!response.ok) throw new Error(`the venue says ${response.status} to ${method} ${path}`)
    return response.json()
  }
  const order = async (method: string, path: string, body?: unknown): Promise<void> => {
    await control(method, path, body)
  }
  return {
    change: (change) => order('POST', 'world', change),
    addFault: (fault) => order('POST', 'faults', fault),
    schedule: (schedule) => order('POST', 'schedule', schedule),
    clearFaults: () => order('DELETE', 'faults'),
    fill: (clientOrderId) => order('POST', 'fill', { clientOrderId }),
    liquidate: (symbol) => order('POST', 'liquidate', { symbol }),
    journal: async () => (await control('GET', 'journal')) as Journal,
  }
}

const PROGRAM = new URL('./venue-process.ts', import.meta.url).pathname
const LOADER = new URL('../../tools/typescript-loader.mjs', import.meta.url).href
