import type { IntegrityReport } from '../../engine/integrity/report.ts'
import { VERIFY_STEPS, verifyLog, type VerifyOptions } from '../../engine/integrity/verify.ts'
import type { Invocation } from './command.ts'
import type { StoreSession } from './dependencies.ts'

type Verified = Pick<StoreSession, 'log' | 'trust'> & Pick<VerifyOptions, 'checkpoints'>

/** Verifies the whole log, or its newest `n` events, with a progress bar. */
export const verified = async (
  { clock, progress }: Invocation,
  { log, checkpoints, trust }: Verified,
  n: number | null,
): Promise<IntegrityReport> => {
  const bar = progress('verifying')
  return await verifyLog(log, {
    ...(n === null ? { mode: 'full', n: 0 } : { mode: 'fast', n }),
    checkpoints,
    trust,
    clock,
    onProgress: ({ step, checked, total }) =>
      bar.update(checked + VERIFY_STEPS.indexOf(step) * total, VERIFY_STEPS.length * total),
  }).finally(bar.end)
}
