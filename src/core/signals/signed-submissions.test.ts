import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { given, NOW, testContext } from '../../../test/given.fixture.ts'
import { testSigner } from '../../../test/signer.fixture.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { contributorId, nodeId, timestampOf } from '../shared/brand.ts'
import type { Command } from '../decide.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { JsonObject } from '../shared/json.ts'
import { type SignedFields, submissionText } from './signed-submissions.ts'

const KEY = testSigner(1)
const FIELDS: SignedFields = {
  contributorId: contributorId('c1'),
  nodeId: nodeId('ann'),
  eventType: 'signal.curator.v1',
  ts: NOW,
  source: 'ann',
  dedupeKey: 'call-1',
  payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5 },
}

const registered = (publicKey: string | undefined, id = 'c1'): NewEvent => ({
  type: 'contributor.registered.v1',
  source: 'api',
  payload: {
    contributor_id: contributorId(id),
    node_id: FIELDS.nodeId,
    name: 'Ann',
    role: 'curator',
    ...(publicKey === undefined ? {} : { public_key: publicKey }),
    metadata: {},
  },
})
const removed: NewEvent = {
  type: 'contributor.removed.v1',
  source: 'api',
  payload: { contributor_id: FIELDS.contributorId, node_id: FIELDS.nodeId },
}
const keyed = registered(KEY.publicKey)

const submitted = (sent: Partial<SignedFields>, signature: string | undefined): Command => {
  const { eventType, nodeId: node, ts, source, dedupeKey, payload } = { ...FIELDS, ...sent }
  return {
    kind: 'submit-signal',
    submission: { eventType, nodeId: node, ts, source, dedupeKey, payload, signature },
  }
}
const emitted = (signature: string | undefined): Command => ({
  kind: 'emit-signal',
  emission: {
    producerId: FIELDS.nodeId,
    type: FIELDS.eventType,
    payload: FIELDS.payload,
    ts: FIELDS.ts,
    dedupeKey: FIELDS.dedupeKey,
    signature,
  },
})
const signed = (changes: Partial<SignedFields> = {}, signer = KEY): string =>
  signer.sign(submissionText({ ...FIELDS, ...changes }))
const context = () => testContext({ isSigned: (item) => signatures.isSigned(item) })

describe('a submission for a contributor with a public key', () => {
  it('is stored with its signature, which anybody can check from the log', () => {
    const signature = signed()
    given(keyed)
      .when(submitted({}, signature), context())
      .then(
        { type: 'signal.curator.v1', payload: FIELDS.payload },
        { type: 'attribution.recorded.v1', payload: { contributor_id: 'c1', node_id: 'ann', signature } },
      )
  })

  it('is the same over either tool: one dedupe key', () => {
    given(keyed)
      .when(emitted(signed()), context())
      .then(
        { type: 'signal.curator.v1' },
        { type: 'attribution.recorded.v1', payload: { signature: signed() } },
      )
  })

  it('is refused without a signature', () => {
    given(keyed).when(submitted({}, undefined), context()).thenRefused('contributor.signature_missing')
    given(keyed).when(emitted(undefined), context()).thenRefused('contributor.signature_missing')
  })

  it('is refused with the signature of another key', () => {
    const other = signed({}, testSigner(2))
    given(keyed).when(submitted({}, other), context()).thenRefused('contributor.signature_invalid')
    given(keyed).when(emitted(other), context()).thenRefused('contributor.signature_invalid')
  })

  it('is refused for another registration, another log, another author', () => {
    for (const changes of [{ contributorId: contributorId('c2') }, { nodeId: nodeId('bob') }]) {
      given(keyed)
        .when(submitted({}, signed(changes)), context())
        .thenRefused('contributor.signature_invalid')
    }
  })

  it('is refused if anything that is stored differs from what was signed', () => {
    const changed: readonly Partial<SignedFields>[] = [
      { ts: timestampOf('2026-02-20T00:29:59.000Z') },
      { source: 'telegram' },
      { dedupeKey: 'call-2' },
      { payload: { ...FIELDS.payload, conviction: 7.6 } },
      { payload: { ...FIELDS.payload, note: null } },
    ]
    for (const sent of changed) {
      given(keyed).when(submitted(sent, signed()), context()).thenRefused('contributor.signature_invalid')
    }
  })

  it('needs a time and a key', () => {
    const { submission } = submitted({}, signed()) as Extract<Command, { kind: 'submit-signal' }>
    for (const missing of [{ ts: null }, { dedupeKey: null }]) {
      given(keyed)
        .when({ kind: 'submit-signal', submission: { ...submission, ...missing } }, context())
        .thenRefused('contributor.signature_invalid')
    }
  })

  it.each(['2026-02-20T00:24:59.999Z', '2026-02-20T00:35:00.001Z'])('is refused at %s', (at) => {
    const ts = timestampOf(at)
    given(keyed)
      .when(submitted({ ts }, signed({ ts })), context())
      .thenRefused('contributor.signature_expired', { ts: at })
  })

  it('is not spoken for by the source of somebody else', () => {
    const bob: NewEvent = {
      ...registered(undefined, 'c9'),
      payload: {
        contributor_id: contributorId('c9'),
        node_id: nodeId('bob'),
        name: 'Bob',
        role: 'x',
        metadata: {},
      },
    } as NewEvent
    for (const source of ['ann', 'technical-analysis']) {
      given(keyed, bob)
        .when(submitted({ nodeId: nodeId('bob'), source }, undefined), context())
        .thenRefused('signal.source_reserved', { source })
    }
  })
})

