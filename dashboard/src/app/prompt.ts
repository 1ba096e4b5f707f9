import { useSyncExternalStore } from 'react'

/** A question that one dialog of the shell asks, and whoever waits for the answer. */
export interface Prompt<Question, Answer> {
  readonly ask: (question: Question) => Promise<Answer | null>
  readonly useQuestion: () => Question | null
  /** Null = never mind. */
  readonly answer: (answer: Answer | null) => void
}

export const createPrompt = <Question, Answer>(): Prompt<Question, Answer> => {
  let question: Question | null = null
  let resolve: ((answer: Answer | null) => void) | null = null
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  const answer = (given: Answer | null): void => {
    const waiting = resolve
    question = null
    resolve = null
    tell()
    waiting?.(given)
  }
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    ask: (next) => {
      // Only one question at a time: an older one is withdrawn.
      answer(null)
      question = next
      tell()
      return new Promise((settle) => {
        resolve = settle
      })
    },
    useQuestion: () => useSyncExternalStore(subscribe, () => question),
    answer,
  }
}
