import type { OwnProducer } from '../../../ports/producer.ts'
import type { OwnCodeOptions } from '../../own-program.ts'
import { startedCode } from './own-code.ts'

/** A producer in a file of the user, in a process of its own, or in a thread for a backtest. */
export const openOwnProducer = async (
  { name, path }: { readonly name: string; readonly path: string },
  options: OwnCodeOptions,
): Promise<OwnProducer> => {
  const code = startedCode({ file: path, name, translations: new Map() }, options)
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
