import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { SUPPORTED_VENUES, type SupportedVenue } from '../../src/core/shared/venues.ts'

it('docs/live-trading.md has every supported venue with what the code says of it', async () => {
  const text = await readFile(new URL('../../docs/live-trading.md', import.meta.url), 'utf8')
  const rows = text.split('\n').filter((line) => /^\| `\w+` \|/.test(line))
  expect(rows).toEqual(Object.values(SUPPORTED_VENUES).map(rowOf))
})

const rowOf = (venue: SupportedVenue): string =>
  `| ${[
    `\`${venue.id}\``,
    venue.findsOrdersFor,
    `${venue.clientOrderIdLengthMax} characters`,
    venue.restsStops ? 'yes' : 'no',
    venue.hedgeMode,
    venue.marginModes.join(', '),
    venue.quantityUnit,
    venue.testNetwork,
    `${venue.acceptanceWindowMs / 1000} s`,
    venue.needsPassphrase ? 'yes' : 'no',
    venue.reportsFunding ? 'read' : 'in the balance only',
  ].join(' | ')} |`
