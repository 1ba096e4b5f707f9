import type { FactorName, Score } from '../../api/people.ts'
import { formatPercent } from '../../ui/format.ts'

export interface FactorWords {
  readonly name: FactorName
  readonly label: string
  /** What it asks. */
  readonly question: string
  /** Its part of a bar. */
  readonly fill: string
}

/** Calls that came to an end before hit rate and calibration count. */
export const RESOLVED_MIN = 5

export const FACTORS: readonly FactorWords[] = [
  {
    name: 'hit_rate',
    label: 'Hit rate',
    question: 'How many of all calls were right?',
    fill: 'bg-accent',
  },
  {
    name: 'calibration',
    label: 'Calibration',
    question: 'Does what is said to be likely happen as often as said?',
    fill: 'bg-accent/75',
  },
  { name: 'volume', label: 'Volume', question: 'How many signals did the brain use?', fill: 'bg-accent/55' },
  {
    name: 'consistency',
    label: 'Consistency',
    question: 'How many days in a row?',
    fill: 'bg-accent/40',
  },
  {
    name: 'recency',
    label: 'Recency',
    question: 'How long ago was the last signal? Fades after 7 days.',
    fill: 'bg-accent/25',
  },
]

/** Points of the score, of 100. */
export const pointsOf = (score: Score, name: FactorName): number => score.factors[name].contribution * 100

export const pointsMaxOf = (score: Score, name: FactorName): number => score.factors[name].weight * 100

/** What a factor is made of, in numbers. */
export const factorNote = (score: Score, name: FactorName): string => {
  const isEnough = score.signals_resolved >= RESOLVED_MIN
  const missing = `${score.signals_resolved} of ${RESOLVED_MIN} calls with a known outcome that it needs`
  switch (name) {
    case 'hit_rate':
      return isEnough
        ? `${score.signals_profitable} of ${score.signals_resolved} calls right, ${formatPercent(score.hit_rate, { digits: 0 })}`
        : missing
    case 'calibration':
      return isEnough ? `Brier score ${score.brier_score.toFixed(3)}; 0.25 is no better than chance` : missing
    case 'volume':
      return `${score.signals_accepted} of ${score.signals_submitted} signals used${evidenceNote(score)}`
    case 'consistency':
      return `${score.streak === 1 ? '1 day' : `${score.streak} days`} in a row${evidenceNote(score)}`
    case 'recency':
      return score.last_active === '' ? 'no signal yet' : 'full within 7 days, then fading over 30'
  }
}

const evidenceNote = ({ inputs }: Score): string =>
  inputs === undefined ? '' : `; counts ${formatPercent(inputs.evidence, { digits: 0 })} for want of outcomes`
