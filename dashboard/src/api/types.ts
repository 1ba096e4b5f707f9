/** Short names for the types of the API. All of them come from its OpenAPI document; nothing is declared twice. */
import type { components, paths } from './schema.generated.ts'

type Schemas = components['schemas']

export type Payload = Readonly<Record<string, unknown>>

export type EventRecord = WithPayload<Schemas['EventRecord']>
/** An event as the stream sends it, and its place in the log. */
export type EventItem = Pick<EventRecord, 'seq' | 'id' | 'ts' | 'type' | 'source' | 'payload'>
export type EventFilter = NonNullable<paths['/events']['get']['parameters']['query']>

/**
 * An event with its payload. A payload that is no longer JSON, because the store was changed from outside, becomes a
 * member: see client.ts.
 */
export type WithPayload<Event extends { readonly payload: unknown }> = Omit<Event, 'payload'> & {
  readonly payload: Payload
}

export type Attribution = Schemas['Attribution']
export type Integrity = Schemas['Integrity']
export type Configuration = Schemas['Configuration']
export type ConfigurationSchema =
  paths['/config/schema']['get']['responses'][200]['content']['application/json']
export type VerifyProgress = NonNullable<
  paths['/integrity/progress']['get']['responses'][200]['content']['application/json']['progress']
>

export type RegimeView = Schemas['Regime']
export type BrainStatus = Schemas['BrainStatus']
export type Explanation = Schemas['Explanation']
export type ExplainedConviction = Explanation['convictions'][number]
export type ConvictionInput = ExplainedConviction['inputs'][number]
export type LearnedWeights = Schemas['Weights']
export type LearningRun = LearnedWeights['history'][number]
export type Weights = LearnedWeights['weights']

export type Live = Schemas['Live']
export type Portfolio = Schemas['Portfolio']
export type EquityHistory = Schemas['EquityHistory']
export type Position = Schemas['Position']
export type Intent = Schemas['Intent']
export type IntentStatus = Intent['status']
export type Order = Schemas['Order']

export type Contributor = Schemas['Contributor']
export type Score = Schemas['ContributorScore']
export type FactorName = keyof Score['factors']
export type Contribution = Schemas['Contribution']
export type CalibrationBin = Contribution['calibration'][number]
export type ContributionDay = Contribution['days'][number]
export type Authors = Schemas['Authors']
export type Author = Authors['authors'][number]
export type AuthorGroup = Authors['groups'][number]
export type BacktestRun = Schemas['BacktestRun']
export type BacktestResult = Schemas['BacktestRunWithResult']
export type ProducerStatus = Schemas['ProducerStatus']
export type ProducerHealth = ProducerStatus['health']
export type Provenance = Schemas['Provenance']

export type Treasury = Schemas['Treasury']
export type KarmaIntent = Schemas['KarmaIntent']
export type KarmaReceipt = Schemas['KarmaReceipt']

/** Response of the dashboard's own server to GET /session. */
export interface Session {
  readonly signed_in: boolean
  readonly sign_in_needed: boolean
  readonly expires_at: string | null
}
