import type { MarketView } from '../../../core/market/readings.ts'
import type { SeriesBar } from '../../../core/strategies/bar-series.ts'
import type { AccountFacts } from '../../../core/strategies/run-strategy.ts'
import type { ParameterValues, StrategyProposal } from '../../../core/strategies/strategy.ts'
import type { ProducerRun } from '../../../ports/producer.ts'
import type { StrategyDescription } from '../../../ports/strategy.ts'

/** What a user's file is asked for, in a thread or a process of its own, and what each answer is. */
export interface Messages {
  readonly 'describe-strategy': [request: object, answer: StrategyDescription]
  readonly 'open-strategy': [
    request: {
      readonly parameters: ParameterValues
      readonly analysisSeconds: number
      readonly tradesPast: boolean
    },
    answer: {
      readonly parameters: ParameterValues
      readonly warmUp: { readonly bars: number; readonly seconds: number }
    },
  ]
  readonly 'check-parameters': [
    request: { readonly sets: readonly ParameterValues[] },
    answer: readonly (string | null)[],
  ]
  /** Past bars on which nothing is decided. */
  readonly take: [request: { readonly bars: readonly SeriesBar[] }, answer: null]
  readonly decide: [
    request: { readonly bars: readonly SeriesBar[]; readonly facts: AccountFacts },
    answer: readonly StrategyProposal[],
  ]
  readonly 'describe-producer': [request: object, answer: ProducerDescription]
  readonly produce: [request: { readonly view: MarketView }, answer: ProducerRun]
  /** Translations of the files loaded so far. */
  readonly translations: [request: object, answer: Translations]
}

/** JavaScript by what it was made of, so that the next run of the same file need not load a compiler. */
export type Translations = ReadonlyMap<string, string>

export interface ProducerDescription {
  readonly name: string
  readonly domain: string
  readonly schedule: string
}

export type Kind = keyof Messages
export type RequestOf<Of extends Kind> = Messages[Of][0]
export type AnswerOf<Of extends Kind> = Messages[Of][1]

export interface CodeRequest {
  readonly kind: Kind
  readonly request: unknown
}

export type CodeAnswer =
  | { readonly status: 'ok'; readonly answer: unknown }
  | { readonly status: 'error'; readonly message: string }

export interface CodeSubject {
  /** The absolute path of the user's file. */
  readonly file: string
  /** The name that the file's object must have: the name of the file. */
  readonly name: string
  readonly translations: Translations
}
