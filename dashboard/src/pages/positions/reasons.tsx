import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiProblem } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { ExplainedConviction } from '../../api/trading.ts'
import { formatNumber, formatPercent } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { InputsTable } from '../brain/inputs-table.tsx'

interface ReasonsProps {
  readonly convictionId: string | null
  readonly symbol: string
}

/** What was known when it was opened: the conviction, and who had which part in it. */
export const Reasons = ({ convictionId, symbol }: ReasonsProps) => (
  <Section title="Why it was opened">
    {convictionId === null ? (
      <p className="text-[13px] text-muted">It was not opened by a conviction of the brain.</p>
    ) : (
      <Conviction id={convictionId} symbol={symbol} />
    )}
  </Section>
)

const Conviction = ({ id, symbol }: { readonly id: string; readonly symbol: string }) => {
  const query = useQuery(queries.explanation(id))
  if (query.error instanceof ApiProblem && query.error.status === 404) {
    return (
      <p className="text-[13px] text-muted">The conviction behind it is not in the log of this service.</p>
    )
  }
  return (
    <QueryContent query={query} what="the inputs">
      {({ convictions }) => {
        const found =
          convictions.find(({ conviction_id }) => conviction_id === id) ??
          convictions.find((conviction) => conviction.symbol === symbol)
        return found === undefined ? (
          <p className="text-[13px] text-muted">The cycle says nothing about {symbol}.</p>
        ) : (
          <Explained conviction={found} />
        )
      }}
    </QueryContent>
  )
}

const Explained = ({ conviction }: { readonly conviction: ExplainedConviction }) => {
  const inputs = conviction.inputs.toSorted(
    (one, other) => Math.abs(other.contribution) - Math.abs(one.contribution),
  )
  return (
    <div className="grid gap-3">
      <Facts
        facts={[
          [
            'Conviction',
            `${conviction.direction}, ${formatNumber(conviction.effective_conviction, 1)} after the counter-thesis`,
          ],
          [
            'For and against',
            `${formatNumber(conviction.pcs_score, 1)} for, ${formatNumber(conviction.cts_score, 1)} against`,
          ],
          ['Confidence', formatPercent(conviction.confidence, { digits: 0 })],
          ['Domains heard', formatPercent(conviction.coverage, { digits: 0 })],
        ]}
      />
      <InputsTable inputs={inputs} />
      <Link
        to="/brain"
        search={{ why: conviction.conviction_id } as never}
        className="text-[13px] text-accent underline underline-offset-2"
      >
        The whole decision
      </Link>
    </div>
  )
}
