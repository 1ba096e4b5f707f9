import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import type { alertEvents } from '../events/system.ts'
import type { Stamped } from '../log/event.ts'
import { accept, type Decision } from '../shared/decision.ts'

/** Alerts that need an operator: those with urgency `immediate`, until they are acknowledged. */

type AlertType = keyof typeof alertEvents

export type Alert = {
  [Type in AlertType]: Pick<Stamped<Type, PayloadOf<Type>>, 'id' | 'seq' | 'type' | 'ts' | 'payload'>
}[AlertType]

/** Open alerts by id. */
export type OpenAlerts = PersistentMap<string, Alert>

export const NO_ALERTS: OpenAlerts = PersistentMap()

/** Beyond this limit the oldest alert counts as acknowledged, because no operator reads that many one by one. */
export const OPEN_ALERTS_MAX = 500

export interface Acknowledgement {
  readonly alertIds: readonly string[]
  readonly operator: string
  readonly surface: 'api' | 'cli'
}

/** Acknowledges the alerts that are still open. Records nothing if there are none. */
export const acknowledgeAlerts = (
  alerts: OpenAlerts,
  { alertIds, operator, surface }: Acknowledgement,
): Decision => {
  const open = [...new Set(alertIds)].filter((id) => alerts.has(id))
  if (open.length === 0) return accept()
  return accept({
    type: 'system.alerts_acknowledged.v1',
    source: surface,
    payload: { alert_ids: open, acknowledged_by: operator },
  })
}

export const evolveAlerts = (alerts: OpenAlerts, event: KnownEvent): OpenAlerts => {
  if (event.type === 'system.alerts_acknowledged.v1') return alerts.deleteAll(event.payload.alert_ids)
  if (!isAlert(event) || event.payload.urgency !== 'immediate') return alerts
  const { id, seq, type, ts, payload } = event
  const others = payload.repeat === 0 ? alerts : alerts.filterNot((other) => isSameCause(other, event))
  return withinBound(others.set(id, { id, seq, type, ts, payload } as Alert))
}

const isAlert = (event: KnownEvent): event is Extract<KnownEvent, { readonly type: AlertType }> =>
  event.type.startsWith('alert.')

/** A cause that persists raises another alert, which replaces the earlier one. */
const isSameCause = (one: Alert, other: Pick<Alert, 'type' | 'payload'>): boolean =>
  one.type === other.type && causeOf(one) === causeOf(other) && subjectOf(one) === subjectOf(other)

/** One position may need an operator for several reasons. */
const causeOf = ({ payload }: Pick<Alert, 'payload'>): string | null =>
  'cause' in payload ? payload.cause : null

const subjectOf = ({ payload }: Pick<Alert, 'payload'>): string | null =>
  ('position_id' in payload ? payload.position_id : null) ??
  ('order_id' in payload ? payload.order_id : null) ??
  ('symbol' in payload ? payload.symbol : null)

const withinBound = (alerts: OpenAlerts): OpenAlerts => {
  if (alerts.size <= OPEN_ALERTS_MAX) return alerts
  const oldest = alerts.minBy(({ seq }) => seq)
  return oldest === undefined ? alerts : alerts.delete(oldest.id)
}
