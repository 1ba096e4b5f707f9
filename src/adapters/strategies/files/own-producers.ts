import type { OwnProducer } from '../../../ports/producer.ts'
import type { OwnCodeOptions } from '../../own-program.ts'
import { OwnCode } from './own-code.ts'
import { ProcessHost } from './process-host.ts'
import { ThreadHost } from './thread-host.ts'

/** A producer in a file of the user, in a process of its own, or in a thread of a backtest, which ends with its run. */
export const openOwnProducer = async (
  { name, path }: { readonly name: string; readonly path: string },
  options: OwnCodeOptions,
): Promise<OwnProducer> => {
  const subject = { file: path, name, translations: new Map() }
  const code = new OwnCode(options, (listener) =>
    options.isBacktest ? new ThreadHost(subject, listener) : new ProcessHost(subject, listener),
  )
  try {
    const description = await code.ask('describe-producer', {})
    return {
      ...description,
      run: (view) => code.ask('produce', { view }),
      close: () => code.close(),
    }
  } catch (error) {
    await code.close()
    throw error
  }
}
