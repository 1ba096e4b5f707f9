import { acknowledgedView, alertsView, viewAcknowledged, viewAlerts } from '../../../core/views/alerts.ts'
import { acknowledgeAlerts, acknowledgement } from '../../operator-actions.ts'
import { EVENT_ID, POSITION_ID, TS } from '../examples.ts'
import { ok } from '../results.ts'
import { route, routes } from '../route.ts'

export const alertRoutes = routes('Alerts', {
  listAlerts: route('GET', '/alerts', 'read', {
    summary: 'Alerts that nobody has acknowledged yet',
    description:
      'Those with urgency immediate, newest first, at most 500. All alerts that ever were: `GET /events?type=alert`.',
    response: alertsView.meta({ id: 'Alerts' }),
    example: {
      open: [
        {
          id: EVENT_ID,
          seq: 812,
          ts: TS,
          type: 'alert.stop_triggered',
          payload: {
            urgency: 'immediate',
            message: 'Stop of long BTC hit at 95: closed with -25.12 USD',
            position_id: POSITION_ID,
            symbol: 'BTC',
            direction: 'long',
            entry_price: 100,
            stop_loss: 95,
            mark_price: 95,
            realized_pnl: -25.12,
            repeat: 0,
          },
        },
      ],
    },
    handler: async (_input, { engine }) => ok(viewAlerts((await engine.fresh()).operations.alerts)),
  }),
  acknowledgeAlerts: route('POST', '/alerts/acknowledge', 'control', {
    summary: 'Acknowledge alerts',
    description: 'For everybody who looks at them. Those that are not open are named and change nothing.',
    body: acknowledgement.meta({ examples: [{ alert_ids: [EVENT_ID] }] }),
    response: acknowledgedView,
    example: { acknowledged: [EVENT_ID], not_open: [] },
    handler: ({ body: { alert_ids }, execute }, { engine }) =>
      execute(acknowledgeAlerts(alert_ids, engine.nodeId), (events) =>
        viewAcknowledged(
          alert_ids,
          events.flatMap(({ payload }) => (payload['alert_ids'] ?? []) as readonly string[]),
        ),
      ),
  }),
})
