import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { dataOf } from '../api/client.ts'
import type { Resource } from '../api/queries.ts'
import { titleOf } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { asOperator, confirm, type Confirmation, type OperatorHeaders } from './prompts.tsx'

export interface ActionOptions<Input, Result> {
  /** The request. Pass `headers` on: they carry the operator token when one is needed. */
  readonly send: (
    input: Input,
    headers: OperatorHeaders,
    reason: string,
  ) => Promise<{ readonly data?: Result }>
  /** Asked first; nothing is sent if the user cancels. */
  readonly confirms?: (input: Input) => Confirmation
  /** The message after success; null for none. */
  readonly done: (result: Result, input: Input) => string | null
  /** Closes a form, say. Also runs if the component is gone by then: the stream may be faster than the response. */
  readonly after?: (result: Result, input: Input) => void
  /** What it acts on: while a request about it is under way, no second one is sent. */
  readonly keyOf?: (input: Input) => unknown
  /** What it makes stale. The stream refreshes most by itself. */
  readonly refreshes?: readonly Resource[]
  /** The caller shows the error itself. */
  readonly quiet?: boolean
}

/** One press of a button. What it does stays what it was then, whatever the page shows by the time it is sent. */
interface Attempt<Input, Result> extends Pick<ActionOptions<Input, Result>, 'send' | 'done' | 'after'> {
  readonly input: Input
  readonly reason: string
}

/** A write: asks for confirmation and operator token if needed, reports the result, and refreshes what it changed. */
export const useAction = <Input, Result>({
  send,
  confirms,
  done,
  after,
  keyOf = (input) => input,
  refreshes = [],
  quiet = false,
}: ActionOptions<Input, Result>) => {
  const client = useQueryClient()
  // The button is drawn as busy only in a later task, and a second press may come before it.
  const underWay = useRef(new Set<string>())
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: (attempt: Attempt<Input, Result>) =>
      asOperator((headers) => dataOf(attempt.send(attempt.input, headers, attempt.reason))),
    onSuccess: async (result, attempt) => {
      // Null: the operator token was asked for and not given.
      if (result === null) return
      const text = attempt.done(result, attempt.input)
      if (text !== null) toast(text, 'good')
      attempt.after?.(result, attempt.input)
      await Promise.all(refreshes.map((resource) => client.invalidateQueries({ queryKey: [resource] })))
    },
    onError: (failure) => {
      if (!quiet) toast(titleOf(failure), 'bad')
    },
    onSettled: (_result, _failure, { input }) => {
      underWay.current.delete(JSON.stringify(keyOf(input)))
    },
  })
  const ask = async (input: Input): Promise<void> => {
    const answer = confirms === undefined ? { reason: '' } : await confirm(confirms(input))
    const key = JSON.stringify(keyOf(input))
    if (answer === null || underWay.current.has(key)) return
    underWay.current.add(key)
    mutate({ input, reason: answer.reason, send, done, ...(after === undefined ? {} : { after }) })
  }
  return { run: (input: Input) => void ask(input), isPending, error, input: variables?.input }
}
