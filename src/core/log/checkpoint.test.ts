import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFromBase64, hexFromBytes } from './bytes.ts'
import {
  checkpointText,
  noteFaultOf,
  noteKeyId,
  parseSignedCheckpoint,
  signedNote,
  type Checkpoint,
} from './checkpoint.ts'
import { EMPTY_FRONTIER, extendFrontier, leafHash, rootOf, type Sha256 } from './merkle.ts'

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')

const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 1)]),
  format: 'der',
  type: 'pkcs8',
})
const publicKey = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c'
const keyName = 'svc-8a88e3dd7409f195'

const checkpointOf = (size: number): Checkpoint => {
  const leaves = Array.from({ length: size }, (_, index) => leafHash(Uint8Array.of(index % 256), sha256))
  const frontier = extendFrontier(EMPTY_FRONTIER, leaves, sha256)
  return {
    origin: 'signal-engine/events/00ff',
    frontier,
    root: rootOf(frontier, sha256),
    eventRoot: sha256(Uint8Array.of(size % 256)),
    head: 'ab'.repeat(32),
    time: '2026-02-20T00:29:58.000Z',
  }
}

const noteOf = (checkpoint: Checkpoint): string => {
  const text = checkpointText(checkpoint)
  const signature = sign(null, Buffer.from(text), privateKey).toString('hex')
  return signedNote(text, { keyName, publicKey, signature }, sha256)
}

