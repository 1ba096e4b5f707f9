import { useState } from 'react'
import type { ExplainedConviction } from '../../api/trading.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatNumber } from '../../ui/format.ts'
import { Untrusted } from '../../ui/untrusted.tsx'
import { actionWord, toneOfAction } from './words.ts'

type WhatIf = ExplainedConviction['what_if'][number]

const CHANGES: Readonly<Record<WhatIf['change'], string>> = {
  without_author: 'without',
  without_domain: 'without domain',
  other_regime: 'in regime',
}

const FEW = 5

/** Those that change the decision first; the rest on demand. */
export const WhatIfs = ({ whatIfs }: { readonly whatIfs: readonly WhatIf[] }) => {
  const [isAll, setAll] = useState(false)
  const deciding = whatIfs.filter(({ changes_decision }) => changes_decision)
  const others = whatIfs.filter(({ changes_decision }) => !changes_decision)
  const shown = isAll ? [...deciding, ...others] : deciding.slice(0, FEW)
  return (
    <div className="grid gap-2 text-[13px]">
      {deciding.length === 0 ? (
        <p>No single author, domain or regime would have changed the decision.</p>
      ) : null}
      <ul className="grid">
        {shown.map((whatIf) => (
          <WhatIfRow key={`${whatIf.change} ${whatIf.subject}`} whatIf={whatIf} />
        ))}
      </ul>
      {whatIfs.length > deciding.slice(0, FEW).length ? (
        <Button size="small" className="justify-self-start" onClick={() => setAll(!isAll)}>
          {isAll ? 'Show fewer' : `Show all ${whatIfs.length}`}
        </Button>
      ) : null}
    </div>
  )
}

const WhatIfRow = ({ whatIf }: { readonly whatIf: WhatIf }) => (
  <li className="flex items-center justify-between gap-3 border-b border-line py-1.5 last:border-0">
    <span className="flex min-w-0 items-baseline gap-1.5">
      <span className="text-muted whitespace-nowrap">{CHANGES[whatIf.change]}</span>
      <Untrusted lines={1} text={whatIf.subject} />
    </span>
    <span className="flex items-center gap-2 whitespace-nowrap">
      <span className="text-muted">conviction {formatNumber(whatIf.effective_conviction, 1)}</span>
      <Badge tone={toneOfAction(whatIf.action)}>{actionWord(whatIf.action)}</Badge>
    </span>
  </li>
)
