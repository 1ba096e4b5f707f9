import { monitorEventLoopDelay } from 'node:perf_hooks'

/** One line of the report: a ratio taken in one run, or a plain figure where there is nothing to compare with. */
export interface BenchRow {
  readonly id: string
  readonly what: string
  readonly value: number
  readonly target: string
  readonly baseline: string
}

/** Runs every case once per round, so that whatever else the machine does hits all of them alike. */
export const interleave = async <Name extends string>(
  rounds: number,
  cases: Readonly<Record<Name, () => number | Promise<number>>>,
): Promise<Readonly<Record<Name, readonly number[]>>> => {
  const names = Object.keys(cases) as Name[]
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) results[name].push(await cases[name]())
  }
  return results
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]]
  return (low + high) / 2
}

export const quantile = (values: ArrayLike<number>, share: number): number => {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The median of the ratios of each round: a round in which the machine was busy was so for both. */
export const medianRatio = (values: readonly number[], baselines: readonly number[]): number =>
  median(values.map((value, round) => value / (baselines[round] ?? Number.NaN)))

/** How many per second. */
export const rateOf = async (count: number, work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return (count * 1000) / (performance.now() - start)
}

/** How long things wait for the event loop of this thread while the work is done. */
export const loopDelayP99Ms = async (work: () => Promise<unknown>): Promise<number> => {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  delay.disable()
  return delay.percentile(99) / 1e6
}

export const tableOf = (rows: readonly BenchRow[]): string => {
  const cells = [
    ['id', 'value', 'target', 'what', 'against'],
    ...rows.map(({ id, value, target, what, baseline }) => [
      id,
      value.toPrecision(3),
      target,
      what,
      baseline,
    ]),
  ]
  const widths = cells.reduce<readonly number[]>(
    (known, row) => row.map((cell, column) => Math.max(cell.length, known[column] ?? 0)),
    [],
  )
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
