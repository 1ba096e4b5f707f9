import { z } from 'zod'
import { StrategyError } from '../../../core/strategies/strategy.ts'
import type { OwnProducer, ProducerRun } from '../../../ports/producer.ts'
import type { OwnProgramOptions } from '../../own-program.ts'
import { OwnCode } from './own-code.ts'

const runSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('ran'),
    rows: z
      .array(z.strictObject({ type: z.string().max(128), payload: z.record(z.string(), z.json()) }))
      .max(1000),
  }),
  z.strictObject({ status: z.literal('degraded'), reason: z.string().max(1000) }),
])

/** A producer in a file of the user, in a thread of its own. */
export const openOwnProducer = async (
  { name, path }: { readonly name: string; readonly path: string },
  options: OwnProgramOptions,
): Promise<OwnProducer> => {
  const code = new OwnCode(path, name, options)
  try {
    const description = await code.ask('describe-producer', {})
    return {
      ...description,
      run: async (view) => runIn(await code.ask('produce', { view })),
      close: () => code.close(),
    }
  } catch (error) {
    await code.close()
    throw error
  }
}

/** Known members of signals are checked where they are stored. */
const runIn = (answer: unknown): ProducerRun => {
  const parsed = runSchema.safeParse(answer)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new StrategyError(`its answer is wrong: ${issue?.path.join('.')}: ${issue?.message}`)
}
