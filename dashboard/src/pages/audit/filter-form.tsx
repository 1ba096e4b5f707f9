import { useNavigate } from '@tanstack/react-router'
import { ListFilter, X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'

interface FilterFormProps {
  readonly label: string
  /** The page itself, without any filter. */
  readonly path: '/audit' | '/signals'
  /** How many filters are set. */
  readonly count: number
  readonly className: string
  readonly children: ReactNode
}

/** Filters of a page: always there on wide screens, behind a button on narrow ones. */
export const FilterForm = ({ label, path, count, className, children }: FilterFormProps) => {
  const navigate = useNavigate()
  const [isShown, setIsShown] = useState(false)
  return (
    <div className="border-b border-line p-3 max-sm:py-2">
      <Button
        size="small"
        aria-expanded={isShown}
        className="w-full sm:hidden"
        onClick={() => setIsShown(!isShown)}
      >
        <ListFilter className="size-3.5" aria-hidden /> Filters{count === 0 ? '' : ` (${count} set)`}
      </Button>
      <form
        role="search"
        aria-label={label}
        className={cx(
          'grid items-end gap-2',
          !isShown && 'max-sm:hidden',
          isShown && 'max-sm:mt-2',
          className,
        )}
        onSubmit={(event) => event.preventDefault()}
      >
        {children}
        <Button
          look="quiet"
          disabled={count === 0}
          onClick={() => void navigate({ to: path, replace: true })}
        >
          <X className="size-4" aria-hidden /> Clear
        </Button>
      </form>
    </div>
  )
}
