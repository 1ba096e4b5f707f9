import { timestampOf } from '../../../core/shared/brand.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Stamped } from '../../../core/log/event.ts'
import { batchSignatureOf, batchText } from '../../../core/log/batch.ts'
import { chain } from '../../../core/log/hash-chain.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['kill-switch', 'set', '1'])
})
afterEach(() => home.close())

const intent = (intent_id: string, created_at: string) => ({
  intent_id,
  trade_id: `trade of ${intent_id}`,
  node_id: 'svc-1',
  realized_pnl_usd: 73.5,
  karma_percentage: 0.005,
  karma_amount_usd: 0.3675,
  contributors: [{ contributor_id: 'c1', node_id: 'n, "1"', share: 1 }],
  mode: 'paper',
  signature_b64: 'c2lnbmVk',
  created_at,
})

/** Stores events as a release that trades would have stored them. */
const store = async (...events: readonly (readonly [type: string, payload: Stamped['payload']])[]) => {
  const before = await home.records()
  const last = before.at(-1)
  const stamped = events.map(([type, payload], index): Stamped => ({
    seq: before.length + index + 1,
    id: `event-${index}`,
    type,
    ts: timestampOf('2026-02-20T00:30:00.000Z'),
    source: 'karma',
    traceId: null,
    dedupeKey: null,
    payload,
    recordedAt: timestampOf(last?.recordedAt ?? ''),
  }))
  const chained = chain(stamped, { hash: last?.hash ?? '' }, sha256Hex)
  const signer = home.signer()
  const batchSignature = batchSignatureOf(chained.length, signer.sign(batchText(chained, null, sha256Hex)))
  await home.replaceRecords([
    ...before,
    ...chained.map((record, index) => ({
      ...record,
      signature: signer.sign(record.payload),
      signer: signer.nodeId,
      commands: null,
      batchSignature: index === chained.length - 1 ? batchSignature : null,
    })),
  ])
}

/** Removes signatures, as an attacker with write access to the database and no key would. */
const strip = async (): Promise<void> =>
  home.replaceRecords(
    (await home.records()).map((record) =>
      record.type.startsWith('karma.') ? { ...record, batchSignature: null } : record,
    ),
  )

const DAY1 = timestampOf('2026-02-19T10:00:00.000Z')
const DAY2 = timestampOf('2026-02-20T10:00:00.000Z')

const storeTwo = () =>
  store(
    ['karma.intent.v1', intent('i1', DAY1)],
    ['karma.intent.v1', intent('i2', DAY2)],
    [
      'karma.settlement.v1',
      { receipt_id: 'r1', requested_ids: ['i1'], intent_ids: ['i1'], skipped: [], total_usd: 0.3675 },
    ],
  )

it('writes intents, whether they are settled, and where they stand in the chain', async () => {
  await storeTwo()
  const { exitCode, stdout } = await home.run(['export', 'karma', '--json'])
  expect(exitCode).toBe(0)
  const records = (await home.records()).filter(({ type }) => type === 'karma.intent.v1')
  const { intent_id: _first, ...first } = intent('i1', DAY1)
  const { intent_id: _second, ...second } = intent('i2', DAY2)
  expect(JSON.parse(stdout)).toEqual([
    {
      id: 'i1',
      ...first,
      status: 'settled',
      receipt_id: 'r1',
      chain_seq: records[0]?.seq,
      chain_hash: records[0]?.hash,
    },
    {
      id: 'i2',
      ...second,
      status: 'pending',
      receipt_id: null,
      chain_seq: records[1]?.seq,
      chain_hash: records[1]?.hash,
    },
  ])
})

it('writes lines and a table', async () => {
  await storeTwo()
  const lines = (await home.run(['export', 'karma'])).stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['i1', 'i2'])
  const [heading, row] = (await home.run(['export', 'karma', '--format', 'csv'])).stdout.split('\r\n')
  expect(heading).toBe(
    'id,trade_id,node_id,realized_pnl_usd,karma_percentage,karma_amount_usd,contributors,mode,signature_b64,' +
      'created_at,status,receipt_id,chain_seq,chain_hash',
  )
  expect(row).toMatch(
    /^i1,trade of i1,svc-1,73\.5,0\.005,0\.3675,"\[\{""contributor_id"".*\}\]",paper,c2lnbmVk,.*,settled,r1,\d+,/,
  )
})

it('keeps what lies between the dates', async () => {
  await storeTwo()
  const idsOf = async (...words: readonly string[]) =>
    (JSON.parse((await home.run(['export', 'karma', '--json', ...words])).stdout) as { id: string }[]).map(
      ({ id }) => id,
    )
  expect(await idsOf('--to', '2026-02-19')).toEqual(['i1'])
  expect(await idsOf('--from', '2026-02-20')).toEqual(['i2'])
})

it('writes no intent that nobody has signed, however well it is chained', async () => {
  await storeTwo()
  await strip()
  expect((await home.run(['export', 'karma', '--json'])).stdout).toBe('[]\n')
  expect((await home.run(['export', 'events'])).stdout).toContain('trade of i1')
})

it('reads every page, and leaves out what was damaged', async () => {
  await store(
    ...Array.from({ length: 501 }, (_, index) => ['karma.intent.v1', intent(`i${index}`, DAY1)] as const),
  )
  const records = await home.records()
  const last = records.at(-1)
  if (last === undefined) throw new Error('nothing was stored')
  await home.replaceRecords([...records.slice(0, -1), { ...last, payload: '{' }])
  const { stdout } = await home.run(['export', 'karma', '--json'])
  const exported = JSON.parse(stdout) as { id: string | null }[]
  expect(exported).toHaveLength(500)
  expect(exported.at(-1)).toMatchObject({ id: 'i499', status: 'pending', chain_seq: last.seq - 1 })
})

it('goes to a file, and is empty where nothing is owed', async () => {
  expect((await home.run(['export', 'karma', '--json'])).stdout).toBe('[]\n')
  await storeTwo()
  const output = join(home.folder, 'karma.jsonl')
  const { stdout } = await home.run(['export', 'karma', '--output', output, '--json'])
  expect(JSON.parse(stdout)).toEqual({ output, format: 'jsonl', intents: 2 })
  expect((await readFile(output, 'utf8')).trimEnd().split('\n')).toHaveLength(2)
  expect((await home.run(['export', 'karma', '--format', 'xml'])).exitCode).toBe(2)
})
