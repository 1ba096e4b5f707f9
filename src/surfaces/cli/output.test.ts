import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { REDACTED } from '../../core/config/secrets.ts'
import { BrokenPipeError, expectErrorsOf, printerTo, writeTo } from './output.ts'
import { PLAIN } from './style.ts'

const collecting = () => {
  const written: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString())
      done()
    },
  })
  return { stream, text: () => written.join('') }
}

it('hides secrets in documents and in text', async () => {
  const secret = 'correct-horse-battery-staple'
  for (const json of [true, false]) {
    const { stream, text } = collecting()
    const print = printerTo({ stdout: stream, json, paint: PLAIN, knownSecrets: () => [secret] })
    await print.result({ reason: `my ${secret}`, api_key: 'k-1' }, () => `reason my ${secret}, api_key=k-1\n`)
    expect(text()).not.toContain(secret)
    expect(text()).not.toContain('k-1')
    expect(text()).toContain(REDACTED)
  }
})

it('makes only the form that was asked for', async () => {
  const { stream, text } = collecting()
  const print = printerTo({ stdout: stream, json: true, paint: PLAIN, knownSecrets: () => [] })
  await print.result({ a: 1 }, () => {
    throw new Error('nobody asked for text')
  })
  expect(JSON.parse(text())).toEqual({ a: 1 })
})

const failing = (code: string) => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
  })
  expectErrorsOf(stream)
  return stream
}

it('tells a reader that went away from other trouble', async () => {
  await expect(writeTo(failing('EPIPE'), 'x')).rejects.toBeInstanceOf(BrokenPipeError)
  await expect(writeTo(failing('EIO'), 'x')).rejects.toThrow('write EIO')
})

it('knows on the second write, too, that nobody reads', async () => {
  const stream = failing('EPIPE')
  await expect(writeTo(stream, 'x')).rejects.toBeInstanceOf(BrokenPipeError)
  await expect(writeTo(stream, 'y')).rejects.toBeInstanceOf(BrokenPipeError)
})

it('waits for a slow reader', async () => {
  let release: () => void = () => undefined
  const stream = new Writable({
    write: (_chunk, _encoding, done) => {
      release = done
    },
  })
  let taken = false
  const writing = writeTo(stream, 'x').then(() => {
    taken = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(taken).toBe(false)
  release()
  await writing
  expect(taken).toBe(true)
})
