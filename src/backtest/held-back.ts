/** Meaning of each reason for not trading, where the name does not explain itself. */
const MEANINGS: Readonly<Record<string, string>> = {
  below_minimum: 'the order would be smaller than execution.min_notional_usd',
  below_threshold: 'the conviction was too weak',
  coverage: 'too few domains had signals',
  drawdown_limit: 'the account had fallen too far from its peak',
  duplicate_position: 'the symbol had as many positions as it may have',
  hold: 'a position was open already',
  neutral: 'no direction prevailed',
  no_next_bar: 'the symbol had no bar after the decision',
  no_price: 'there was no recent price',
  price_moved: 'the price had moved away since the decision',
  regime_crisis: 'the market was in a crisis',
  size_zero: 'sizing left nothing to trade',
  stop_passed: 'the price was at or beyond the stop that was asked for as a price',
  target_passed: 'the price was at or beyond the target that was asked for as a price',
}

/** How often trades were held back, by reason, as text. The most frequent reason comes first. */
export const heldBackTexts = (heldBack: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(heldBack).map(([reason, count]) => {
    const meaning = MEANINGS[reason]
    return `${count === 1 ? 'once' : `${count} times`} by ${reason}${meaning === undefined ? '' : ` (${meaning})`}`
  })
