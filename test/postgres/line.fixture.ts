import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A wire between a log and its server that can fail at an exact moment. */
export interface Line {
  readonly url: string
  /** Loses the client's next request: the server does not receive it, and the connection breaks. */
  loseNextRequest(): void
  /** Loses the next request with this text in the same way. */
  loseRequestWith(words: string): void
  /** Loses the next answer: the server carries out the request, its answer never arrives, and the connection breaks. */
  loseNextAnswer(): void
  /** Breaks all connections for the client, while the server considers them open. */
  abandon(): void
  /** Blocks all traffic and new connections until `mend`. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

const SOCKET_NAME = '.s.PGSQL.5432'

export const openLine = async (serverUrl: string): Promise<Line> => {
  const target = new URL(serverUrl)
  const serverSocket = join(target.searchParams.get('host') ?? '', SOCKET_NAME)
  const folder = mkdtempSync(join(tmpdir(), 'signal-engine-line-'))
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>()
  let losing: 'nothing' | 'request' | 'answer' = 'nothing'
  let words = ''
  let isCut = false

  const proxy = createServer((client) => {
    if (isCut) return void client.destroy()
    const server = connect(serverSocket)
    const pair = { client, server }
    pairs.add(pair)
    const hangUp = (): void => {
      client.destroy()
      server.destroy()
      pairs.delete(pair)
    }
    const carry = (from: Socket, to: Socket, loss: 'request' | 'answer'): void => {
      from.on('data', (bytes) => {
        if (losing !== loss || !bytes.includes(words)) {
          to.write(bytes)
          return
        }
        losing = 'nothing'
        words = ''
        hangUp()
      })
      // Ends and resets both mean that this side is gone.
      from.on('error', hangUp)
      from.on('end', hangUp)
    }
    carry(client, server, 'request')
    carry(server, client, 'answer')
  })
  await new Promise<void>((resolve) => proxy.listen(join(folder, SOCKET_NAME), resolve))

  target.searchParams.set('host', folder)
  return {
    url: target.href,
    loseNextRequest: () => {
      losing = 'request'
    },
    loseRequestWith: (wanted) => {
      losing = 'request'
      words = wanted
    },
    loseNextAnswer: () => {
      losing = 'answer'
    },
    abandon: () => {
      for (const { client } of pairs) client.removeAllListeners('end').destroy()
    },
    cut: () => {
      isCut = true
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
    },
    mend: () => {
      isCut = false
    },
    close: async () => {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      await new Promise((resolve) => proxy.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
