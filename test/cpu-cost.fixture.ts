/** Milliseconds of CPU that the process spent on it. */
const cpuMs = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * How many times the cost of parsing a text its handling has. The cheapest of three runs: the garbage of others is collected
 * in some.
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

/** Below this, the measurement is noise. */
const PARSE_MS_MIN = 5

/** Generous: a fault per element costs 300 to 600 parses. */
export const COST_MAX = 40

/** As many small elements as fit into one megabyte, and members with short names. */
export const MANY_VALUES: Readonly<Record<string, string>> = {
  numbers: `[${'0,'.repeat(500_000)}0]`,
  objects: `[${'{},'.repeat(300_000)}0]`,
  lists: `[${'[[]],'.repeat(180_000)}0]`,
  members: `{${Array.from({ length: 105_000 }, (_, index) => `"${index.toString(36)}":0`).join(',')}}`,
}
