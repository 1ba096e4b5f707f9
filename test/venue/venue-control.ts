import type { FaultOrder, Journal, ScheduleOrder, WorldChange } from './control.ts'

/** Steers a venue in another process. */
export interface VenueControl {
  change(change: WorldChange): Promise<void>
  addFault(order: FaultOrder): Promise<void>
  schedule(order: ScheduleOrder): Promise<void>
  clearFaults(): Promise<void>
  /** Lets an order that rests at the venue fill. False if it was filled or canceled meanwhile. */
  fill(clientOrderId: string): Promise<boolean>
  /** Closes a position by force. */
  liquidate(symbol: string): Promise<void>
  journal(): Promise<Journal>
}

export interface VenueAccess {
  readonly baseUrl: string
  readonly apiKey: string
  readonly secret: string
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
    fill: async (clientOrderId) => {
      const { filled } = (await control('POST', 'fill', { clientOrderId })) as { readonly filled: boolean }
      return filled
    },
    liquidate: (symbol) => order('POST', 'liquidate', { symbol }),
    journal: async () => (await control('GET', 'journal')) as Journal,
  }
}
