import { expect, it } from 'vitest'
import type { Command } from './decide.ts'
import type { Stamped } from './log/event.ts'
import { timestampAt } from './shared/time.ts'
import {
  commandsText,
  configDigitsOf,
  idsOf,
  parseCommands,
  type RequestMade,
  storedRequest,
} from './stored-commands.ts'

const SEED = '019b7000-1234-7abc-9def-0123456789ab'
const AT = timestampAt(Date.UTC(2026, 1, 20))

const events = ['one', 'two', 'three'].map((name, index): Stamped => ({
  seq: 7 + index,
  id: name,
  type: 'producer.removed.v1',
  ts: AT,
  source: 'api',
  traceId: name === 'two' ? 'a trace' : null,
  dedupeKey: null,
  payload: { name: `the producer with the name ${name}` },
  recordedAt: AT,
}))

const removal = (name: string): Command => ({ kind: 'remove-producer', name, surface: 'api' })

const requests: readonly RequestMade[] = [
  {
    command: removal('the producer with the name one'),
    alongside: removal('another'),
    traceId: 'of the request alone',
    elapsedMs: [3, 4],
    events: events.slice(0, 1),
  },
  { command: removal('x'), alongside: null, traceId: 'a trace', elapsedMs: [], events: events.slice(1) },
]

const inputs = { seed: SEED, config: configDigitsOf('6f'.repeat(32)), version: '0.2.0', now: AT }
const text = commandsText(inputs, requests.map(storedRequest))

it('reads the commands of a batch as they were stored', () => {
  expect(parseCommands(text, events)).toEqual({ inputs, requests })
  expect(text).not.toContain('the producer with the name one')
})

it('leaves out a command that is much larger than its events', () => {
  const large = { ...(requests[1] as RequestMade), command: removal('x'.repeat(20_000)) }
  const [read] = parseCommands(commandsText(inputs, [storedRequest(large)]), large.events)?.requests ?? []
  expect(read).toEqual({ ...large, command: null })
})

it('reads nothing from a text of another batch or another form', () => {
  expect(parseCommands(text, events.slice(1))).toBeNull()
  expect(parseCommands(text, [...events, ...events])).toBeNull()
  for (const other of [
    '',
    '{}',
    '[]',
    text.slice(1),
    text.replace('"seed"', '"sd"'),
    text.replace('"@":0', '"@":9'),
  ])
    expect(parseCommands(other, events), other).toBeNull()
})

it('derives the same ids from the same seed, in order, and others for every other command and event', () => {
  const some = (seed: string, place: number): readonly string[] => {
    const newId = idsOf(seed, place)
    return Array.from({ length: 100 }, newId)
  }
  const all = [...some(SEED, 0), ...some(SEED, 1), ...some(SEED.replace('b', 'c'), 0)]
  expect(new Set(all).size).toBe(300)
  expect(all.slice(0, 200).toSorted()).toEqual(all.slice(0, 200))
  expect(() => idsOf(SEED, 4096)).toThrow('more than a batch may have')
  expect(some(SEED, 1)).toEqual(all.slice(100, 200))
  for (const id of all)
    expect(id).toMatch(/^019b7000-1234-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$|^019c7000-1234-7/)
})
