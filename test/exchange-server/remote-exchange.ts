import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programOf } from '../program.fixture.ts'
import type { Pace } from './fast-time.ts'
import { createExchangeControl, type ExchangeAccess, type ExchangeControl } from './control.ts'

/** A venue in a process of its own. */
export interface RemoteExchange extends ExchangeControl, ExchangeAccess {
  close(): Promise<void>
}

export interface RemoteExchangeOptions {
  readonly perpetuals?: readonly string[]
  /** Pace of the venue's clock. Default: real time. */
  readonly pace?: Pace
}

export const startRemoteExchange = async (options: RemoteExchangeOptions = {}): Promise<RemoteExchange> => {
  const child = spawn(
    process.execPath,
    [programOf('exchange-server/exchange-process'), JSON.stringify(options)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const reported = JSON.parse(line) as ExchangeAccess
  return {
    ...reported,
    ...createExchangeControl(reported.baseUrl),
    close: async () => {
      child.stdin.end()
      await exited
    },
  }
}
