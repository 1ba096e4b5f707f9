import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { NO_LINK_NO_WAIT } from '../adapters/files.ts'
import type { FoundService } from '../surfaces/cli/dependencies.ts'
import { STARTED_HEADER } from '../surfaces/started-header.ts'

const serviceEntry = z.object({
  pid: z.int(),
  base_url: z.string(),
  node_id: z.string(),
  started_at_ms: z.number(),
})

/** Entry that a running service writes to `data/service.json`, so that commands find the service of their home. */
export type ServiceEntry = z.infer<typeof serviceEntry>

const pathIn = (home: string): string => join(home, 'data', 'service.json')

export const writeServiceFile = async (home: string, entry: ServiceEntry): Promise<void> => {
  const path = pathIn(home)
  const draft = `${path}.${randomUUID()}.partial`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Closes a folder that an earlier release or the user created. A folder of another owner keeps its mode: the files in
  // it are closed.
  await chmod(dirname(path), 0o700).catch(() => undefined)
  await writeFile(draft, `${JSON.stringify(entry, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, path)
}

/** Removes the file, unless a service that was started later has replaced it. */
export const removeServiceFile = async (
  home: string,
  { pid, started_at_ms }: ServiceEntry,
): Promise<void> => {
  const current = await readServiceFile(home)
  if (current?.pid === pid && current.started_at_ms === started_at_ms) await unlink(pathIn(home))
}

const readServiceFile = async (home: string): Promise<ServiceEntry | null> => {
  try {
    // A pipe in its place is opened without waiting for a writer, and is empty.
    const flag = constants.O_RDONLY | NO_LINK_NO_WAIT
    const parsed = serviceEntry.safeParse(
      JSON.parse(await readFile(pathIn(home), { encoding: 'utf8', flag })),
    )
    return parsed.success ? parsed.data : null
  } catch {
    // A missing, unreadable or damaged file names no service.
    return null
  }
}

/**
 * The running service of this home. A killed service leaves its file behind, and another service may listen on the port
 * by now. The start time tells them apart. It is not computed from the uptime, because the clock may have been set
 * since.
 */
export const askServiceOf = async (home: string): Promise<FoundService | null> => {
  const entry = await readServiceFile(home)
  const answer = entry === null ? null : await askHealth(entry.base_url)
  return answer?.startedAtMs === entry?.started_at_ms ? (answer?.found ?? null) : null
}

const ANSWER_WITHIN_MS = 2000

/** Null if nothing answers at this URL, or something other than this service. */
export const askServiceAt = async (baseUrl: string): Promise<FoundService | null> =>
  (await askHealth(baseUrl))?.found ?? null

const askHealth = async (
  baseUrl: string,
): Promise<{ readonly found: FoundService; readonly startedAtMs: number } | null> => {
  try {
    const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const { version, uptime_seconds: uptimeSeconds } = healthAnswer.parse(await response.json())
    const startedAtMs = Number(response.headers.get(STARTED_HEADER) ?? Number.NaN)
    return { found: { baseUrl, version, uptimeSeconds }, startedAtMs }
  } catch {
    // An unreachable service is a regular answer here, whatever the reason.
    return null
  }
}

const healthAnswer = z.object({ version: z.string(), uptime_seconds: z.number() })
