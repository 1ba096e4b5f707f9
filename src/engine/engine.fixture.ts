import { testClock, testSigner } from '../../test/signer.fixture.ts'
import type { Command } from '../core/decide.ts'
import type { LogRecord } from '../core/log/event.ts'
import type { KillSwitchLevel } from '../core/shared/level.ts'
import type { EventLog } from '../ports/event-log.ts'
import { Engine } from './engine.ts'
import type { EngineDependencies } from './engine-dependencies.ts'

/** An engine with real signatures and a stopped clock. */
export const openEngine = (log: EventLog, dependencies: Partial<EngineDependencies> = {}): Promise<Engine> =>
  Engine.open({
    log,
    signer: testSigner(),
    clock: testClock(),
    snapshotEveryEvents: 1000,
    onError: () => undefined,
    ...dependencies,
  })

/** A producer of the domain technical. */
export const registration = (name: string): Command => ({
  kind: 'register-producer',
  producer: { name, domain: 'technical', endpoint: 'https://example.com', schedule: '* * * * *' },
  surface: 'api',
})

/** A command that is never refused and stores one event. */
export const access = (resource: string): Command => ({
  kind: 'record-access',
  surface: 'api',
  entry: { resource, action: 'read', outcome: 'denied', reason: null, request_id: null },
})

/** An urgent command. */
export const set = (level: KillSwitchLevel): Command => ({
  kind: 'set-kill-switch',
  move: { level, reason: 'test', operator: 'svc-1', surface: 'api' },
})

export const everything = async (log: EventLog): Promise<readonly LogRecord[]> =>
  log.read({ order: 'asc', limit: 100_000 })
