import type { Configuration } from '../core/config/schema.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog, StoreLostError } from '../ports/event-log.ts'
import type { Signatures } from '../ports/signatures.ts'
import type { Signer } from '../ports/signer.ts'
import type { EngineLimits } from './command-queue.ts'
import type { Trust } from './integrity/trust.ts'
import type { CatchUpOptions } from './memory.ts'

export interface EngineDependencies {
  readonly log: EventLog
  readonly signer: Signer
  readonly clock: Clock
  readonly snapshotEveryEvents: number
  /** Checks the signatures of submissions. Without it, no signature is valid. */
  readonly isSigned?: Signatures['isSigned']
  /** Rules for checking events of other processes. `onUnsigned` receives events without a valid signature. */
  readonly trust?: Trust
  readonly onUnsigned?: CatchUpOptions['onUnsigned']
  /** Settings for decisions. Default: the default configuration. */
  readonly configuration?: () => Configuration
  /** The running release. */
  readonly version?: string
  readonly limits?: Partial<EngineLimits>
  /** Called once, when nothing can be stored any more. */
  readonly onLost?: (error: StoreLostError) => void
  /** Called for errors that no caller waits for. */
  readonly onError: (what: string, error: unknown) => void
}
