import { PassThrough, Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { REDACTED } from '../../core/config/secrets.ts'
import { UsageError } from './failure.ts'
import { ask, BrokenPipeError, expectErrorsOf, PLAIN, printerTo, progressOn, writeTo } from './terminal.ts'

describe('printing', () => {
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
      const print = printerTo(stream, { json, style: PLAIN }, () => [secret])
      await print.result(
        { reason: `my ${secret}`, api_key: 'k-1' },
        () => `reason my ${secret}, api_key=k-1\n`,
      )
      expect(text()).not.toContain(secret)
      expect(text()).not.toContain('k-1')
      expect(text()).toContain(REDACTED)
    }
  })

  it('makes only the form that was asked for', async () => {
    const { stream, text } = collecting()
    const print = printerTo(stream, { json: true, style: PLAIN }, () => [])
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
})

describe('a progress bar', () => {
  const watched = (isTTY: boolean) => {
    const written: string[] = []
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written.push(chunk.toString())
        done()
      },
    })
    return { stream: Object.assign(stream, { isTTY }), written }
  }

  it('draws a bar over itself and takes it away at the end', () => {
    const { stream, written } = watched(true)
    const progress = progressOn(stream, 'verifying')
    progress.update(0, 4)
    progress.update(2, 4)
    progress.update(4, 4)
    progress.end()
    expect(written).toEqual([
      '\rverifying [........................] 0%\u001b[K',
      '\rverifying [############............] 50%\u001b[K',
      '\rverifying [########################] 100%\u001b[K',
      '\r\u001b[K',
    ])
  })

  it('has no bar where the end is not known', () => {
    const { stream, written } = watched(true)
    progressOn(stream, 'momentum').update(0, null, '512 bars, 9000 bars/s')
    expect(written).toEqual(['\rmomentum  512 bars, 9000 bars/s\u001b[K'])
  })

  it('draws only what looks different', () => {
    const { stream, written } = watched(true)
    const progress = progressOn(stream, 'x')
    for (let done = 0; done <= 1_000_000; done += 100) progress.update(done, 1_000_000)
    // A hundred steps of the number, and the few of the bar that fall between them.
    expect(written.length).toBeLessThan(130)
    expect(written.at(-1)).toContain('100%')
  })

  it('stays within its bounds, whatever it is told', () => {
    const { stream, written } = watched(true)
    const progress = progressOn(stream, 'x')
    progress.update(7, 5)
    progress.update(-1, 5)
    progress.update(0, 0)
    expect(written.map((line) => /(\d+)%/.exec(line)?.[1])).toEqual(['100', '0', '100'])
  })

  it('says nothing to a file or a pipe', () => {
    const { stream, written } = watched(false)
    const progress = progressOn(stream, 'x')
    progress.update(1, 2)
    progress.end()
    expect(written).toEqual([])
  })
})

describe('reading standard input', () => {
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
    expect(await ask(Readable.from([Buffer.from(text)]), stream, 'Value: ', 'hidden')).toBe(expected)
    expect(shown()).toBe('')
  })

  it('puts characters together that arrive in pieces', async () => {
    const bytes = Buffer.from('é')
    const stdin = Readable.from([bytes.subarray(0, 1), bytes.subarray(1)])
    expect(await ask(stdin, collecting().stream, '', 'hidden')).toBe('é')
  })

  it('refuses more than it could keep', async () => {
    const stdin = Readable.from([Buffer.alloc(40_000, 'x'), Buffer.alloc(40_000, 'x')])
    await expect(ask(stdin, collecting().stream, '', 'hidden')).rejects.toBeInstanceOf(UsageError)
  })

  it('asks a person, and does not show what is typed', async () => {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: () => undefined })
    const { stream, text } = collecting()
    const reading = ask(keyboard, stream, 'Value of x: ', 'hidden')
    keyboard.write('hunter2\r')
    expect(await reading).toBe('hunter2')
    expect(text()).toBe('Value of x: \n')
  })

  it('shows what is typed where it is no secret', async () => {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: () => undefined })
    const { stream, text } = collecting()
    const reading = ask(keyboard, stream, 'Sure? ', 'echoed')
    keyboard.write('yes\r')
    expect(await reading).toBe('yes')
    expect(text()).toContain('Sure? ')
    expect(text()).toContain('yes')
  })
})
