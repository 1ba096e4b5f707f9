import { CircleAlert, Inbox, LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError, UnreachableError } from '../api/client.ts'
import { Button } from './button.tsx'

export const Loading = ({ what = 'data' }: { readonly what?: string }) => (
  <p role="status" className="flex items-center justify-center gap-2 px-4 py-8 text-muted">
    <LoaderCircle className="size-4 animate-spin" aria-hidden /> Loading {what} …
  </p>
)

/** Nothing to show: why, and what changes that. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="flex flex-col items-center gap-1 px-4 py-8 text-center">
    <Inbox className="size-5 text-muted" aria-hidden />
    <p className="font-medium">{title}</p>
    {children === undefined ? null : (
      <div className="max-w-prose text-sm text-balance text-muted">{children}</div>
    )}
  </div>
)

export const Failure = ({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) => (
  <div role="alert" className="flex flex-col items-center gap-2 px-4 py-8 text-center">
    <CircleAlert className="size-5 text-bad" aria-hidden />
    <p className="font-medium">{titleOf(error)}</p>
    <p className="max-w-prose text-sm text-muted">{adviceOf(error)}</p>
    {onRetry === undefined ? null : (
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    )}
  </div>
)

export const titleOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const adviceOf = (error: unknown): string => {
  if (error instanceof UnreachableError) return 'Check that it is running. The page retries automatically.'
  if (!(error instanceof ApiError)) return 'Reload the page. If the error stays, see the log of the service.'
  const requestId = error.requestId === null ? '' : ` Request ${error.requestId}.`
  switch (error.status) {
    case 401:
      return 'The session is over. Sign in again.'
    case 403:
      return error.code === 'auth.forbidden'
        ? 'The operator token is needed.'
        : `Sign in with a token that may do this (${error.code}).`
    case 404:
      return `Not found, or not offered by this version of the service (${error.code}).`
    case 423:
      return 'The kill switch is raised. Lower it first.'
    case 429:
      return 'More than api.rate_limit_per_minute allows. The page retries automatically.'
    case 503:
      return `The service or its store is busy (${error.code}). The page retries automatically.${requestId}`
    default:
      return `Code ${error.code}.${requestId}`
  }
}
