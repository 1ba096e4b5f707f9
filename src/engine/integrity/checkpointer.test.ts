import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  logWith,
  node,
  other,
  rootHexOf,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import { appendSaid, fill, notes, started } from '../../../test/tamper/signed-log.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Head } from '../../core/log/event.ts'
import { originOf } from './tree-check.ts'

const fixture = useIntegrityFixture()

describe('checkpointer', () => {
  it('signs nothing of an empty log', async () => {
    expect(await fixture.checkpointerOf(new MemoryLog()).step('now')).toEqual({ status: 'idle' })
    expect(await fixture.newest()).toBeUndefined()
  })

  it('signs the whole log: size, head, root, and the tree to go on from', async () => {
    const records = await wellSigned(7)
    const step = await fixture.checkpointerOf(await logWith(records)).step('due')
    expect(step).toEqual({ status: 'signed', size: 7, behind: false })
    const note = (await fixture.newest())!
    expect(note).toMatchObject({
      origin: originOf(records[0]!),
      head: records[6]!.hash,
      time: '2026-06-01T00:00:00.000Z',
      keyName: node.nodeId,
    })
    expect(Buffer.from(note.root).toString('hex')).toBe(rootHexOf(records))
    expect(
      await fixture.signatures.verifyAll([
        { text: note.text, signatureHex: note.signature, publicKeyHex: node.publicKey },
      ]),
    ).toEqual([])
  })

  it('waits for enough events or enough time', async () => {
    const log = await logWith(await wellSigned(5))
    const checkpointer = fixture.checkpointerOf(log)
    await checkpointer.step('due')
    await appendSaid(log, notes(9, 5), node)
    expect(await checkpointer.step('due')).toEqual({ status: 'idle' })
    fixture.nowMs += 1000
    expect(await checkpointer.step('due')).toMatchObject({ status: 'signed', size: 14 })
    await appendSaid(log, notes(10, 14), node)
    expect(await checkpointer.step('due')).toMatchObject({ status: 'signed', size: 24 })
    fixture.nowMs += 100_000
    expect(await checkpointer.step('due')).toEqual({ status: 'idle' })
    expect(await checkpointer.step('now')).toEqual({ status: 'idle' })
    await appendSaid(log, notes(1, 24), node)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 25 })
  })

  it('catches up in steps of bounded size', async () => {
    const log = await logWith(await wellSigned(25))
    const checkpointer = fixture.checkpointerOf(log, { stepMax: 10 })
    expect(await checkpointer.step('due')).toEqual({ status: 'signed', size: 10, behind: true })
    expect(await checkpointer.step('due')).toEqual({ status: 'signed', size: 20, behind: false })
    expect(await checkpointer.step('now')).toEqual({ status: 'signed', size: 25, behind: false })
  })

  it('goes on from the stored frontier after a restart, with the same tree in any steps', async () => {
    const records = await wellSigned(60)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 }),
        async (sizes) => {
          await rm(fixture.path(), { force: true })
          const log = new MemoryLog()
          for (const size of sizes) {
            const { seq } = await log.head()
            await fill(log, records.slice(seq, seq + size))
            await fixture.checkpointerOf(log).step('now')
          }
          const { seq } = await log.head()
          expect(Buffer.from((await fixture.newest())!.root).toString('hex')).toBe(
            rootHexOf(records.slice(0, seq)),
          )
        },
      ),
      { numRuns: 20 },
    )
  })

  it('signs nothing while the log does not know its key', async () => {
    const log = await logWith(await wellSigned(5))
    const outsider = fixture.checkpointerOf(log, { signer: other })
    expect(await outsider.step('now')).toEqual({ status: 'idle' })
    await appendSaid(log, [started(other)], other)
    expect(await outsider.step('now')).toMatchObject({ status: 'signed', size: 6 })
  })

  it('signs nothing before the event that tells the log its key, however it gets there', async () => {
    const log = await logWith(await wellSigned(12))
    await appendSaid(log, [started(other), ...notes(4, 12)], other)
    const latecomer = fixture.checkpointerOf(log, { signer: other, stepMax: 5 })
    expect(await latecomer.step('due')).toEqual({ status: 'catching-up' })
    expect(await latecomer.step('due')).toEqual({ status: 'catching-up' })
    expect(await latecomer.step('due')).toMatchObject({ status: 'signed', size: 15 })
    expect(await fixture.verify(log)).toMatchObject({ ok: true })
  })

  it('signs nothing of a log that learns its key only now', async () => {
    const log = new JustIntroduced()
    await fill(log, await wellSigned(5))
    const newcomer = fixture.checkpointerOf(log, { signer: other })
    log.isAboutToLearn = true
    expect(await newcomer.step('due')).toEqual({ status: 'idle' })
    expect(await newcomer.step('due')).toMatchObject({ status: 'signed', size: 6 })
    expect(await fixture.verify(log)).toMatchObject({ ok: true })
  })

  it('agrees with checkpoints of another process on the same log, larger or smaller', async () => {
    const log = await logWith(await wellSigned(20))
    await appendSaid(log, [started(other)], other)
    const ours = fixture.checkpointerOf(log)
    const theirs = fixture.checkpointerOf(log, { signer: other })
    await ours.step('now')
    await appendSaid(log, notes(5, 30), other)
    expect(await theirs.step('now')).toMatchObject({ status: 'signed', size: 26 })
    await appendSaid(log, notes(5, 40), node)
    expect(await ours.step('now')).toMatchObject({ status: 'signed', size: 31 })
    expect(await theirs.step('now')).toEqual({ status: 'idle' })
    expect(await ours.step('now')).toEqual({ status: 'idle' })
  })

  it('walks to a far checkpoint of another process before it signs again', async () => {
    const log = await logWith(await wellSigned(5))
    const ours = fixture.checkpointerOf(log, { stepMax: 10 })
    await ours.step('now')
    await appendSaid(log, [started(other), ...notes(29, 5)], other)
    await fixture.checkpointerOf(log, { signer: other }).step('now')
    await appendSaid(log, notes(12, 50), node)
    expect(await ours.step('due')).toEqual({ status: 'catching-up' })
    expect(await ours.step('due')).toEqual({ status: 'catching-up' })
    expect(await ours.step('due')).toMatchObject({ status: 'signed', size: 45 })
  })

  it('starts over when the checkpoints are gone', async () => {
    const log = await logWith(await wellSigned(5))
    const checkpointer = fixture.checkpointerOf(log)
    await checkpointer.step('now')
    await rm(fixture.path())
    const records = [...(await log.read({ order: 'asc', limit: 100 }))]
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 5 })
    expect(Buffer.from((await fixture.newest())!.root).toString('hex')).toBe(rootHexOf(records))
  })

  it('carries on behind a note that a crash cut off', async () => {
    const log = await logWith(await wellSigned(5))
    const checkpointer = fixture.checkpointerOf(log)
    await checkpointer.step('now')
    await fixture.store().append('signal-engine/events/half')
    await appendSaid(log, notes(1, 9), node)
    expect(await checkpointer.step('now')).toMatchObject({ status: 'signed', size: 6 })
  })
})

/** A log in which the other node introduces itself right after its head was read. */
class JustIntroduced extends MemoryLog {
  isAboutToLearn = false

  override async head(): Promise<Head> {
    const head = await super.head()
    if (this.isAboutToLearn) {
      this.isAboutToLearn = false
      await appendSaid(this, [started(other)], other)
    }
    return head
  }
}
