import type { TradeReason } from '../trade-reasons.ts'
import { decimalText, html, NOTHING, percentText, toned, usdText, type Html } from './markup.ts'

/** Why a trade was opened, to be unfolded: what the sheet of the dashboard shows. */
export const why = (reason: TradeReason | null): Html => {
  if (reason === null) return html`<span class="quiet">not kept</span>`
  return html`<details class="why">
    <summary>${reason.by}, ${decimalText(reason.conviction, 1)}</summary>
    <p>${reason.rationale}</p>
    <dl class="run">
      ${factsOf(reason).map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${reason.inputs.length === 0 ? NOTHING : inputs(reason)}
  </details>`
}

type Fact = readonly [string, string]

const factsOf = (reason: TradeReason): readonly Fact[] => {
  const { case: found, sizing, limits } = reason
  const asked = `${percentText(reason.size_pct)} of equity, stop ${levelText(reason.stop_loss_pct)}, target ${levelText(reason.take_profit_pct)}`
  const facts: Fact[] = [['Asked for', asked]]
  if (found !== null) {
    facts.push(
      [
        'For and against',
        `${decimalText(found.pcs_score, 1)} for, ${decimalText(found.cts_score, 1)} against`,
      ],
      ['Confidence', `${percentText(found.confidence, 0)}, coverage ${percentText(found.coverage, 0)}`],
    )
  }
  if (sizing !== null) {
    const learned = `Kelly ${usdText(sizing.kelly_usd)}, floor ${usdText(sizing.floor_usd)} USD`
    facts.push(['Size', `set by ${words(sizing.bound_by.join(', '))}; ${learned}`])
  }
  const bounds = Object.entries(limits).map(([name, usd]) => `${words(name)} ${usdText(usd)}`)
  if (bounds.length > 0) facts.push(['Limits in USD', bounds.join(', ')])
  return facts
}

const levelText = (share: number | null): string => (share === null ? 'none' : percentText(share))

const words = (text: string): string => text.replaceAll('_', ' ')

const inputs = ({ inputs: signals, inputs_left_out: leftOut }: TradeReason): Html =>
  html`<table>
      <thead>
        <tr>
          <th scope="col" class="text">Signal of</th>
          <th scope="col">Evidence</th>
          <th scope="col">Share</th>
          <th scope="col">Contribution</th>
        </tr>
      </thead>
      <tbody>
        ${signals.map(
          ({ author, domain, evidence, share, contribution }) =>
            html`<tr>
              <td class="text">${author}, ${domain}</td>
              <td>${decimalText(evidence, 3)}</td>
              <td>${percentText(share, 0)}</td>
              <td>${toned(contribution, decimalText(contribution, 3))}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${leftOut === 0 ? NOTHING : html`<p class="quiet">and ${leftOut} weaker ones</p>`}`
