import { expect, it } from 'vitest'
import { recordsAfter } from '../../../test/records.fixture.ts'
import { EMPTY_HEAD, stampedFrom } from '../../core/log/event.ts'
import { FindingList } from './findings.ts'

const TYPES = [
  'market.bar.v1',
  'execution.position_closed.v1',
  'execution.position_opened.v1',
  'other.kind.v1',
]
const events = recordsAfter(EMPTY_HEAD, 150, (seq) => ({ type: TYPES[seq % TYPES.length] ?? '' })).map(
  stampedFrom,
)
const [position, entry, other, bar] = events as [
  (typeof events)[0],
  (typeof events)[0],
  (typeof events)[0],
  (typeof events)[0],
]

it('counts what was decided again by its kind, and batches by whether they were audited', () => {
  const list = new FindingList()
  list.same(bar)
  list.same(position)
  list.same(position)
  list.same(entry)
  list.notRerun(other, 'it was never known')
  list.batchAudited()
  list.batchAudited()
  list.batchWithoutCommands()
  list.notRerun(bar, 'it was forgotten')
  const { kinds, ...report } = list.report(3, 9)
  expect(report).toEqual({
    ok: true,
    first_seq: 3,
    last_seq: 9,
    decisions: 6,
    batches: 2,
    batches_without_commands: 1,
    not_rerun: { 'it was never known': 1, 'it was forgotten': 1 },
    different: 0,
    findings: [],
  })
  expect(kinds).toEqual([
    { kind: 'bar accepted', same: 1, different: 0, not_rerun: 1 },
    { kind: 'exit', same: 2, different: 0, not_rerun: 0 },
    { kind: 'other.kind', same: 0, different: 0, not_rerun: 1 },
    { kind: 'position', same: 1, different: 0, not_rerun: 0 },
  ])
})

it('says what differs, where, and how', () => {
  const list = new FindingList()
  const differences = [{ path: 'payload.price', stored: 1, decided: 2 }] as never
  list.different(position, differences)
  list.unexplained(entry)
  list.missing(bar, other)
  const { ok, different, findings } = list.report(1, 4)
  expect([ok, different]).toEqual([false, 3])
  expect(findings).toMatchObject([
    { seq: position.seq, id: position.id, kind: 'exit', fault: 'changed', differences },
    { seq: entry.seq, kind: 'position', fault: 'not_decided', differences: [] },
    { seq: other.seq, id: bar.id, kind: 'bar accepted', fault: 'missing', differences: [] },
  ])
})

it('shows the first hundred, and counts all', () => {
  const list = new FindingList()
  for (const event of events) list.unexplained(event)
  const { different, findings } = list.report(1, 150)
  expect(different).toBe(150)
  expect(findings.map(({ seq }) => seq)).toEqual(events.slice(0, 100).map(({ seq }) => seq))
})
