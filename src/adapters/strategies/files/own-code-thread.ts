import { basename } from 'node:path'
import { workerData } from 'node:worker_threads'
import { descriptionOf, NO_FACTS } from '../../../core/strategies/direct.ts'
import { faultsOfSets, parseParameters } from '../../../core/strategies/parameters.ts'
import { StrategyRun, type AccountFacts } from '../../../core/strategies/run-strategy.ts'
import { StrategyError, type StrategyDefinition } from '../../../core/strategies/strategy.ts'
import { loadProducer, loadStrategy } from './load-definition.ts'
import type { OwnProducerDefinition } from './producer-module.ts'
import type { AnswerOf, Kind, RequestOf, ThreadAnswer, ThreadData, ThreadRequest } from './messages.ts'

/** Runs a file of the user in this thread. Faults of the file affect this thread only. */
const { file, name, port, answered, ...given } = workerData as ThreadData
const counter = new Int32Array(answered)
const translations = new Map(given.translations)

let definition: StrategyDefinition | null = null
let producer: OwnProducerDefinition | null = null
let run: StrategyRun | null = null

const strategy = async (): Promise<StrategyDefinition> =>
  (definition ??= await loadStrategy(file, name, translations))

const HANDLERS: { readonly [Of in Kind]: (request: RequestOf<Of>) => AnswerOf<Of> | Promise<AnswerOf<Of>> } =
  {
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
      const known = frozenFacts(facts)
      for (const bar of bars) opened.add(bar, NO_FACTS)
      return opened.decide(() => known)
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

const openedRun = (): StrategyRun => {
  if (run === null) throw new Error('it was not opened')
  return run
}

const frozenFacts = ({ positions, account }: AccountFacts): AccountFacts => ({
  positions: Object.freeze(positions.map((position) => Object.freeze(position))),
  account: Object.freeze(account),
})

const answerTo = ({ kind, request }: ThreadRequest): unknown =>
  (HANDLERS[kind] as (request: unknown) => unknown)(request)

const send = (answer: ThreadAnswer): void => {
  try {
    port.postMessage(answer, [])
  } catch (error) {
    // Functions and other values that cannot be cloned cannot be sent.
    port.postMessage({ status: 'error', message: `its answer is no data: ${messageOf(error)}` }, [])
  }
  Atomics.add(counter, 0, 1)
  Atomics.notify(counter, 0)
}

/** The message, with the line of the user's file if it is known. */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error).slice(0, 1000)
  const [text] = error.message.slice(0, 1000).split('\n')
  const [, line] = new RegExp(`${basename(file).replaceAll('.', '\\.')}:(\\d+)`).exec(error.stack ?? '') ?? []
  return line === undefined || error instanceof StrategyError
    ? `${text}`
    : `${text} (${basename(file)}:${line})`
}

// A caller that blocks for an answer gets no exit event of this thread, so the thread sends an error.
process.on('exit', () =>
  send({ status: 'error', message: 'its thread ended: it must not call process.exit' }),
)

const failed = (error: unknown): void => send({ status: 'error', message: messageOf(error) })

port.on('message', (request: ThreadRequest) => {
  try {
    const answer = answerTo(request)
    if (answer instanceof Promise)
      answer.then((value: unknown) => send({ status: 'ok', answer: value }), failed)
    else send({ status: 'ok', answer })
  } catch (error) {
    failed(error)
  }
})