it('a signature for a contributor without a key is refused, since nobody can check it', () => {
  given(registered(undefined))
    .when(submitted({}, signed()), context())
    .thenRefused('contributor.signature_invalid')
})

describe('the key of a contributor', () => {
  const remove = (isOperator: boolean): Command => ({
    kind: 'remove-contributor',
    id: FIELDS.contributorId,
    surface: 'api',
    isOperator,
  })
  const register = (publicKey: string | undefined, isOperator: boolean): Command => ({
    kind: 'register-contributor',
    registration: { nodeId: FIELDS.nodeId, name: 'Eve', role: 'curator', metadata: {}, publicKey },
    surface: 'api',
    isOperator,
  })
  const other = testSigner(2).publicKey

  it('lets only an operator remove it', () => {
    given(keyed).when(remove(false)).thenRefused('contributor.key_protected', { node_id: 'ann' })
    given(keyed).when(remove(true)).then({ type: 'contributor.removed.v1' })
    given(registered(undefined)).when(remove(false)).then({ type: 'contributor.removed.v1' })
  })

  it('stays with its node_id after a removal', () => {
    for (const [publicKey, isOperator] of [
      [undefined, false],
      [undefined, true],
      [other, false],
    ] as const) {
      given(keyed, removed)
        .when(register(publicKey, isOperator))
        .thenRefused('contributor.key_protected', { node_id: 'ann' })
    }
    for (const [publicKey, isOperator] of [
      [KEY.publicKey, false],
      [other, true],
    ] as const) {
      given(keyed, removed)
        .when(register(publicKey, isOperator))
        .then({ type: 'contributor.registered.v1', payload: { public_key: publicKey } })
    }
  })

  it('keeps producers from taking the name', () => {
    for (const events of [[keyed], [keyed, removed]]) {
      given(...events)
        .when({
          kind: 'register-producer',
          producer: {
            name: 'ann',
            domain: 'technical',
            endpoint: 'https://example.com',
            schedule: '* * * * *',
          },
          surface: 'api',
        })
        .thenRefused('producer.duplicate', { name: 'ann' })
    }
  })
})

describe('the name of a built-in producer, and one that looks like it', () => {
  const names = [
    'technical-analysis',
    'Technical-Analysis',
    ' technical-analysis',
    'ｔechnical-analysis\u00a0',
    '\u202etechnical\u200b-analysis',
  ]

  it.each(names)('is taken by no contributor: %j', (name) => {
    given()
      .when({
        kind: 'register-contributor',
        registration: { nodeId: nodeId(name), name: 'Eve', role: 'curator', metadata: {} },
        surface: 'api',
      })
      .thenRefused('contributor.duplicate', { node_id: name })
  })

  it.each(names)('is taken by no producer: %j', (name) => {
    given()
      .when({
        kind: 'register-producer',
        producer: { name, domain: 'technical', endpoint: 'https://example.com', schedule: '* * * * *' },
        surface: 'api',
      })
      .thenRefused('producer.duplicate', { name })
  })

  it.each(names)('is the source of no submission: %j', (name) => {
    given(keyed)
      .when(submitted({ source: name }, undefined))
      .thenRefused('signal.source_reserved', { source: name.trim() })
  })
})

describe('the text to sign', () => {
  it('is the one of docs/signing.md, with its signature', () => {
    const page = readFileSync(new URL('../../../docs/signing.md', import.meta.url), 'utf8')
    const text = submissionText({
      ...FIELDS,
      contributorId: contributorId('019c7874-0f70-7c3e-9a51-2f6f0c1b7a10'),
      ts: timestampOf('2026-02-20T00:29:58.000Z'),
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5, rationale: 'Zürich says “up”' },
    })
    expect(page).toContain(`\`\`\`text\n${text}\n\`\`\``)
    expect(page).toContain(KEY.publicKey)
    expect(page).toContain(KEY.sign(text))
  })

  it('says each member, so no submission has the text of another', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 })
    const fields = fc.record({
      contributorId: text.map(contributorId),
      nodeId: text.map(nodeId),
      eventType: text,
      ts: text.map(timestampOf),
      source: text,
      dedupeKey: text,
      payload: fc.dictionary(text, fc.jsonValue(), { noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
    })
    fc.assert(
      fc.property(fields, (said) => {
        const [prefix, json = ''] = submissionText(said).split('\n')
        expect(prefix).toBe('signal-engine/submission/v1')
        expect(JSON.parse(json)).toEqual({
          contributor_id: said.contributorId,
          dedupe_key: said.dedupeKey,
          event_type: said.eventType,
          node_id: said.nodeId,
          payload: JSON.parse(JSON.stringify(said.payload)),
          source: said.source,
          ts: said.ts,
        })
      }),
    )
  })
})
