import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { dataOf } from '../api/client.ts'
import type { Resource } from '../api/queries.ts'
import { titleOf } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { asOperator, confirm, type Confirmation, type OperatorHeaders } from './prompts.tsx'

export interface ActionOptions<Input, Result> {
  /** Sends the request. Pass `headers` on: they carry the operator token when one is needed. */
  readonly send: (
    input: Input,
    headers: OperatorHeaders,
    reason: string,
  ) => Promise<{ readonly data?: Result }>
  /** Confirmation to ask for first. Nothing is sent if the user cancels. */
  readonly confirms?: (input: Input) => Confirmation
  /** The message after success; null for none. */
  readonly done: (result: Result, input: Input) => string | null
  /**
   * Called after success, for example to close a form. Also called if the component is unmounted by then: the stream
   * may be faster than the response.
   */
  readonly after?: (result: Result, input: Input) => void
  /** Key of the item that the action changes. While a request for it is pending, no second one is sent. */
  readonly keyOf?: (input: Input) => unknown
  /** Resources that become stale. The stream already refreshes most of them. */
  readonly refreshes?: readonly Resource[]
  /** True if the caller shows the error itself. */
  readonly quiet?: boolean
}

/** One press of a button. Its values stay those of the press, whatever the page shows when it is sent. */
interface Attempt<Input, Result> extends Pick<ActionOptions<Input, Result>, 'send' | 'done' | 'after'> {
  readonly input: Input
  readonly reason: string
}

/**
 * A write. Asks for confirmation and operator token if needed, reports the result, and refreshes the changed resources.
 */
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
  // The button is drawn as busy only in a later task, and a second press may come before that.
  const underWay = useRef(new Set<string>())
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: (attempt: Attempt<Input, Result>) =>
      asOperator((headers) => dataOf(attempt.send(attempt.input, headers, attempt.reason))),
    onSuccess: async (result, attempt) => {
      // Null: the user did not enter the operator token.
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
