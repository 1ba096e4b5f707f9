import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { browserBehindMs } from '../../api/server-clock.ts'
import { signOut } from '../../app/connection.tsx'
import { switchTheme, useTheme } from '../../app/theme.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatBytes, formatDuration, textOf } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Panel, QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

/** Identity, service and session. */
export const NodeSection = () => (
  <>
    <IdentityPanel />
    <ServicePanel />
    <SessionPanel />
  </>
)

const IdentityPanel = () => {
  const query = useQuery(queries.events({ type: 'system.started', limit: 1 }))
  return (
    <QueryPanel title="Identity" query={query}>
      {({ items: [started] }) =>
        started === undefined ? (
          <Empty title="No start is recorded">
            The first start of the service writes the identity into the log.
          </Empty>
        ) : (
          <Facts
            facts={{
              Node: <Id id={textOf(started.payload['node_id'])} whole />,
              'Public key': <Id id={textOf(started.payload['public_key'])} whole />,
              Algorithm: 'Ed25519',
              Stored:
                started.payload['ephemeral'] === true ? (
                  <Badge tone="warn">in memory only: new identity after a restart</Badge>
                ) : (
                  'in identity/identity.json'
                ),
              'Last start': <Time at={started.ts} as="full" />,
              'Chain at start': <ChainAtStart integrity={started.payload['integrity']} />,
            }}
          />
        )
      }
    </QueryPanel>
  )
}

const ChainAtStart = ({ integrity }: { readonly integrity: unknown }) => {
  const { ok, reason } = (integrity ?? {}) as { readonly ok?: boolean; readonly reason?: string | null }
  if (ok === undefined) return <Badge>not checked</Badge>
  return <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'intact' : `broken: ${reason ?? 'unknown'}`}</Badge>
}

/** No event says that a store grows or that time passes. */
const CHECK_MS = 60_000

const ServicePanel = () => {
  const query = useQuery({ ...queries.health(), refetchInterval: CHECK_MS })
  const { data: schema } = useQuery(queries.configSchema())
  return (
    <QueryPanel title="Service" query={query}>
      {({ version, uptime_seconds, db_size_bytes }) => (
        <Facts
          facts={{
            Version: version,
            'Running for': formatDuration(uptime_seconds * 1000),
            Store: formatBytes(db_size_bytes),
            Settings: schema === undefined ? '…' : <Id id={schema.path} whole />,
            'By environment':
              schema === undefined || schema.set_by_environment.length === 0
                ? 'nothing'
                : schema.set_by_environment.join(', '),
          }}
        />
      )}
    </QueryPanel>
  )
}

const clockText = (behindMs: number): string => {
  if (behindMs === 0) return 'agrees with the service'
  const text = `${formatDuration(Math.abs(behindMs))} ${behindMs > 0 ? 'behind' : 'ahead of'} the service`
  return `${text}; ages and times left are those of the service`
}

const SessionPanel = () => {
  const { data: session } = useQuery(queries.session())
  const theme = useTheme()
  return (
    <Panel title="This browser">
      <div className="grid gap-3">
        <Facts
          facts={{
            Session:
              session === undefined ? (
                '…'
              ) : session.sign_in_needed ? (
                <span>
                  ends <Time at={session.expires_at} as="ago" />
                </span>
              ) : (
                <Badge tone="warn">no sign-in: the service runs without a token</Badge>
              ),
            Theme: theme,
            'Time zone': Intl.DateTimeFormat().resolvedOptions().timeZone,
            Clock: clockText(browserBehindMs()),
          }}
        />
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => void switchTheme()}>Switch theme</Button>
          {session?.sign_in_needed === false ? null : <Button onClick={signOut}>Sign out</Button>}
        </div>
      </div>
    </Panel>
  )
}
