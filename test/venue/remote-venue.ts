import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { FaultOrder, Journal, ScheduleOrder, WorldChange } from './control.ts'

/** A venue in a process of its own. */
export interface RemoteVenue {
  readonly baseUrl: string
  readonly apiKey: string
  readonly secret: string
  change(change: WorldChange): Promise<void>
  addFault(order: FaultOrder): Promise<void>
  schedule(order: ScheduleOrder): Promise<void>
  clearFaults(): Promise<void>
  /** Lets an order that rests at the venue fill. */
  fill(clientOrderId: string): Promise<void>
  /** Closes a position by force. */
  liquidate(symbol: string): Promise<void>
  journal(): Promise<Journal>
  close(): Promise<void>
}

export const startRemoteVenue = async (perpetuals: readonly string[] = []): Promise<RemoteVenue> => {
  const child = spawn(process.execPath, ['--import', LOADER, PROGRAM, ...perpetuals], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const told = JSON.parse(line) as Pick<RemoteVenue, 'baseUrl' | 'apiKey' | 'secret'>

  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const response = await fetch(`${told.baseUrl}/control/${path}`, init)
    if (!response.ok) throw new Error(`the venue says ${response.status} to ${method} ${path}`)
    return response.json()
  }
  const order = async (method: string, path: string, body?: unknown): Promise<void> => {
    await control(method, path, body)
  }

  return {
    ...told,
    change: (change) => order('POST', 'world', change),
    addFault: (fault) => order('POST', 'faults', fault),
    schedule: (schedule) => order('POST', 'schedule', schedule),
    clearFaults: () => order('DELETE', 'faults'),
    fill: (clientOrderId) => order('POST', 'fill', { clientOrderId }),
    liquidate: (symbol) => order('POST', 'liquidate', { symbol }),
    journal: async () => (await control('GET', 'journal')) as Journal,
    close: async () => {
      child.stdin.end()
      await exited
    },
  }
}

const PROGRAM = new URL('./venue-process.ts', import.meta.url).pathname
const LOADER = new URL('../../tools/typescript-loader.mjs', import.meta.url).href
