export interface SseMessage {
  readonly id: string
  readonly data: string
}

/**
 * Messages of an event stream as they arrive. Own code and not EventSource, since that one tells neither why it failed
 * nor that the line has gone mute: here every byte, comments too, calls `onBytes`.
 */
export const readMessages = async function* (
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<readonly SseMessage[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      rest += decoder.decode(value, { stream: true })
      const blocks = rest.split('\n\n')
      rest = blocks.pop() ?? ''
      const messages = blocks.flatMap(messageOf)
      if (messages.length > 0) yield messages
    }
  } finally {
    reader.releaseLock()
  }
}

const messageOf = (block: string): readonly SseMessage[] => {
  let id = ''
  let data: string | null = null
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4)
    if (line.startsWith('data: ')) data = (data === null ? '' : `${data}\n`) + line.slice(6)
  }
  return data === null ? [] : [{ id, data }]
}
