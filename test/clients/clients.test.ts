import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  SignalEngine,
  signingKey,
  submissionText,
  type JsonObject,
} from '../../clients/typescript/signal-engine.ts'
import { contributorId, nodeId, timestampOf } from '../../src/core/shared/brand.ts'
import { submissionText as textOfCore } from '../../src/core/signals/signed-submissions.ts'
import { eventsOf, register } from '../interface/acts.ts'
import { cleanUp, newHome, startService, TOKEN, type RunningService } from '../interface/service.ts'

const PYTHON_CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url))

/** Runs a script that has the client, the service and its input; gives what it prints. */
const python = async (script: string, input: unknown = null): Promise<unknown> => {
  const head = 'import json, sys\nfrom signal_engine import *\n'
  const child = spawn('python3', ['-c', `${head}${script}`], {
    env: { ...process.env, PYTHONPATH: PYTHON_CLIENT, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(JSON.stringify(input))
  const [printed, failure] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (failure !== '') throw new Error(failure)
  return JSON.parse(printed)
}

const hasPython = await python('print("true")').catch(() => false)

const SEED = Buffer.alloc(32, 1)
const PAYLOAD = { symbol: 'BTC', direction: 'bullish', conviction: 7, rationale: 'Zürich says “up” 🚀' }

let service: RunningService
beforeAll(async () => {
  service = await startService(await newHome())
})
afterAll(cleanUp)

const signaturesOf = async (node: string): Promise<readonly unknown[]> =>
  (await eventsOf(service, 'attribution.recorded'))
    .filter(({ payload }) => payload['node_id'] === node)
    .map(({ payload }) => payload['signature'])

describe('the TypeScript client', () => {
  const engine = () => new SignalEngine({ baseUrl: service.baseUrl, token: TOKEN })

  it('registers a key and signs in one call', async () => {
    const key = signingKey()
    const { id } = await engine().register({
      nodeId: 'ts',
      name: 'T',
      role: 'agent',
      publicKey: key.publicKey,
    })
    const submission = { nodeId: 'ts', payload: PAYLOAD, ts: new Date(), dedupeKey: 'once' }
    const first = await engine().submit(submission, { signWith: key })
    expect(first.contributor_id).toBe(id)
    expect(await engine().submit(submission, { signWith: key })).toEqual(first)
    expect(await signaturesOf('ts')).toEqual([expect.stringMatching(/^[0-9a-f]{128}$/)])
    await expect(engine().submit(submission)).rejects.toMatchObject({ code: 'contributor.signature_missing' })
    await expect(engine().submit(submission, { signWith: signingKey() })).rejects.toMatchObject({
      status: 403,
      code: 'contributor.signature_invalid',
    })
  })

  it('signs the source as it is stored: trimmed, and the node where it is blank', async () => {
    const key = signingKey()
    await engine().register({ nodeId: 'spaced', name: 'S', role: 'agent', publicKey: key.publicKey })
    for (const source of [' operator:telegram ', '', '  '])
      await engine().submit({ nodeId: 'spaced', payload: PAYLOAD, source }, { signWith: key })
    expect(await signaturesOf('spaced')).toHaveLength(3)
  })

  it('submits without a key for a contributor that has none', async () => {
    await register(service, 'plain')
    await engine().submit({ nodeId: 'plain', payload: PAYLOAD })
    expect(await signaturesOf('plain')).toEqual([undefined])
  })
})

describe.skipIf(hasPython === false)('the Python client', () => {
  const connect = () =>
    `engine = SignalEngine(${JSON.stringify(service.baseUrl)}, ${JSON.stringify(TOKEN)})\n`

  it('registers a key and signs in one call', async () => {
    const script = `${connect()}
payload = json.load(sys.stdin)
key = SigningKey.generate()
contributor = engine.register("py", "P", "agent", public_key=key.public_key)
now = datetime.now(timezone.utc)
first = engine.submit("py", payload, ts=now, dedupe_key="once", sign_with=key)
again = engine.submit("py", payload, ts=now, dedupe_key="once", sign_with=key)
codes = []
for other in [None, SigningKey.generate()]:
    try:
        engine.submit("py", payload, ts=now, dedupe_key="once", sign_with=other)
    except SignalEngineError as error:
        codes.append([error.status, error.code])
print(json.dumps([contributor["id"] == first["contributor_id"], first == again, codes]))
`
    expect(await python(script, PAYLOAD)).toEqual([
      true,
      true,
      [
        [403, 'contributor.signature_missing'],
        [403, 'contributor.signature_invalid'],
      ],
    ])
    expect(await signaturesOf('py')).toEqual([expect.stringMatching(/^[0-9a-f]{128}$/)])
  })

  it('signs the source as it is stored: trimmed, and the node where it is blank', async () => {
    const script = `${connect()}
key = SigningKey.generate()
engine.register("py-spaced", "P", "agent", public_key=key.public_key)
for source in [" operator:telegram ", "", "  "]:
    engine.submit("py-spaced", {}, source=source, sign_with=key)
print("true")
`
    expect(await python(script)).toBe(true)
    expect(await signaturesOf('py-spaced')).toHaveLength(3)
  })

  it('signs as the TypeScript client does, with and without a package', async () => {
    const key = signingKey(SEED)
    const script = `
said = json.load(sys.stdin)
key = SigningKey(bytes([1]) * 32)
print(json.dumps([key.public_key, key.sign(said), pure_python_sign(key.seed, said.encode()).hex()]))
`
    const said = submissionText(PAYLOAD)
    expect(await python(script, said)).toEqual([key.publicKey, key.sign(said), key.sign(said)])
  })
})

describe('the text to sign', () => {
  const payloads = fc.sample(
    fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue(), { noNullPrototype: true }),
    {
      numRuns: 300,
      seed: 1,
    },
  ) as readonly JsonObject[]
  const edges = [
    1e21, 1e-7, 5e-324, 123456789012345680000, 0.000001, -0, 7.0, 333333333.3333333, 1e23, -1.5e-9,
  ]
  const said = [...payloads, { edges, '\u{1f600}': 1, '\ufb33': 2, é: '\u2028\u007f\u0001"\\/' }].map(
    (payload) => ({
      contributor_id: 'c1',
      dedupe_key: 'k',
      event_type: 'signal.curator.v1',
      node_id: 'n1',
      payload,
      source: 'n1',
      ts: '2026-02-20T00:29:58.000Z',
    }),
  )
  const wanted = said.map(({ payload }) =>
    textOfCore({
      contributorId: contributorId('c1'),
      dedupeKey: 'k',
      eventType: 'signal.curator.v1',
      nodeId: nodeId('n1'),
      payload,
      source: 'n1',
      ts: timestampOf('2026-02-20T00:29:58.000Z'),
    }),
  )

  it('is that of the service in TypeScript', () => {
    expect(said.map((fields) => submissionText(fields))).toEqual(wanted)
  })

  it.skipIf(hasPython === false)('is that of the service in Python', async () => {
    const script = 'print(json.dumps([submission_text(fields) for fields in json.load(sys.stdin)]))'
    expect(await python(script, said)).toEqual(wanted)
  })
})
