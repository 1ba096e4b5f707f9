/**
 * Runs seeds for any time: `npm run simulate -- --minutes 60`, `--seeds 1..1000`, or `--seed 7` with a trace.
 * Prints the first seed that breaks an invariant, and replays it.
 */
import { inspect, parseArgs } from 'node:util'
import { faultsOf } from './faults.fixture.ts'
import { simulate, type SimulationResult } from './simulate.fixture.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string' },
    faults: { type: 'string', default: 'default' },
    rounds: { type: 'string', default: '3' },
  },
})

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const rounds = Number(values.rounds)
const faults = faultsOf(values.faults)
const totals = new Map<string, number>()
const add = (name: string, by: number): void => void totals.set(name, (totals.get(name) ?? 0) + by)

const summary = (runs: number): void => {
  for (const [name, count] of [...totals].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    say(`${String(count).padStart(12)} ${name}`)
  say(`${runs} seeds, ${Math.round((totals.get('simulated minutes') ?? 0) / 60)} simulated hours`)
}

const count = ({ counts, steps, events, simulatedMs }: SimulationResult): void => {
  for (const [name, by] of counts) add(name, by)
  add('steps', steps)
  add('events stored', events)
  add('simulated minutes', Math.round(simulatedMs / 60_000))
}

const [first, last] = (() => {
  if (values.seed !== undefined) return [Number(values.seed), Number(values.seed)]
  const [from = '1', to = 'Infinity'] = (values.seeds ?? '1..').split('..')
  return [Number(from), to === '' ? Number.POSITIVE_INFINITY : Number(to)]
})()
const minutes =
  values.minutes === undefined ? (last === Number.POSITIVE_INFINITY ? 1 : Infinity) : Number(values.minutes)
const endMs = Date.now() + minutes * 60_000

let seedNow = first
// An unhandled rejection would have ended the process in the service.
process.on('unhandledRejection', (error) => {
  say(`seed ${seedNow}: an error that nobody handles: ${inspect(error)}`)
  process.exit(1)
})

let runs = 0
let isBroken = false
for (let seed = first; seed <= last && Date.now() < endMs && !isBroken; seed += 1) {
  seedNow = seed
  try {
    const trace = values.seed === undefined ? {} : { trace: say }
    count(await simulate({ seed, faults, rounds, isAudited: true, ...trace }))
    runs += 1
    if (runs % 100 === 0) say(`${runs} seeds, up to ${seed}`)
  } catch (error) {
    isBroken = true
    say(`seed ${seed}: ${inspect(error)}`)
    say(`replay it with: npm run simulate -- --seed ${seed} --faults ${values.faults} --rounds ${rounds}`)
  }
}
summary(runs)
process.exit(isBroken ? 1 : 0)
