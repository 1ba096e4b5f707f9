/** Milliseconds of CPU that the process spent on the work. */
const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * CPU cost of handling a text, as a multiple of the cost of parsing it. The cheapest of three runs counts, because
 * garbage of other code is collected in some.
 */
export const costInParses = async (text: string, handle: () => unknown): Promise<number> => {
  const parses: number[] = []
  const handlings: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    parses.push(await cpuMs(() => JSON.parse(text) as unknown))
    handlings.push(await cpuMs(handle))
  }
  return Math.min(...handlings) / Math.max(Math.min(...parses), PARSE_MS_MIN)
}

const RUNS = 3

/** Shorter measurements are noise. */
const PARSE_MS_MIN = 5

/** A generous limit: one error object per element would cost 300 to 600 parses. */
export const COST_MAX = 40

/** Texts with as many small elements as fit into one megabyte, and with members of short names. */
export const MANY_VALUES: Readonly<Record<string, string>> = {
  numbers: `[${'0,'.repeat(500_000)}0]`,
  objects: `[${'{},'.repeat(300_000)}0]`,
  lists: `[${'[[]],'.repeat(180_000)}0]`,
  members: `{${Array.from({ length: 105_000 }, (_, index) => `"${index.toString(36)}":0`).join(',')}}`,
}
