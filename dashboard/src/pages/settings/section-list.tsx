import { cx } from '../../ui/cx.ts'
import { inputClass } from '../../ui/field.tsx'

export interface SectionEntry {
  readonly id: string
  readonly name: string
  /** Unsaved. */
  readonly changed: number
  readonly isWrong: boolean
}

interface SectionListProps {
  readonly sections: readonly SectionEntry[]
  readonly current: string
  readonly onChoose: (id: string) => void
}

/** All sections: a list beside the form, a choice above it on phones. */
export const SectionList = ({ sections, current, onChoose }: SectionListProps) => (
  <>
    <select
      aria-label="Section"
      value={current}
      className={cx(inputClass, 'lg:hidden')}
      onChange={(event) => onChoose(event.target.value)}
    >
      {sections.map(({ id, name, changed }) => (
        <option key={id} value={id}>
          {name}
          {changed === 0 ? '' : ` (${changed} changed)`}
        </option>
      ))}
    </select>
    <nav aria-label="Sections" className="grid gap-px max-lg:hidden">
      {sections.map(({ id, name, changed, isWrong }) => (
        <button
          key={id}
          type="button"
          aria-current={id === current ? 'true' : undefined}
          className={cx(
            'flex items-center justify-between gap-2 rounded-md px-2.5 py-1 text-left text-[13px]',
            id === current
              ? 'bg-accent-soft font-medium text-accent'
              : 'text-muted hover:bg-raised hover:text-text',
          )}
          onClick={() => onChoose(id)}
        >
          {name}
          {changed === 0 ? null : (
            <span className={cx('text-xs', isWrong ? 'text-bad' : 'text-accent')}>
              {changed}
              <span className="sr-only">{isWrong ? ' changed, not valid' : ' changed'}</span>
            </span>
          )}
        </button>
      ))}
    </nav>
  </>
)
