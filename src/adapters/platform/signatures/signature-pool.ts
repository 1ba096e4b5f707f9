import { availableParallelism } from 'node:os'
import type { Signatures, SignedText } from '../../../ports/signatures.ts'
import { badSignaturesIn } from './bad-signatures.ts'
import { startThread, type VerifyThread } from './thread.ts'

export interface SignaturePoolOptions {
  /** Threads beside the calling one. */
  readonly threads?: number
  /** Told when a thread is lost; its work is done by the others. */
  readonly onThreadLost?: (error: Error) => void
}

/** Checks Ed25519 signatures on every core: threads take slices, and so does the caller, in smaller ones. */
export const signaturePool = (options: SignaturePoolOptions = {}): Signatures => {
  let threadsMax = options.threads ?? availableParallelism()
  let threads: VerifyThread[] = []
  let calls = 0
  let rest: NodeJS.Timeout | null = null
  let closed = false

  const wake = (): readonly VerifyThread[] => {
    if (rest !== null) clearTimeout(rest)
    while (threads.length < threadsMax) {
      const thread = startThread((error) => {
        threads = threads.filter((other) => other !== thread)
        // What ended one thread would end the next: it is not replaced.
        threadsMax -= 1
        options.onThreadLost?.(error)
      })
      threads.push(thread)
    }
    return threads
  }
  const endThreads = async (): Promise<void> => {
    await Promise.all(threads.splice(0).map((thread) => thread.end()))
  }
  const restSoon = (): void => {
    // Full verification is rare: threads that nobody needs give their memory back.
    rest = setTimeout(() => void endThreads(), IDLE_MS)
    rest.unref()
  }

  return {
    verifyAll: async (items) => {
      if (closed) throw new Error('the verifying threads are closed')
      if (items.length <= SMALL_BATCH || threadsMax === 0) return checkHere(slicesOf(items))
      calls += 1
      try {
        return await checkEverywhere(items, wake())
      } finally {
        calls -= 1
        if (calls === 0 && !closed) restSoon()
      }
    },
    close: async () => {
      closed = true
      if (rest !== null) clearTimeout(rest)
      await endThreads()
    },
  }
}

/** About fifteen milliseconds of work: below this, starting threads costs more than they help. */
const SMALL_BATCH = 256
const THREAD_SLICE = 64
/** Half a millisecond: the caller's other work goes on in between. */
const CALLER_SLICE = 8
/** One slice in work and one waiting, so that a thread never waits for the caller. */
const SLICES_PER_THREAD = 2
const IDLE_MS = 10_000

/** What is left to check, handed out from the front. */
interface Slices {
  take(length: number): { readonly from: number; readonly items: readonly SignedText[] } | null
  giveBack(from: number, length: number): void
}

const slicesOf = (items: readonly SignedText[]): Slices => {
  let next = 0
  const returned: { readonly from: number; readonly items: readonly SignedText[] }[] = []
  return {
    take: (length) => {
      const again = returned.pop()
      if (again !== undefined) return again
      if (next >= items.length) return null
      const from = next
      next = Math.min(items.length, from + length)
      return { from, items: items.slice(from, next) }
    },
    giveBack: (from, length) => void returned.push({ from, items: items.slice(from, from + length) }),
  }
}

const checkEverywhere = async (
  items: readonly SignedText[],
  threads: readonly VerifyThread[],
): Promise<readonly number[]> => {
  const slices = slicesOf(items)
  const helpers = threads.flatMap((thread) =>
    Array.from({ length: SLICES_PER_THREAD }, () => checkIn(thread, slices)),
  )
  const found = await Promise.all([...helpers, checkHere(slices)])
  // What a lost thread gave back after the caller was done.
  found.push(await checkHere(slices))
  return found.flat().sort((left, right) => left - right)
}

const checkIn = async (thread: VerifyThread, slices: Slices): Promise<readonly number[]> => {
  const bad: number[] = []
  for (let slice = slices.take(THREAD_SLICE); slice !== null; slice = slices.take(THREAD_SLICE)) {
    const { from, items } = slice
    try {
      for (const index of await thread.check(items)) bad.push(from + index)
    } catch {
      // The thread is lost, which its owner was told; the slice is checked by someone else.
      slices.giveBack(from, items.length)
      return bad
    }
  }
  return bad
}

const checkHere = async (slices: Slices): Promise<readonly number[]> => {
  const bad: number[] = []
  for (let slice = slices.take(CALLER_SLICE); slice !== null; slice = slices.take(CALLER_SLICE)) {
    for (const index of badSignaturesIn(slice.items)) bad.push(slice.from + index)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return bad
}
