import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Call, callApi } from '../api/client.ts'
import type { Resource } from '../api/queries.ts'
import { titleOf } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { asOperator } from './prompts.tsx'

interface ActionOptions<Input, Result> {
  /** What to ask of the API. */
  readonly request: (input: Input) => { readonly path: string } & Omit<Call, 'operatorToken' | 'signal'>
  /** What to tell when it is done; null = nothing. */
  readonly done: (result: Result, input: Input) => string | null
  /** Closes a form, say. Called also if what asked is gone by then: the stream may be faster than the answer. */
  readonly after?: (result: Result, input: Input) => void
  /** What it makes old. The stream refreshes most by itself. */
  readonly refreshes?: readonly Resource[]
  /** Shows the failure itself, and wants no toast. */
  readonly quiet?: boolean
}

/** A write: asks for the operator token if needed, tells what came of it, and refreshes what it changed. */
export const useAction = <Input, Result>({
  request,
  done,
  after,
  refreshes = [],
  quiet = false,
}: ActionOptions<Input, Result>) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => {
      const { path, ...call } = request(input)
      return asOperator((operatorToken) =>
        callApi<Result>(path, {
          method: 'POST',
          ...call,
          ...(operatorToken === undefined ? {} : { operatorToken }),
        }),
      )
    },
    onSuccess: async (result, input) => {
      // Null: the person was asked for the operator token and thought better of it.
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
