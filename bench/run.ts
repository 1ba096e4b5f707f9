import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { benchBacktest } from './backtest/backtest.ts'
import { benchEngineAppend } from './engine/append.ts'
import { benchClosedHistory } from './engine/closed-history.ts'
import { benchCycle } from './engine/cycle.ts'
import { benchMonitoring } from './engine/monitoring.ts'
import { benchSettle } from './engine/settle.ts'
import { benchStart } from './engine/start.ts'
import { benchStops } from './engine/stops.ts'
import { tableOf, type BenchRow } from './harness.ts'
import { benchInterface } from './http/interface.ts'
import { benchPressure } from './http/pressure.ts'
import { benchStream } from './http/stream.ts'
import { benchLearning } from './learning/learning.ts'
import { benchSizing } from './sizing/sizing.ts'
import { benchPostgres } from './store/postgres.ts'
import { benchSqlite } from './store/sqlite.ts'
import { benchVerify } from './store/verify.ts'
import { benchStartup } from './startup/startup.ts'

/** `npm run bench`, `npm run bench -- engine`, `npm run bench -- --quick`. */
const words = process.argv.slice(2)
const quick = words.includes('--quick')
const wanted = words.filter((word) => word !== '--quick')
const [rounds, events] = quick ? [3, 100_000] : [7, 1_000_000]

const GROUPS: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  backtest: () => benchBacktest(rounds, quick),
  brain: () => benchCycle(events, rounds),
  engine: () => benchEngineAppend(rounds),
  interface: () => benchInterface({ rounds, events }),
  learning: () => benchLearning(quick),
  load: benchPressure,
  orders: async () => [
    ...(await benchStops(quick)),
    ...(await benchMonitoring(rounds)),
    ...(await benchClosedHistory(events / 10, rounds)),
  ],
  postgres: () => benchPostgres(rounds),
  settle: () => benchSettle(events, rounds),
  sizing: async () => benchSizing(quick),
  sqlite: () => benchSqlite({ rounds, events }),
  start: () => benchStart(events, rounds),
  startup: () => benchStartup(rounds),
  stream: benchStream,
  verify: () => benchVerify(rounds, events),
}

for (const name of wanted) {
  if (!Object.hasOwn(GROUPS, name))
    throw new Error(`no bench is called ${name}; there are ${Object.keys(GROUPS).join(', ')}`)
}

const began = new Date()
const loadBefore = loadavg()[0]
const rows: BenchRow[] = []
for (const [name, bench] of Object.entries(GROUPS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  process.stdout.write(`\n${name}\n`)
  const measured = await bench()
  rows.push(...measured)
  process.stdout.write(`${tableOf(measured)}\n`)
}

// The runner starts benches in the root of the project.
const file = `bench/results/${began.toISOString().replaceAll(':', '-')}.json`
mkdirSync('bench/results', { recursive: true })
const machine = { node: process.version, cores: availableParallelism(), load_before: loadBefore }
writeFileSync(file, `${JSON.stringify({ at: began.toISOString(), quick, machine, rows }, null, 2)}\n`)
process.stdout.write(`\nwritten to ${file}\n`)
