import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageLines, type MessageLine } from './message-lines.ts'

const linesOf = async (chunks: readonly Buffer[], bytesMax = 100): Promise<readonly MessageLine[]> => {
  const lines: MessageLine[] = []
  for await (const line of messageLines(Readable.from(chunks), bytesMax)) lines.push(line)
  return lines
}

const message = (text: string): MessageLine => ({ kind: 'message', text })

describe('messages on standard input', () => {
  it('stand one on a line, wherever the pieces end', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }).filter(isOneWord), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (sent, size, ended) => {
        const bytes = Buffer.from(sent.join('\n') + (ended ? '\n' : ''))
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        )
        expect(await linesOf(chunks, 1000)).toEqual(sent.map(message))
      }),
    )
  })

  it('may be separated by more than one line end', async () => {
    expect(await linesOf([Buffer.from('\n\r\n{}\r\n \n1')])).toEqual([message('{}'), message('1')])
  })

  it('are thrown away when they are too long, and the next one is read', async () => {
    const long = Buffer.alloc(101, 'x')
    const lines = await linesOf([long.subarray(0, 60), long.subarray(60), Buffer.from('\n{}\n')])
    expect(lines).toEqual([{ kind: 'too-long' }, message('{}')])
    expect(await linesOf([long])).toEqual([{ kind: 'too-long' }])
    expect(await linesOf([Buffer.alloc(100, 'x')])).toEqual([message('x'.repeat(100))])
  })
})

const isOneWord = (text: string): boolean => text !== '' && text.trim() === text && !/[\n\r]/.test(text)
