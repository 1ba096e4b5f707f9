import { PassThrough, Readable, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { UsageError } from './failure.ts'
import { readAnswerFrom, readSecretFrom } from './secret-input.ts'

const collecting = () => {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString()
      done()
    },
  })
  return { stream, text: () => text }
}

it.each([
  ['value\n', 'value'],
  ['value\r\n', 'value'],
  ['two\nlines\n\n', 'two\nlines\n'],
  [' blanks ', ' blanks '],
  ['', ''],
])('takes all of a pipe but the last line end: %j', async (text, expected) => {
  const { stream, text: shown } = collecting()
  expect(await readSecretFrom(Readable.from([Buffer.from(text)]), stream, 'Value: ')).toBe(expected)
  expect(shown()).toBe('')
})

it('puts characters together that arrive in pieces', async () => {
  const bytes = Buffer.from('é')
  const stdin = Readable.from([bytes.subarray(0, 1), bytes.subarray(1)])
  expect(await readSecretFrom(stdin, collecting().stream, '')).toBe('é')
})

it('refuses more than it could keep', async () => {
  const stdin = Readable.from([Buffer.alloc(40_000, 'x'), Buffer.alloc(40_000, 'x')])
  await expect(readSecretFrom(stdin, collecting().stream, '')).rejects.toBeInstanceOf(UsageError)
})

it('asks a person, and does not show what is typed', async () => {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: () => undefined })
  const { stream, text } = collecting()
  const reading = readSecretFrom(keyboard, stream, 'Value of x: ')
  keyboard.write('hunter2\r')
  expect(await reading).toBe('hunter2')
  expect(text()).toBe('Value of x: \n')
})

it('shows what is typed where it is no secret', async () => {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: () => undefined })
  const { stream, text } = collecting()
  const reading = readAnswerFrom(keyboard, stream, 'Sure? ')
  keyboard.write('yes\r')
  expect(await reading).toBe('yes')
  expect(text()).toContain('Sure? ')
  expect(text()).toContain('yes')
})
