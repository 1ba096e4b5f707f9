import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { cx } from '../ui/cx.ts'

interface PageLinkProps {
  readonly to: string
  /** Filters or a selection, for the address. */
  readonly search?: Readonly<Record<string, string>>
  readonly title?: string
  readonly className?: string
  readonly children: ReactNode
}

/** A link to a page, in a text or a table. */
export const PageLink = ({ to, search = {}, title, className, children }: PageLinkProps) => (
  <Link
    to={to}
    // The router knows no type for search parameters: every page reads its own with useUrlState.
    search={search as never}
    title={title}
    className={cx('tap text-accent underline underline-offset-2', className)}
  >
    {children}
  </Link>
)
