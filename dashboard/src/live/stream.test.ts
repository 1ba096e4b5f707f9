import { describe, expect, it } from 'vitest'
import { readMessages } from './stream.ts'

const STREAM =
  'retry: 2000\n\nid: 1\ndata: {"a":"ü"}\n\n: keep-alive\n\nid: 2\ndata: {"b":2}\n\nid: 3\ndata: cut off'

/** In chunks of `size` bytes. */
const inChunks = (text: string, size: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
}

const read = async (
  size: number,
): Promise<{ readonly messages: readonly string[]; readonly chunks: number }> => {
  const messages: string[] = []
  let chunks = 0
  for await (const batch of readMessages(inChunks(STREAM, size), () => (chunks += 1))) messages.push(...batch)
  return { messages, chunks }
}

describe('readMessages', () => {
  it.each([1, 2, 3, 7, 50, 1000])('reads whole messages from chunks of %i bytes', async (size) => {
    const { messages } = await read(size)
    expect(messages).toEqual(['{"a":"ü"}', '{"b":2}'])
  })

  it('reports every chunk, comments included', async () => {
    const { chunks } = await read(10)
    expect(chunks).toBe(Math.ceil(new TextEncoder().encode(STREAM).length / 10))
  })
})
