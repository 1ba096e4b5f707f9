import type { Author } from '../../api/types.ts'
import { cx } from '../../ui/cx.ts'
import { formatFixed } from '../../ui/format.ts'

type Skill = Pick<Author, 'edge' | 'edge_low' | 'edge_high'>

/** Meaning of the interval, in words. */
export const skillText = ({ edge_low, edge_high }: Skill): string => {
  if (edge_low > 0) return 'better than chance'
  return edge_high < 0 ? 'worse than chance' : 'not yet told from chance'
}

export const intervalText = ({ edge_low, edge_high }: Skill): string =>
  `${formatGrade(edge_low)} to ${formatGrade(edge_high)}`

export const formatGrade = (grade: number, digits = 2): string => formatFixed(grade, digits, { plus: true })

/** Skill at both ends of the bar. Hardly any author exceeds it. A wider interval is cut off. */
const END = 0.5

const placeOf = (grade: number): number => 50 + 50 * (Math.max(-END, Math.min(END, grade)) / END)

const fillOf = ({ edge_low, edge_high }: Skill): string => {
  if (edge_low > 0) return 'bg-good'
  return edge_high < 0 ? 'bg-bad' : 'bg-muted'
}

/** The interval of a skill as a bar. The line in the middle is chance. */
export const IntervalBar = ({ skill }: { readonly skill: Skill }) => {
  const [low, high] = [placeOf(skill.edge_low), placeOf(skill.edge_high)]
  return (
    <span
      aria-hidden
      title={`${formatGrade(skill.edge)}, with 95 % certainty ${intervalText(skill)}: ${skillText(skill)}`}
      className="relative block h-3 w-full min-w-20 overflow-hidden rounded-full bg-raised"
    >
      <span
        className={cx('absolute inset-y-1 rounded-full', fillOf(skill))}
        style={{ left: `${low}%`, width: `${Math.max(1, high - low)}%` }}
      />
      <span
        className={cx('absolute inset-y-0 w-1.5 -translate-x-1/2 rounded-full', fillOf(skill))}
        style={{ left: `${placeOf(skill.edge)}%` }}
      />
      <span className="absolute inset-y-0 left-1/2 w-px bg-text" />
    </span>
  )
}
