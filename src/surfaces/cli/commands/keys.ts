import { ACCESS_SCOPES } from '../../../core/events/system.ts'
import { ACCESS_KEY_PREFIX, accessKeyRequest, newAccessKey } from '../../../core/operations/access-keys.ts'
import { timestampAt, parseTimestamp } from '../../../core/shared/time.ts'
import { viewAccessKeys } from '../../../core/views/access-keys.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { parser } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { parsedBy, readPresent, write } from '../store.ts'
import { left, printable, quiet, shrinking, warning } from '../table.ts'
import { details, list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'An access key is sent like the API token. It has a name, scopes, and perhaps one contributor or producer that it speaks ' +
        `for. Scopes: ${ACCESS_SCOPES.join(', ')}. Only the hash of its secret is stored.`,
    )
    .examples(
      'svc keys create --name dashboard --scopes read',
      'svc keys create --name ann --scopes submit --contributor ann',
      'svc keys create --name p1 --scopes emit --producer p1 --expires 30d',
      'svc keys revoke ann',
    )
  command.defaultCommand('list', 'list keys, by name').runs(listKeys)
  command
    .command('create')
    .summary('create a key and show its secret once')
    .requiredOption('--name <name>', 'stands in the audit of every request made with it')
    .requiredOption('--scopes <list>', `comma-separated: ${ACCESS_SCOPES.join(', ')}`, (text) =>
      text.split(',').map((scope) => scope.trim()),
    )
    .option('--contributor <node-id>', 'the only contributor that it speaks for')
    .option('--producer <name>', 'the only producer that it speaks for')
    .option(
      '--expires <when>',
      'a duration (90m, 12h, 30d, 4w), or a date or time; never if absent',
      parseExpiry,
    )
    .runs(create)
  command.command('revoke').summary('end a key').argument('<name>', 'its name').runs(revoke)
}

const listKeys = async (invocation: Invocation): Promise<Answer> => {
  const { state, clock } = await readPresent(invocation)
  const keys = viewAccessKeys(state.operations.accessKeys, isoNow(clock))
  const text = list(
    keys,
    [
      'name',
      left('Scopes', ({ scopes }) => scopes.join(', ')),
      shrinking('Speaks for', ({ contributor, producer }) => contributor ?? producer ?? quiet('any')),
      left('Expires', ({ expires_at, expired }) => {
        if (expires_at === null) return quiet('never')
        const minute = `${expires_at.slice(0, 16)}Z`
        return expired ? warning(`${minute} (over)`) : minute
      }),
    ],
    'There are no access keys yet.',
  )
  return { document: { keys }, text }
}

interface CreateOptions {
  readonly name: string
  readonly scopes: readonly string[]
  readonly contributor?: string
  readonly producer?: string
  readonly expires?: Expiry
}

const create = async (invocation: Invocation, { expires, ...rest }: CreateOptions): Promise<void> => {
  const expires_at = expires?.(invocation.clock.now())
  const request = parsedBy(accessKeyRequest, { ...rest, ...(expires_at === undefined ? {} : { expires_at }) })
  const secret = ACCESS_KEY_PREFIX + invocation.newToken()
  const key = newAccessKey(request, sha256Hex(secret))
  await write(invocation, 'keys create', () => ({ kind: 'create-access-key', key, surface: 'cli' }))
  const { hash: _hash, ...shown } = key
  const text = details(shown, [
    ['Key', key.name],
    'scopes',
    ['Speaks for', key.contributor ?? key.producer ?? quiet('any contributor or producer')],
    ['Expires', key.expires_at ?? quiet('never')],
    ['Secret', `${secret} (shown once; send it as: Authorization: Bearer <secret>)`],
  ])
  await invocation.print.reveal({ key: shown, secret }, text)
}

const revoke = async (invocation: Invocation, name: string): Promise<Answer> => {
  await write(invocation, 'keys revoke', () => ({ kind: 'revoke-access-key', name, surface: 'cli' }))
  return { document: { revoked: name }, text: `${printable(name)} is revoked\n` }
}

/** When a key that is created now ends. */
type Expiry = (nowMs: number) => string

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

const parseExpiry = parser((text): Expiry | null => {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhdw])$/.exec(text) ?? []
  if (count !== undefined) return (nowMs) => timestampAt(nowMs + Number(count) * (UNIT_MS[unit] ?? 0))
  const timestamp = parseTimestamp(text)
  return timestamp === null ? null : () => timestamp
}, 'It must be a duration (90m, 12h, 30d, 4w), a date (2027-01-01) or a time (2027-01-01T12:00:00Z).')
