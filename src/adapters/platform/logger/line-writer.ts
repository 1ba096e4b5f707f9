import { writeSync } from 'node:fs'

/** Size of the lines that wait for a file or a reader. Beyond it new lines are dropped and counted. */
export const WAITING_BYTES_MAX = 1024 * 1024

/** Interval between attempts to write waiting lines. */
const AGAIN_MS = 10

/** Attempts at the end of the process to write the remaining lines to a slow reader. */
const LAST_TRIES = 20
const LAST_PAUSE_MS = 50

/**
 * Writes lines at once, because the last one before an exit matters most, and never waits for the reader: a full disk
 * or a stalled reader must stop the log, not the service.
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

  /** Number of lines dropped since the last call; 0 while other lines still wait. */
  takeLost(): number {
    if (this.#waiting.length > 0) return 0
    const lost = this.#lost
    this.#lost = 0
    return lost
  }

  /** Writes the remaining lines at the end of the process, when no timer runs any more. */
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
      // The reader is gone for good.
      if (code === 'EPIPE' || code === 'EBADF') return this.#end()
      // A full disk may get space, and a reader may resume. The timer does not keep the process alive.
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