describe('checkpoint note', () => {
  it('is a C2SP signed note around a tlog checkpoint', () => {
    const checkpoint = checkpointOf(3)
    const lines = noteOf(checkpoint).split('\n')
    expect(lines.slice(0, 3)).toEqual([
      'signal-engine/events/00ff',
      '3',
      Buffer.from(checkpoint.eventRoot!).toString('base64'),
    ])
    expect(lines[3]).toBe(`head ${'ab'.repeat(32)}`)
    expect(lines[4]).toBe('time 2026-02-20T00:29:58.000Z')
    expect(lines[5]).toBe(`records ${Buffer.from(checkpoint.root).toString('base64')}`)
    expect(lines[6]).toBe(`frontier ${Buffer.concat(checkpoint.frontier.hashes).toString('base64')}`)
    expect(lines[7]).toBe('')
    expect(lines[8]).toMatch(/^\u2014 svc-8a88e3dd7409f195 [A-Za-z0-9+/]+=*$/)
    expect(lines.slice(9)).toEqual([''])
  })

  it('reads notes of releases without a tree over event hashes', () => {
    const older = { ...checkpointOf(3), eventRoot: null }
    const lines = noteOf(older).split('\n')
    expect(lines[2]).toBe(Buffer.from(older.root).toString('base64'))
    expect(lines[5]).toMatch(/^frontier /)
    const read = parseSignedCheckpoint(noteOf(older))!
    expect(read).toMatchObject({ eventRoot: null, head: older.head })
    expect(Buffer.from(read.root)).toEqual(Buffer.from(older.root))
    expect(noteFaultOf(read, publicKey, sha256)).toBeNull()
    expect(checkpointText(read)).toBe(read.text)
  })

  it('names keys as the reference implementation of signed notes does', () => {
    // The published example: PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW
    const typeAndKey = bytesFromBase64('ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')!
    expect(typeAndKey[0]).toBe(1)
    const key = hexFromBytes(typeAndKey.subarray(1))
    expect(noteKeyId('PeterNeumann', key, sha256)).toBe('c74f20a3')
    const text =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    const line =
      'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM='
    const blob = bytesFromBase64(line)!
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), typeAndKey.subarray(1)])
    const verifier = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    expect(verify(null, Buffer.from(text), verifier, blob.subarray(4))).toBe(true)
    const signature = hexFromBytes(blob.subarray(4))
    expect(signedNote(text, { keyName: 'PeterNeumann', publicKey: key, signature }, sha256)).toBe(
      `${text}\n\u2014 PeterNeumann ${line}\n`,
    )
  })

  it('reads back what it wrote, and the signature covers the text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (size) => {
        const checkpoint = checkpointOf(size)
        const read = parseSignedCheckpoint(noteOf(checkpoint))!
        expect(read).toMatchObject({
          origin: checkpoint.origin,
          head: checkpoint.head,
          time: checkpoint.time,
          keyName,
        })
        expect(read.frontier.size).toBe(size)
        expect(noteFaultOf(read, publicKey, sha256)).toBeNull()
        const verifier = createPublicKey(privateKey)
        expect(verify(null, Buffer.from(read.text), verifier, Buffer.from(read.signature, 'hex'))).toBe(true)
        expect(checkpointText(read)).toBe(read.text)
      }),
      { numRuns: 25 },
    )
  })

  it('tells a foreign key id and a frontier that does not give the root', () => {
    const read = parseSignedCheckpoint(noteOf(checkpointOf(5)))!
    expect(noteFaultOf(read, 'cd'.repeat(32), sha256)).toContain('key id')
    expect(noteFaultOf({ ...read, frontier: checkpointOf(6).frontier }, publicKey, sha256)).toContain(
      'frontier',
    )
  })

  it('takes no other byte: every cut and most changes are refused, the rest breaks the signature', () => {
    const note = noteOf(checkpointOf(5))
    for (let length = 0; length < note.length; length += 1) {
      expect(parseSignedCheckpoint(note.slice(0, length))).toBeNull()
    }
    const { text } = parseSignedCheckpoint(note)!
    fc.assert(
      fc.property(
        fc.nat(note.length - 1),
        fc.constantFrom('\n', ' ', '0', 'a', 'B', '=', '\u0000'),
        (at, character) => {
          const changed = note.slice(0, at) + character + note.slice(at + 1)
          const read = parseSignedCheckpoint(changed)
          if (read === null || changed === note) return
          expect(read.text !== text || changed.slice(text.length) !== note.slice(text.length)).toBe(true)
          expect(checkpointText(read)).toBe(read.text)
        },
      ),
    )
  })

  it.each([
    ['a leading zero in the size', (note: string) => note.replace('\n5\n', '\n05\n')],
    ['size zero', (note: string) => note.replace('\n5\n', '\n0\n')],
    ['a size beyond safe integers', (note: string) => note.replace('\n5\n', '\n9999999999999999\n')],
    ['a size that the frontier does not fit', (note: string) => note.replace('\n5\n', '\n7\n')],
    ['an upper-case head', (note: string) => note.replace('head ab', 'head AB')],
    ['an impossible time', (note: string) => note.replace('2026-02-20', '2026-22-20')],
    ['an unknown extension line', (note: string) => note.replace('\n\n', '\nextra line\n\n')],
    ['a second signature', (note: string) => note + note.slice(note.indexOf('\u2014'))],
    ['a hyphen for the dash', (note: string) => note.replace('\u2014', '-')],
    [
      'base64 with unused bits set',
      (note: string) =>
        note.replace(/([A-Za-z0-9+/])=\nhead/, (_, last: string) => `${last === 'A' ? 'B' : 'x'}=\nhead`),
    ],
    ['windows line ends', (note: string) => note.replaceAll('\n', '\r\n')],
  ])('refuses %s', (_, change) => {
    const note = noteOf(checkpointOf(5))
    const changed = change(note)
    expect(changed).not.toBe(note)
    expect(parseSignedCheckpoint(changed)).toBeNull()
  })

  it('writes no note without a proper key name, key and signature', () => {
    const signature = '00'.repeat(64)
    expect(() => signedNote('a\n', { keyName: 'two words', publicKey, signature }, sha256)).toThrow(
      'key name',
    )
    expect(() => signedNote('a\n', { keyName, publicKey, signature: '00' }, sha256)).toThrow('signature')
    expect(() => signedNote('a\n', { keyName, publicKey: '00', signature }, sha256)).toThrow('public key')
  })
})
