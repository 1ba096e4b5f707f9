import { hasEnded, type BacktestRuns, type Run } from '../../../backtest/runs/runs.ts'
import { SHUTTING_DOWN } from '../errors.ts'
import { problem, type Problem } from '../problems.ts'
import type { StreamConnection } from '../results.ts'
import { STREAM_HEADERS } from './hub.ts'

const CLIENTS_MAX = 100

/** How often a client hears of the progress of one run at most. */
const EVERY_MS = 250

/** Beyond that a proxy would take the connection for dead. */
const KEEP_ALIVE_MS = 15_000

/** Clients that follow backtests and sweeps as server-sent events: one run until it has ended, or all. */
export class RunStreams {
  readonly #runs: BacktestRuns
  readonly #ends = new Set<() => void>()
  #isClosed = false

  constructor(runs: BacktestRuns) {
    this.#runs = runs
  }

  /** `followed` is null for all; `first` is what is known now. */
  open(connection: StreamConnection, followed: Run | null, first: readonly Run[]): Problem | null {
    if (this.#isClosed) return SHUTTING_DOWN
    if (this.#ends.size >= CLIENTS_MAX)
      return problem(
        'stream.too_many_clients',
        `Stream client limit (${CLIENTS_MAX}) reached; try again later`,
      )
    const { response } = connection
    connection.begin(STREAM_HEADERS, Buffer.concat([BEGIN, ...first.map(frameOf)]))
    if (followed !== null && hasEnded(followed)) {
      response.end()
      return null
    }
    const sentMs = new Map<string, number>()
    const stopListening = this.#runs.onChange((run) => {
      if (followed !== null && run.id !== followed.id) return
      const nowMs = performance.now()
      const isProgress = run.status === 'running' && run.progress > 0
      // Progress may be left out, what ended may not.
      if (isProgress && (nowMs - (sentMs.get(run.id) ?? 0) < EVERY_MS || response.writableNeedDrain)) return
      if (!connection.isAuthorized()) return end()
      sentMs.set(run.id, nowMs)
      response.write(frameOf(run))
      if (!hasEnded(run)) return
      sentMs.delete(run.id)
      if (followed !== null) end()
    })
    const keepAlive = setInterval(() => {
      if (!connection.isAuthorized()) return end()
      if (!response.writableNeedDrain) response.write(': keep-alive\n\n')
    }, KEEP_ALIVE_MS)
    const end = (): void => {
      stopListening()
      clearInterval(keepAlive)
      this.#ends.delete(end)
      response.end()
    }
    this.#ends.add(end)
    connection.onClosed(end)
    return null
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#ends) end()
  }
}

const BEGIN = Buffer.from('retry: 2000\n\n')

const frameOf = (run: Run): Buffer => Buffer.from(`event: backtest\ndata: ${JSON.stringify({ run })}\n\n`)
