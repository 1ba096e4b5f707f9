import type { HttpDependencies } from './dependencies.ts'

/** For limits per minute and uptime: the clock of decisions stands still while a replay waits for its next bar. */
export const steadyNowOf = ({ steadyNow, clock }: Pick<HttpDependencies, 'steadyNow' | 'clock'>): number =>
  steadyNow?.() ?? clock.now()
