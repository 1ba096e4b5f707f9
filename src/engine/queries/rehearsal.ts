import type { Command } from '../../core/decide.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { run, type RunResult } from '../../core/run.ts'
import type { Clock } from '../../ports/clock.ts'
import { isoNow } from '../iso-now.ts'
import { sha256Hex } from '../sha256.ts'
import type { Reader } from './reader.ts'

export interface RehearsalDependencies {
  readonly clock: Clock
  readonly configuration: Configuration
  readonly version: string
}

/** What a command would lead to if it were given now. Nothing is stored. */
export const rehearse = async (
  reader: Pick<Reader, 'fresh'>,
  command: Command,
  { clock, configuration, version }: RehearsalDependencies,
): Promise<RunResult> =>
  run(await reader.fresh(), command, {
    now: isoNow(clock),
    newId: () => clock.newId(),
    traceId: null,
    configuration,
    version,
    sha256Hex,
    // Nobody will see it, so nobody has to sign it.
    nodeId: 'rehearsal',
    sign: () => '',
    elapsedMs: () => 0,
  })
