import { useMutation, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../api/client.ts'
import type { Resource } from '../api/queries.ts'
import { titleOf } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { asOperator, type OperatorHeaders } from './prompts.tsx'

export interface ActionOptions<Input, Result> {
  /** The request. Pass `headers` on: they carry the operator token when one is needed. */
  readonly send: (input: Input, headers: OperatorHeaders) => Promise<{ readonly data?: Result }>
  /** The message after success; null for none. */
  readonly done: (result: Result, input: Input) => string | null
  /** Closes a form, say. Also runs if the component is gone by then: the stream may be faster than the response. */
  readonly after?: (result: Result, input: Input) => void
  /** What it makes stale. The stream refreshes most by itself. */
  readonly refreshes?: readonly Resource[]
  /** The caller shows the error itself. */
  readonly quiet?: boolean
}

/** A write: asks for the operator token if needed, reports the result, and refreshes what it changed. */
export const useAction = <Input, Result>({
  send,
  done,
  after,
  refreshes = [],
  quiet = false,
}: ActionOptions<Input, Result>) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => asOperator((headers) => dataOf(send(input, headers))),
    onSuccess: async (result, input) => {
      // Null: the operator token was asked for and not given.
      if (result === null) return
      const text = done(result, input)
      if (text !== null) toast(text, 'good')
      after?.(result, input)
      await Promise.all(refreshes.map((resource) => client.invalidateQueries({ queryKey: [resource] })))
    },
    onError: (error) => {
      if (!quiet) toast(titleOf(error), 'bad')
    },
  })
}
