import type { CodeAnswer, CodeRequest } from './messages.ts'

/** What runs a file of the user beside this thread: a thread or a process. */
export interface CodeHost {
  post(request: CodeRequest): void
  end(): Promise<void>
}

export interface CodeHostListener {
  readonly onAnswer: (answer: CodeAnswer) => void
  readonly onEnd: (reason: string) => void
  readonly onOutput: (text: string) => void
}

export const MEMORY_MB_MAX = 512

export const outOfMemory = (mbMax: number): string => `out of memory: it may use ${mbMax} MB`
