import { basename } from 'node:path'
import { descriptionOf, NO_FACTS } from '../../../core/strategies/direct.ts'
import { faultsOfSets, parseParameters } from '../../../core/strategies/parameters.ts'
import { StrategyRun, type AccountFacts } from '../../../core/strategies/run-strategy.ts'
import { StrategyError, type StrategyDefinition } from '../../../core/strategies/strategy.ts'
import { loadProducer, loadStrategy } from './load-definition.ts'
import type { AnswerOf, CodeAnswer, CodeRequest, CodeSubject, Kind, RequestOf } from './messages.ts'
import type { OwnProducerDefinition } from './producer-module.ts'

/** Runs a file of the user for its thread or process. `send` throws for what is no data. */
export const answerRequests = (
  subject: CodeSubject,
  send: (answer: CodeAnswer) => void,
): ((request: CodeRequest) => void) => {
  const handlers = handlersFor(subject)
  const answerTo = ({ kind, request }: CodeRequest): unknown =>
    (handlers[kind] as (request: unknown) => unknown)(request)
  const failed = (error: unknown): void => send({ status: 'error', message: messageOf(error, subject.file) })
  const answered = (answer: unknown): void => {
    try {
      send({ status: 'ok', answer })
    } catch (error) {
      // Functions and the like cannot be sent.
      send({ status: 'error', message: `its answer is no data: ${messageOf(error, subject.file)}` })
    }
  }
  return (request) => {
    try {
      const answer = answerTo(request)
      if (answer instanceof Promise) answer.then(answered, failed)
      else answered(answer)
    } catch (error) {
      failed(error)
    }
  }
}

type Handlers = { readonly [Of in Kind]: (request: RequestOf<Of>) => AnswerOf<Of> | Promise<AnswerOf<Of>> }

const handlersFor = ({ file, name, translations: known }: CodeSubject): Handlers => {
  const translations = new Map(known)
  let definition: StrategyDefinition | null = null
  let producer: OwnProducerDefinition | null = null
  let run: StrategyRun | null = null
  const strategy = async (): Promise<StrategyDefinition> =>
    (definition ??= await loadStrategy(file, name, translations))
  const openedRun = (): StrategyRun => {
    if (run === null) throw new Error('it was not opened')
    return run
  }
  return {
    'describe-strategy': async () => descriptionOf(await strategy()),
    'open-strategy': async ({ parameters, analysisSeconds, tradesPast }) => {
      const opened = await strategy()
      const parsed = parseParameters(opened.parameters, parameters)
      if (parsed.status === 'invalid') throw new StrategyError(parsed.problems.join('; '))
      run = new StrategyRun(opened, parsed.values, { analysisSeconds: () => analysisSeconds, tradesPast })
      return { parameters: parsed.values, warmUp: run.warmUp }
    },
    'check-parameters': async ({ sets }) => faultsOfSets((await strategy()).parameters, sets),
    take: ({ bars }) => {
      const opened = openedRun()
      for (const bar of bars) opened.add(bar, NO_FACTS)
      return null
    },
    decide: ({ bars, facts }) => {
      const opened = openedRun()
      const frozen = frozenFacts(facts)
      for (const bar of bars) opened.add(bar, NO_FACTS)
      return opened.decide(() => frozen)
    },
    'describe-producer': async () => {
      producer ??= await loadProducer(file, name, translations)
      const { domain, schedule } = producer
      return { name, domain, schedule }
    },
    produce: async ({ view }) => {
      producer ??= await loadProducer(file, name, translations)
      return producer.run(view)
    },
    translations: () => translations,
  }
}

const frozenFacts = ({ positions, account }: AccountFacts): AccountFacts => ({
  positions: Object.freeze(positions.map((position) => Object.freeze(position))),
  account: Object.freeze(account),
})

/** Message of an error in a file of the user, with the line of that file where it is known. */
export const messageOf = (error: unknown, file: string): string => {
  if (!(error instanceof Error)) return String(error).slice(0, 1000)
  const [text] = error.message.slice(0, 1000).split('\n')
  const [, line] = new RegExp(`${basename(file).replaceAll('.', '\\.')}:(\\d+)`).exec(error.stack ?? '') ?? []
  return line === undefined || error instanceof StrategyError
    ? `${text}`
    : `${text} (${basename(file)}:${line})`
}
