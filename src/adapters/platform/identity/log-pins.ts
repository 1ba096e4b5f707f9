import { join } from 'node:path'
import { z } from 'zod'
import { jsonIn, readTextFile } from '../../files.ts'
import { replacePrivateFile } from '../crypto/private-file.ts'

/**
 * The logs to which this identity has written: for each place the hash of the first event. Kept beside the key and not
 * beside the log, so that an attacker who can replace the log cannot replace this record.
 */
export interface LogPins {
  /** Null while nothing is pinned for this place. */
  read(place: string): Promise<string | null>
  /** All hashes that are pinned, for any place. */
  all(): Promise<readonly string[]>
  write(place: string, firstHash: string): Promise<void>
}

export const logPins = (home: string): LogPins => {
  const path = join(home, 'identity', 'logs.json')
  const readAll = async (): Promise<Pins> => {
    const text = await readTextFile(path)
    const parsed = pins.safeParse(text === null ? {} : jsonIn(text))
    if (!parsed.success)
      throw new Error(`${path} is damaged; it says which logs this identity has written to`)
    return parsed.data
  }
  return {
    read: async (place) => new Map(Object.entries(await readAll())).get(place) ?? null,
    all: async () => Object.values(await readAll()),
    write: async (place, firstHash) => {
      const known = await readAll()
      if (known[place] === firstHash) return
      await replacePrivateFile(path, `${JSON.stringify({ ...known, [place]: firstHash }, null, 2)}\n`)
    },
  }
}

type Pins = z.infer<typeof pins>

const pins = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/))
