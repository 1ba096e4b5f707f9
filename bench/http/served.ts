import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Kind, ServerAsk, ServerReport } from './server-process.ts'

export interface Served {
  readonly port: number
  /** How long things wait for the server's event loop while the work is done. */
  delayP99Ms<Done>(work: () => Promise<Done>): Promise<{ readonly done: Done; readonly delayP99Ms: number }>
  close(): Promise<void>
}

/** A server as a process of its own, so that nothing but the server runs in its loop. */
export const serve = async (kind: Kind, path = ''): Promise<Served> => {
  const child = fork(fileURLToPath(new URL('server-process.ts', import.meta.url)), [kind, path])
  const ended = once(child, 'exit')
  const reported = async <Report extends ServerReport['kind']>(): Promise<
    Extract<ServerReport, { kind: Report }>
  > => {
    const failed = ended.then(() => Promise.reject(new Error(`the ${kind} server ended`)))
    const [message] = (await Promise.race([once(child, 'message'), failed])) as [ServerReport]
    return message as Extract<ServerReport, { kind: Report }>
  }
  const ask = (what: ServerAsk): void => {
    child.send(what)
  }
  const { port } = await reported<'listening'>()
  return {
    port,
    delayP99Ms: async (work) => {
      ask('measure-delay')
      const done = await work()
      const answered = reported<'delay'>()
      ask('tell-delay')
      return { done, delayP99Ms: (await answered).p99Ms }
    },
    close: async () => {
      child.disconnect()
      await ended
    },
  }
}
