import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiProblem, callApi, type Fault } from '../../api/client.ts'
import type { Configuration } from '../../api/log.ts'
import { bodyOf, type Draft } from './draft.ts'

export interface Check {
  readonly status: 'unchanged' | 'checking' | 'valid' | 'invalid' | 'failed'
  readonly faults: readonly Fault[]
  /** What would be in force; null unless valid. */
  readonly after: Configuration | null
  readonly error: unknown
}

const TYPING_MS = 350

/** Asks the service what it thinks of the draft while it is being typed. Nothing is written. */
export const useCheck = (draft: Draft): Check => {
  const body = JSON.stringify(bodyOf(draft))
  const settled = useSettled(body)
  const isEmpty = draft.size === 0
  const query = useQuery({
    queryKey: ['config', 'check', settled] as const,
    queryFn: async ({ signal }): Promise<{ config: Configuration | null; faults: readonly Fault[] }> => {
      try {
        const call = { method: 'POST', body: JSON.parse(settled) as unknown, signal } as const
        const { config } = await callApi<{ config: Configuration }>('/config/validate', call)
        return { config, faults: [] }
      } catch (error) {
        // Refused is an answer too: it says where.
        if (error instanceof ApiProblem && error.faults.length > 0) {
          return { config: null, faults: error.faults }
        }
        throw error
      }
    },
    enabled: !isEmpty,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  const faults = query.data?.faults ?? []
  const common = { faults, after: query.data?.config ?? null, error: query.error }
  if (isEmpty) return { status: 'unchanged', faults: [], after: null, error: null }
  if (query.isError) return { ...common, status: 'failed' }
  if (settled !== body || query.isPlaceholderData || query.data === undefined) {
    return { ...common, status: 'checking' }
  }
  return { ...common, status: faults.length > 0 ? 'invalid' : 'valid' }
}

/** The value once it has not changed for a moment. */
const useSettled = (value: string): string => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
