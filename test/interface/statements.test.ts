import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The statements that the interface was accepted by: names of their tests, by file. None may disappear. */
const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  brain: [
    'knows nothing on a fresh server',
    'runs a cycle, and tells what came of it',
    'has no opinion of a symbol that nobody speaks of',
    'does not run at level %i',
    'runs again after a reset',
    'tells the regime that the last cycle saw',
    'never trades a forbidden symbol',
  ],
  'command-line-signals': ['submits what POST /signals/submit submits, seen at once'],
  'command-line': [
    'makes a home, serves, tells where the token is but not what it is, and keeps everything',
    'is encrypted with a master password',
    'is plain text with a warning in development mode only',
    'prints one JSON document',
    '%j ends with %i',
  ],
  configuration: [
    'is shown whole, without secrets',
    'is validated without being written',
    '%j is refused',
    'is changed, written 0600 and told in an event',
    '{} and the shown configuration change nothing, and the token still works',
    'survives a restart',
    'beats the file',
    'may list origins: those may ask from browsers, others may not',
  ],
  contributors: [
    'the only one on a fresh server is the node itself',
    'are registered once, and found by their id',
    'have a score that grows with what they submit and what is used of it',
    'stand in order of their scores',
    'may bring an attestation',
  ],
  'damaged-log': ['is found, starts locked, and says what is wrong'],
  dashboard: [
    'asks for the token in a page that runs nothing but its own, and keeps it where scripts cannot look',
  ],
  karma: [
    'a profitable close owes one intent',
    'is settled, and what is unknown is left out',
    'settling it again gives the same receipt, another way is refused',
  ],
  'kill-switch': [
    'is at level 0 on a fresh server',
    'is raised with an alert and lowered without one',
    'refuses %j with 422 and writes nothing',
    'the same level again writes nothing',
    'what the command line sets, the server sees at once',
    'the level survives kill -9 and a restart',
    'with an operator token the ordinary one may look and raise, and touch nothing else',
  ],
  log: [
    'can be proved by anyone',
    'is counted in the metrics, for those who have the token or for all',
    'takes parallel writes of two processes without a fork',
    'replays to the same state',
  ],
  market: ['goes to no address of our own network, unless it may'],
  mcp: [
    'lists its tools to anybody who has the token',
    'greets a client of %s with %s',
    'speaks the newest revision',
    'tells the status as text and as data',
    'stores what a producer says',
    'shows the newest signals',
    'attribution needs a signal that exists',
    '%j is answered with %i and %i',
    'takes notifications without a word, and only POST',
  ],
  oracle: [
    'says of a stranger only that it knows nothing',
    'knows whose a signal is, whatever it says of its source',
    'gives agents the same answer',
  ],
  positions: [
    'has its members while it is open, and when it is closed',
    'whose stop is hit is closed, but not in a lockdown',
  ],
  producers: [
    'nobody is registered on a fresh server',
    'are registered once, and listed by name',
    '%j is refused',
    'are removed once',
    'say how they are',
    'hear what came of their signals',
    'are capabilities, beside tools and domains',
  ],
  signals: [
    'there are none on a fresh server',
    '%s=%s is refused',
    'come newest first, in pages, with five members each',
    'can be asked for by domain',
    'are attributed to who is behind them',
    'what is no signal has no attribution',
    'stay when their contributor is removed',
  ],
  stream: [
    'begins now, and tells each event in one line',
    'goes on where it was left',
    'tells only what was asked for, and of alerts only raises',
    'misses nothing and repeats nothing while others write',
    'has only lines of the format, and shows in silence that it lives',
    'begins now for an id that nobody knows, and says so',
    'lets go of a client that does not read, and nobody else notices',
  ],
  submissions: [
    'is stored as it was sent',
    '%j comes from %s',
    '%j is of another type',
    'is refused from somebody unknown',
    '%j is refused, and nothing is stored',
    'a number beyond all bounds is refused, and the bounds are not',
    'has the time it was given, in one form, or else now',
    'is stored once under its key, and twice without one',
    'is two events, one after the other',
  ],
  traces: [
    'are opened, listed, closed, and then take nothing more',
    'that nobody opened are not found',
    'gather the events of requests that name them',
  ],
  transport: [
    'health is public, exact, and its uptime grows',
    '"%s" is %s',
    'the scheme may be written in any case',
    'every protected endpoint shows nothing but 401 without a token',
    'the documentation and the oracle are public',
    'unknown paths and methods',
    'a trailing slash changes nothing',
    'without configured origins there is no CORS',
    '300 quick reads are all answered',
    'bad bodies',
    'bytes that are no UTF-8 are malformed',
    'every answer has a request id; a valid one is echoed',
    'the token appears nowhere in the output, not even as the name of a request',
    'a fault inside is 500 and shows nothing of itself',
    'without a token but with SVC_INSECURE_OK lets everybody in',
    'with only a token runs, saves no identity, and signs',
    'is refused without a token, and no port is opened',
  ],
  treasury: [
    'there is no position on a fresh server',
    'the treasury is empty on a fresh server',
    'what cannot be settled is refused',
  ],
  vectors: [
    'an encrypted identity is read, and signs as it must',
    'payloads are hashed in their canonical form',
    'what follows from an intent is named after it',
  ],
}

/** Test names in a file, as quoted in its source. */
const namesIn = (file: string): readonly string[] =>
  [...readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8').matchAll(TEST_NAME)].map(
    ([, , name = '']) => name,
  )

/** Matches the name of a test, or the name behind a table of cases: `it('…'` and `)('…'`. */
const TEST_NAME = /(?:\bit\(|\)\()\s*(['"`])(.*?)\1/g

const files: ReadonlySet<string> = new Set(
  readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.test.ts') && file !== 'statements.test.ts')
    .map((file) => file.replace(/\.test\.ts$/, '')),
)

describe('the acceptance statements', () => {
  it.each(Object.entries(STATEMENTS))('of %s have a test each', (file, names) => {
    const tested = new Set(namesIn(file))
    expect(names.filter((name) => !tested.has(name))).toEqual([])
  })

  it.each(Object.entries(STATEMENTS))('of %s are tested in one place each', (file, names) => {
    const wanted = new Set(names)
    const named = namesIn(file).filter((name) => wanted.has(name))
    expect(named).toHaveLength(new Set(named).size)
  })

  it('that are named belong to a file of tests', () => {
    expect(Object.keys(STATEMENTS).filter((file) => !files.has(file))).toEqual([])
  })
})
