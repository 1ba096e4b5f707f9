import type { AsOfView, PastPoint } from '../../core/shared/as-of.ts'
import { INITIAL_STATE, type State } from '../../core/state.ts'
import { PastStates } from '../../engine/past-states.ts'
import { viewpointAt, type Viewpoint } from '../../engine/queries/viewpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import { parsePoint } from './arguments.ts'
import type { Answer, Invocation, SvcCommand } from './command.ts'
import { settingsOf } from './configuration.ts'
import { Failure } from './failure.ts'
import { believedBy, openExisting, stateOf, withLog } from './store.ts'
import { fields, paragraphs, quiet } from './table.ts'
import type { Text } from './terminal.ts'
import { details } from './view-text.ts'

export interface AsOfOption {
  readonly asOf?: PastPoint
}

/** Adds `--as-of` to a command that can show the past. */
export const withAsOf = (command: SvcCommand): SvcCommand =>
  command.option('--as-of <seq|time>', 'as it was after this event, or at this time', parsePoint)

/** Adds `--as-of`, and an action that shows the present or the past. A list becomes the member `list` in the past. */
export const runsAsOf = <Options>(command: SvcCommand, answer: Showing<Options>, list?: string): SvcCommand =>
  withAsOf(command).runs((invocation, options: Options & AsOfOption) =>
    answeredAsOf(invocation, options, (from) => answer(from, options), list),
  )

type Showing<Options> = (from: AnsweredFrom, options: Options) => Answer | Promise<Answer>

/** Viewpoint and state from which an answer is computed. */
export type AnsweredFrom = Viewpoint & { readonly state: State }

type Answering = (from: AnsweredFrom) => Answer | Promise<Answer>

/**
 * Answers from the present, which may have no store yet, or from the log at an earlier point. In the second case a list
 * becomes a member of the answer.
 */
export const answeredAsOf = async (
  invocation: Invocation,
  { asOf: point }: AsOfOption,
  answer: Answering,
  list = 'items',
): Promise<Answer> => {
  if (point === undefined) return answeredNow(invocation, answer)
  await using session = await openExisting(invocation)
  const { log, trust } = session
  const reader = { log, past: new PastStates(log, trust), fresh: () => stateOf(log, trust) }
  const found = await viewpointAt(point, reader, await session.present())
  if (found.status === 'busy')
    throw new Failure('as_of.busy', 'too many questions about the past are waiting')
  if (found.status === 'out-of-range')
    throw new Failure('as_of.out_of_range', `there is no such place in the log: ${found.detail}`)
  const { viewpoint } = found
  const given = agedBy(viewpoint.clock, await answer({ ...viewpoint, state: await viewpoint.reader.fresh() }))
  return viewpoint.asOf === null ? given : datedAnswer(given, viewpoint.asOf, list)
}

type TextAnswer = Answer & { readonly text: Text }

/** The answer, with ages counted by this clock. */
export const agedBy = (clock: Pick<Clock, 'now'>, given: Answer): TextAnswer => {
  const { text = details(given.document ?? {}) } = given
  return {
    ...given,
    text: typeof text === 'string' ? () => text : (style) => text({ ...style, nowMs: clock.now() }),
  }
}

/** Answers from the present, which may have no store yet. Ages are counted by the clock of decisions. */
export const answeredNow = async (invocation: Invocation, answer: Answering): Promise<Answer> => {
  const stored = await withLog(
    invocation,
    async (log, trust, session) => {
      const { state, log: believed } = await believedBy(log, trust)
      const reader = { log: believed, fresh: () => Promise.resolve(state) }
      const present = await session.present()
      return agedBy(present.clock, await answer({ ...present, state, reader, asOf: null }))
    },
    null,
  )
  if (stored !== null) return stored
  const present = { clock: invocation.clock, configuration: await settingsOf(invocation) }
  return answer({ ...present, state: INITIAL_STATE, reader: NOTHING_STORED, asOf: null })
}

const NOTHING_STORED: Viewpoint['reader'] = {
  log: { read: () => Promise.resolve([]), get: () => Promise.resolve(null) },
  fresh: () => Promise.resolve(INITIAL_STATE),
}

const datedAnswer = ({ document, text, ...rest }: TextAnswer, asOf: AsOfView, list: string): Answer => {
  const members = Array.isArray(document) ? { [list]: document as unknown } : document
  const settings =
    asOf.configuration === 'current' ? ', with the settings of today: the log does not hold others' : ''
  const dated = fields([['As of', quiet(`event ${asOf.seq}, ${asOf.time}${settings}`)]])
  return { ...rest, document: { ...members, as_of_point: asOf }, text: paragraphs(dated, text) }
}
