import { writeSync } from 'node:fs'

/** Lines that wait for a file or a reader; beyond it new ones are lost and counted. */
export const WAITING_BYTES_MAX = 1024 * 1024

/** How often waiting lines are tried again. */
const AGAIN_MS = 10

/** At the end of the process: how long a slow reader gets for what still waits. */
const LAST_TRIES = 20
const LAST_PAUSE_MS = 50

/**
 * Writes lines at once, since the last one before an exit is the one that matters, and never waits for whoever takes them:
 * a full disk or a reader that stands still must stop the log, not the service.
 */
export class LineWriter {
  readonly #fd: number
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #lost = 0
  #isTriedAgain = false
  #isGone = false

  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    if (this.#isGone) return
    const bytes = Buffer.from(line)
    if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) this.#lost += 1
    else {
      this.#waiting.push(bytes)
      this.#waitingBytes += bytes.length
    }
    this.#flush()
  }

  /** How many lines were lost since it was asked last; 0 as long as others still wait. */
  takeLost(): number {
    if (this.#waiting.length > 0) return 0
    const lost = this.#lost
    this.#lost = 0
    return lost
  }

  /** For the end of the process, when no timer runs any more. */
  finish(): void {
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 0; this.#waiting.length > 0 && tries < LAST_TRIES; tries += 1) {
      Atomics.wait(pause, 0, 0, LAST_PAUSE_MS)
      this.#flush()
    }
  }

  #flush(): void {
    try {
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const written = writeSync(this.#fd, next)
        this.#waitingBytes -= written
        if (written < next.length) this.#waiting[0] = next.subarray(written)
        else this.#waiting.shift()
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Nobody will ever read it.
      if (code === 'EPIPE' || code === 'EBADF') return this.#end()
      // A full disk may get space, and a reader may go on. No process is kept alive for it.
      if (this.#isTriedAgain) return
      this.#isTriedAgain = true
      setTimeout(() => {
        this.#isTriedAgain = false
        this.#flush()
      }, AGAIN_MS).unref()
    }
  }

  #end(): void {
    this.#isGone = true
    this.#waiting.length = 0
    this.#waitingBytes = 0
  }
}
