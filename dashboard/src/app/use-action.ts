import { useMutation, useQueryClient } from '@tanstack/react-query'
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
  /** What it makes stale. The stream refreshes most by itself. */
  readonly refreshes?: readonly Resource[]
  /** The caller shows the error itself. */
  readonly quiet?: boolean
}

/** A write: asks for confirmation and operator token if needed, reports the result, and refreshes what it changed. */
export const useAction = <Input, Result>({
  send,
  confirms,
  done,
  after,
  refreshes = [],
  quiet = false,
}: ActionOptions<Input, Result>) => {
  const client = useQueryClient()
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: ({ input, reason }: { readonly input: Input; readonly reason: string }) =>
      asOperator((headers) => dataOf(send(input, headers, reason))),
    onSuccess: async (result, { input }) => {
      // Null: the operator token was asked for and not given.
      if (result === null) return
      const text = done(result, input)
      if (text !== null) toast(text, 'good')
      after?.(result, input)
      await Promise.all(refreshes.map((resource) => client.invalidateQueries({ queryKey: [resource] })))
    },
    onError: (failure) => {
      if (!quiet) toast(titleOf(failure), 'bad')
    },
  })
  const ask = async (input: Input): Promise<void> => {
    const answer = confirms === undefined ? { reason: '' } : await confirm(confirms(input))
    if (answer !== null) mutate({ input, reason: answer.reason })
  }
  return { run: (input: Input) => void ask(input), isPending, error, input: variables?.input }
}
