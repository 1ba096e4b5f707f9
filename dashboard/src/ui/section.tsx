import { useId, type ReactNode } from 'react'

interface SectionProps {
  readonly title: string
  readonly hint?: string
  readonly children: ReactNode
}

/** A part of a sheet. */
export const Section = ({ title, hint, children }: SectionProps) => {
  const id = useId()
  return (
    <section aria-labelledby={id} className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h3 id={id} className="text-sm font-semibold">
          {title}
        </h3>
        {hint === undefined ? null : <p className="text-xs text-muted">{hint}</p>}
      </div>
      {children}
    </section>
  )
}
