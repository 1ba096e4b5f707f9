import { verifyLog, type VerifyProgress } from '../../engine/integrity/verify.ts'
import type { IntegrityReport } from '../../engine/integrity/report.ts'
import type { Signatures } from '../../ports/signatures.ts'
import type { CommandDependencies, StoreSession } from './dependencies.ts'

export type VerifyRequest = { readonly mode: 'fast'; readonly n: number } | { readonly mode: 'full' }

/** Verifies the log alone, not what was folded from it. Nothing is written. */
export const verifySession = (
  dependencies: CommandDependencies,
  { log, checkpoints }: StoreSession,
  request: VerifyRequest,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<IntegrityReport> =>
  withSignatures(dependencies, (signatures) =>
    verifyLog(log, {
      mode: request.mode,
      n: request.mode === 'fast' ? request.n : 0,
      checkpoints,
      signatures,
      clock: dependencies.clock,
      onProgress,
    }),
  )

export const withSignatures = async <Result>(
  dependencies: CommandDependencies,
  use: (signatures: Signatures) => Promise<Result>,
): Promise<Result> => {
  return use(await dependencies.openSignatures())
}
