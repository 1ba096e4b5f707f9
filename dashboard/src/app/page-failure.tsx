import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Unreachable } from '../api/client.ts'
import { useLineStatus } from '../live/use-live.ts'
import { Failure } from '../ui/states.tsx'

/** Instead of a page that could not be loaded or drawn. What only waits for the service goes on by itself. */
export const PageFailure = ({ error }: { readonly error: unknown }) => {
  const router = useRouter()
  const isLive = useLineStatus() === 'live'
  const retry = (): void => void router.invalidate()
  useEffect(() => {
    if (isLive && error instanceof Unreachable) void router.invalidate()
  }, [isLive, error, router])
  return <Failure error={error} onRetry={retry} />
}
